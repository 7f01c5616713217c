// SPDX-License-Identifier: MIT

/// Which frames of a picture are held, which are to be decoded and which are to go: a pure state machine. ``FramePool``
/// performs its actions.
///
/// What the players show is pinned. Everything else stays within the budget, the frames that are needed soonest first.
/// Where all frames fit, all stay. The poster belongs to the picture: it is always there and costs nothing.
struct FrameLedger {
    typealias PlayerID = Int

    enum Action: Equatable {
        case decode(Int)
        case drop(Int)
    }

    /// What a player needs.
    struct Want: Equatable {
        /// The frame it shows.
        var current: Int
        /// The frames it is going to show, the next one first; none for a player that stands.
        var next: [Int] = []
        /// Whether the first of `next` is due: it is decoded whatever the budget says.
        var isDue = false
    }

    let frameBytes: Int
    var budget: Int
    /// Decodes that may run at the same time.
    let parallelism: Int
    private(set) var held: [Int: Int] = [:]
    private(set) var inFlight: Set<Int> = []
    private(set) var failed: Set<Int> = []
    private(set) var wants: [PlayerID: Want] = [:]

    init(frameBytes: Int, budget: Int, parallelism: Int = 1) {
        self.frameBytes = max(1, frameBytes)
        self.budget = max(0, budget)
        self.parallelism = max(1, parallelism)
    }

    /// Whether a player need not wait for `index`; of a frame that cannot be decoded the one before stays.
    func isHeld(_ index: Int) -> Bool { index == 0 || held[index] != nil || failed.contains(index) }

    /// Bytes of all frames held.
    var bytes: Int { held.values.reduce(0, +) }

    /// Frames that are shown or due.
    var pinned: Set<Int> {
        var pinned: Set<Int> = []
        for want in wants.values {
            pinned.insert(want.current)
            if want.isDue, let due = want.next.first { pinned.insert(due) }
        }
        return pinned
    }

    /// Frames beyond the present one that a player has use for.
    var lookAhead: Int { budget / frameBytes + 2 }

    // MARK: - Inputs

    mutating func want(_ want: Want, by player: PlayerID) -> [Action] {
        // What is due and neither there nor on its way could not be begun; that may have changed.
        let isMissing = want.isDue && want.next.first.map { !isHeld($0) && !inFlight.contains($0) } ?? false
        guard wants[player] != want || isMissing else { return [] }
        wants[player] = want
        return plan()
    }

    mutating func remove(_ player: PlayerID) -> [Action] {
        wants[player] = nil
        return plan()
    }

    mutating func setBudget(_ bytes: Int) -> [Action] {
        budget = max(0, bytes)
        return plan()
    }

    mutating func arrived(_ index: Int, bytes: Int) -> [Action] {
        inFlight.remove(index)
        held[index] = max(1, bytes)
        return plan()
    }

    /// A frame could not be decoded; `isFinal` when trying again is of no use.
    mutating func failed(_ index: Int, isFinal: Bool) -> [Action] {
        inFlight.remove(index)
        guard isFinal else { return [] }
        failed.insert(index)
        return plan()
    }

    /// Takes a frame that was decoded elsewhere.
    mutating func adopt(_ index: Int, bytes: Int) {
        if index > 0, held[index] == nil, !inFlight.contains(index) { held[index] = max(1, bytes) }
    }

    /// Drops all but what is shown.
    mutating func shed() -> [Action] { drop(allBut: Set(wants.values.map(\.current))) }

    /// Drops all that nobody shows or is going to show.
    mutating func clear() -> [Action] {
        drop(allBut: Set(wants.values.flatMap { [$0.current] + $0.next }))
    }

    private mutating func drop(allBut kept: Set<Int>) -> [Action] {
        let dropped = held.keys.filter { !kept.contains($0) }.sorted()
        for index in dropped { held[index] = nil }
        return dropped.map { .drop($0) }
    }

    // MARK: - The plan

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
        let started = order.filter { window.contains($0) && !isHeld($0) && !inFlight.contains($0) }
            .prefix(max(0, parallelism - inFlight.count))
        for index in started { inFlight.insert(index) }
        return trim(pinned, order) + started.map { .decode($0) }
    }

    /// Frames that are needed, the most urgent first.
    private func needed() -> [Int] {
        var distance: [Int: Int] = [:]
        for want in wants.values {
            for (place, index) in want.next.enumerated() where index > 0 {
                distance[index] = min(distance[index] ?? .max, place)
            }
        }
        return distance.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
    }

    /// Makes room for what is being decoded: what nobody needs goes first, then what is needed last.
    private mutating func trim(_ pinned: Set<Int>, _ order: [Int]) -> [Action] {
        var used = held.reduce(0) { pinned.contains($1.key) ? $0 : $0 + $1.value }
        used += inFlight.subtracting(pinned).count * frameBytes
        guard used > budget else { return [] }
        var actions: [Action] = []
        let needed = Set(order)
        let idle = held.keys.filter { !needed.contains($0) && !pinned.contains($0) }.sorted()
        for index in idle + order.reversed() where used > budget && !pinned.contains(index) {
            guard let bytes = held.removeValue(forKey: index) else { continue }
            used -= bytes
            actions.append(.drop(index))
        }
        return actions
    }
}
