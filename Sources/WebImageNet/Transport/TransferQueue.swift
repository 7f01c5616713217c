// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

/// A queue that decides which waiting transfer starts next. It's a pure state machine without sockets or time.
///
/// An origin has `perOrigin` slots, or `perMultiplexedOrigin` slots once it's known to support HTTP/2. HTTP/2
/// transfers of an origin share one connection, which counts as one of the `total` connections. Among origins with a
/// free slot, the one with the highest priority is served first. Origins of equal priority take turns, and `order`
/// determines the order within an origin.
struct TransferQueue {
    /// The list that contains an origin with a free slot for its next transfer.
    private enum OriginState: Equatable {
        case none
        case ready(RequestPriority)
        case riding(RequestPriority)
    }

    private struct Origin {
        let name: String
        /// Whether the origin has transfers. If it doesn't, its index is free.
        var isUsed = true
        var waiting: PriorityQueue<UInt64, RequestPriority>
        var running = 0
        var isMultiplexed: Bool
        var standing = OriginState.none
    }

    /// The maximum number of origins whose HTTP/2 support is remembered. Further origins count as HTTP/1.
    static let rememberedOrigins = 1024

    private(set) var perOrigin: Int
    let perMultiplexedOrigin: Int
    private(set) var total: Int
    let order: ImageDownloader.Configuration.QueueOrder

    /// The origins by index. Access their properties in place, because a copy retains several collections.
    private var origins: [Origin] = []
    private var slots: [String: Int] = [:]
    private var freeSlots: [Int] = []
    /// The origins whose next transfer needs another connection.
    private var ready = PriorityQueue<Int, RequestPriority>()
    /// The origins whose next transfer uses an open HTTP/2 connection.
    private var riding = PriorityQueue<Int, RequestPriority>()
    private var waiting: [UInt64: Int] = [:]
    private var multiplexed: Set<String> = []
    private var connections = 0

    init(perOrigin: Int, perMultiplexedOrigin: Int, total: Int, order: ImageDownloader.Configuration.QueueOrder = .fifo)
    {
        self.order = order
        self.perOrigin = max(perOrigin, 1)
        self.perMultiplexedOrigin = max(perMultiplexedOrigin, 1)
        self.total = max(total, 1)
    }

    /// Changes the limits. Running transfers keep their slots.
    mutating func setLimits(perOrigin: Int, total: Int) {
        self.perOrigin = max(perOrigin, 1)
        self.total = max(total, 1)
        for place in Array(origins.indices) { refresh(place) }
    }

    var waitingCount: Int { waiting.count }

    var canStart: Bool { !riding.isEmpty || (connections < total && !ready.isEmpty) }

    func running(at origin: String) -> Int { slots[origin].map { origins[$0].running } ?? 0 }

    /// Returns `nil` if a slot is free or the transfer isn't waiting.
    func waitReason(of id: UInt64) -> WaitReason? {
        guard let place = waiting[id] else { return nil }
        let (running, isMultiplexed) = (origins[place].running, origins[place].isMultiplexed)
        if running >= (isMultiplexed ? perMultiplexedOrigin : perOrigin) { return .hostLimit }
        let needsConnection = !isMultiplexed || running == 0
        return needsConnection && connections >= total ? .connectionLimit : nil
    }

    mutating func enqueue(_ id: UInt64, origin: String, priority: RequestPriority) {
        let place = position(of: origin)
        waiting[id] = place
        origins[place].waiting.push(id, priority)
        refresh(place)
    }

    /// Returns `false` if the transfer isn't waiting.
    @discardableResult
    mutating func setPriority(_ id: UInt64, _ priority: RequestPriority) -> Bool {
        guard let place = waiting[id] else { return false }
        origins[place].waiting.push(id, priority)
        refresh(place)
        return true
    }

    /// Returns `false` if the transfer isn't waiting.
    @discardableResult
    mutating func remove(_ id: UInt64) -> Bool {
        guard let place = waiting.removeValue(forKey: id) else { return false }
        origins[place].waiting.remove(id)
        refresh(place)
        return true
    }

    /// Removes and returns the transfer that can start. It uses a slot until ``release(origin:)`` is called.
    mutating func next() -> UInt64? {
        let connecting = connections < total ? ready.topPriority : nil
        // With equal priorities, an open HTTP/2 connection is preferred, because it needs neither a handshake nor a
        // free connection.
        let isRiding = (riding.topPriority?.rawValue ?? -1) >= (connecting?.rawValue ?? 0)
        guard isRiding || connecting != nil, let place = isRiding ? riding.pop() : ready.pop() else { return nil }
        // The origin left its list. It enters its list again after the other origins of its priority, so they take
        // turns.
        origins[place].standing = .none
        guard let id = origins[place].waiting.pop() else { return nil }
        waiting[id] = nil
        connections += isRiding ? 0 : 1
        origins[place].running += 1
        refresh(place)
        return id
    }

    mutating func release(origin: String) {
        guard let place = slots[origin], origins[place].running > 0 else { return }
        origins[place].running -= 1
        // HTTP/2 transfers share one connection, which the last of them releases.
        connections -= origins[place].isMultiplexed ? (origins[place].running == 0 ? 1 : 0) : 1
        refresh(place)
    }

    mutating func setMultiplexed(_ origin: String) {
        guard !multiplexed.contains(origin), multiplexed.count < Self.rememberedOrigins else { return }
        // Each running transfer was counted with a connection of its own.
        connections -= max(running(at: origin) - 1, 0)
        multiplexed.insert(origin)
        guard let place = slots[origin] else { return }
        origins[place].isMultiplexed = true
        refresh(place)
    }

    private mutating func position(of name: String) -> Int {
        if let place = slots[name] { return place }
        let origin = Origin(
            name: name, waiting: PriorityQueue(order: order.queueOrder), isMultiplexed: multiplexed.contains(name))
        let place = freeSlots.popLast() ?? origins.count
        if place == origins.count { origins.append(origin) } else { origins[place] = origin }
        slots[name] = place
        return place
    }

    private mutating func refresh(_ place: Int) {
        // A change of the limits also refreshes free indexes.
        guard origins[place].isUsed else { return }
        let standing = standing(place)
        if origins[place].standing != standing { move(place, to: standing) }
        guard origins[place].running == 0, origins[place].waiting.isEmpty else { return }
        slots[origins[place].name] = nil
        origins[place].isUsed = false
        // Indexes are reused, so that the array doesn't grow with each new origin.
        freeSlots.append(place)
    }

    private func standing(_ place: Int) -> OriginState {
        let (running, isMultiplexed) = (origins[place].running, origins[place].isMultiplexed)
        guard running < (isMultiplexed ? perMultiplexedOrigin : perOrigin),
            let priority = origins[place].waiting.topPriority
        else { return .none }
        // The first transfer of an origin opens its connection.
        return isMultiplexed && running > 0 ? .riding(priority) : .ready(priority)
    }

    private mutating func move(_ place: Int, to standing: OriginState) {
        if case .riding(let priority) = standing { riding.push(place, priority) } else { riding.remove(place) }
        if case .ready(let priority) = standing { ready.push(place, priority) } else { ready.remove(place) }
        origins[place].standing = standing
    }
}
