// SPDX-License-Identifier: MIT

/// The decoded frames of an image and the frames to decode or release, as a pure state machine. ``SharedFrameBuffer``
/// performs its actions.
///
/// The frames that players display are pinned. All other frames must fit the budget, and the frames that are needed
/// soonest take precedence. If the budget is sufficient for all frames, all of them remain in memory. The poster frame
/// belongs to the image, so it's always available and doesn't count.
struct FrameBufferStateMachine {
    typealias PlayerID = Int

    enum Action: Equatable {
        case decode(Int)
        case drop(Int)
    }

    /// The frames that a player needs.
    struct FrameRequest: Equatable {
        var current: Int
        /// The frames that the player will display, in order. The array is empty if the player isn't playing.
        var next: [Int] = []
        /// Whether the first frame of `next` is due. A due frame is decoded regardless of the budget.
        var isDue = false
    }

    let frameBytes: Int
    var budget: Int
    /// The maximum number of concurrent decodes.
    let parallelism: Int
    private(set) var decoded: [Int: Int] = [:]
    private(set) var inFlight: Set<Int> = []
    /// The frames that the current version of the image can't provide.
    private(set) var failed: Set<Int> = []
    /// The running decodes that use an earlier version of the image, which has less data.
    private(set) var outdated: Set<Int> = []
    private(set) var requests: [PlayerID: FrameRequest] = [:]

    init(frameBytes: Int, budget: Int, parallelism: Int = 1) {
        self.frameBytes = max(1, frameBytes)
        self.budget = max(0, budget)
        self.parallelism = max(1, parallelism)
    }

    /// Returns whether a player doesn't have to wait for a frame. If a frame can't be decoded, the previous frame
    /// remains.
    func isAvailable(_ index: Int) -> Bool { index == 0 || decoded[index] != nil || failed.contains(index) }

    /// The size of all cached frames in bytes.
    var bytes: Int { decoded.values.reduce(0, +) }

    /// The frames that are displayed or due.
    var pinned: Set<Int> {
        var pinned: Set<Int> = []
        for want in requests.values {
            pinned.insert(want.current)
            if want.isDue, let due = want.next.first { pinned.insert(due) }
        }
        return pinned
    }

    /// The number of frames that a player can usefully request in advance.
    var lookAhead: Int { budget / frameBytes + 2 }

    // MARK: - Inputs

    mutating func request(_ want: FrameRequest, by player: PlayerID) -> [Action] {
        // A due frame may be missing because its decode couldn't start. Try again because this may have changed.
        let isMissing = want.isDue && want.next.first.map { !isAvailable($0) && !inFlight.contains($0) } ?? false
        guard requests[player] != want || isMissing else { return [] }
        requests[player] = want
        return plan()
    }

    mutating func remove(_ player: PlayerID) -> [Action] {
        requests[player] = nil
        return plan()
    }

    mutating func setBudget(_ bytes: Int) -> [Action] {
        budget = max(0, bytes)
        return plan()
    }

    mutating func arrived(_ index: Int, bytes: Int) -> [Action] {
        inFlight.remove(index)
        outdated.remove(index)
        decoded[index] = max(1, bytes)
        return plan()
    }

    /// Records that a frame couldn't be decoded. `isFinal` indicates that a retry with the same version of the image
    /// would also fail.
    mutating func failed(_ index: Int, isFinal: Bool) -> [Action] {
        inFlight.remove(index)
        let isOutdated = outdated.remove(index) != nil
        guard isFinal else { return [] }
        // The current version may have the data that the earlier version didn't have.
        if !isOutdated { failed.insert(index) }
        return plan()
    }

    /// Continues with a version of the image that has more data. Frames that couldn't be decoded are decoded again.
    mutating func extend() -> [Action] {
        outdated = inFlight
        failed = []
        return plan()
    }

    /// Adds a frame that another pool decoded.
    mutating func adopt(_ index: Int, bytes: Int) {
        if index > 0, decoded[index] == nil, !inFlight.contains(index) { decoded[index] = max(1, bytes) }
    }

    /// Releases all frames except the displayed ones.
    mutating func shed() -> [Action] { drop(allBut: Set(requests.values.map(\.current))) }

    /// Releases all frames that no player displays or will display.
    mutating func clear() -> [Action] {
        drop(allBut: Set(requests.values.flatMap { [$0.current] + $0.next }))
    }

    private mutating func drop(allBut kept: Set<Int>) -> [Action] {
        let dropped = decoded.keys.filter { !kept.contains($0) }.sorted()
        for index in dropped { decoded[index] = nil }
        return dropped.map { .drop($0) }
    }

    // MARK: - Planning

    private mutating func plan() -> [Action] {
        let pinned = pinned
        let order = needed()
        var window = pinned
        var room = budget
        for index in order where !pinned.contains(index) {
            guard room >= frameBytes else { break }
            room -= frameBytes
            window.insert(index)
        }
        let started = order.filter { window.contains($0) && !isAvailable($0) && !inFlight.contains($0) }
            .prefix(max(0, parallelism - inFlight.count))
        for index in started { inFlight.insert(index) }
        return trim(pinned, order) + started.map { .decode($0) }
    }

    /// Returns the frames that are needed, in order of urgency.
    private func needed() -> [Int] {
        var distance: [Int: Int] = [:]
        for want in requests.values {
            for (place, index) in want.next.enumerated() where index > 0 {
                distance[index] = min(distance[index] ?? .max, place)
            }
        }
        return distance.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
    }

    /// Releases frames to make room for running decodes: first those that no player needs, then those that are needed
    /// last.
    private mutating func trim(_ pinned: Set<Int>, _ order: [Int]) -> [Action] {
        var used = decoded.reduce(0) { pinned.contains($1.key) ? $0 : $0 + $1.value }
        used += inFlight.subtracting(pinned).count * frameBytes
        guard used > budget else { return [] }
        var actions: [Action] = []
        let needed = Set(order)
        let idle = decoded.keys.filter { !needed.contains($0) && !pinned.contains($0) }.sorted()
        for index in idle + order.reversed() where used > budget && !pinned.contains(index) {
            guard let bytes = decoded.removeValue(forKey: index) else { continue }
            used -= bytes
            actions.append(.drop(index))
        }
        return actions
    }
}
