// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

/// Decides which waiting transfer gets the next place. A pure state machine, without sockets or time.
///
/// An origin has `perOrigin` places, or `perMultiplexedOrigin` once it is known to speak HTTP/2, whose transfers
/// share one connection and count as one of the `total`. Among origins with a free place the highest priority goes
/// first; origins of equal priority take turns; within an origin the order is as configured.
struct AdmissionQueue {
    /// Among which an origin with a place for its next transfer stands.
    private enum Standing: Equatable {
        case none
        case ready(RequestPriority)
        case riding(RequestPriority)
    }

    private struct Origin {
        let name: String
        var waiting: PriorityQueue<UInt64, RequestPriority>
        var running = 0
        var isMultiplexed: Bool
        var standing = Standing.none
    }

    /// Most origins whose HTTP/2 is remembered; further ones count as HTTP/1.
    static let rememberedOrigins = 1024

    let perOrigin: Int
    let perMultiplexedOrigin: Int
    let total: Int
    let order: QueueOrder

    /// Origins that have transfers, by place; nil where a place is free.
    private var origins: [Origin?] = []
    private var places: [String: Int] = [:]
    private var freePlaces: [Int] = []
    /// Origins whose next transfer needs a connection of its own.
    private var ready = PriorityQueue<Int, RequestPriority>()
    /// Origins whose next transfer rides on a connection that stands.
    private var riding = PriorityQueue<Int, RequestPriority>()
    /// The origins of what waits.
    private var waiting: [UInt64: Int] = [:]
    private var multiplexed: Set<String> = []
    private var connections = 0

    init(perOrigin: Int, perMultiplexedOrigin: Int, total: Int, order: QueueOrder = .fifo) {
        self.order = order
        self.perOrigin = max(perOrigin, 1)
        self.perMultiplexedOrigin = max(perMultiplexedOrigin, 1)
        self.total = max(total, 1)
    }

    /// How many wait.
    var waitingCount: Int { waiting.count }

    /// Whether a transfer could start now.
    var canStart: Bool { !riding.isEmpty || (connections < total && !ready.isEmpty) }

    /// How many run at `origin`.
    func running(at origin: String) -> Int { places[origin].flatMap { origins[$0]?.running } ?? 0 }

    /// Why `id` doesn't start before places are given back. The result is `nil` if a place is free, or if it doesn't wait.
    func waitReason(of id: UInt64) -> WaitReason? {
        guard let origin = waiting[id].flatMap({ origins[$0] }) else { return nil }
        let most = origin.isMultiplexed ? perMultiplexedOrigin : perOrigin
        if origin.running >= most { return .hostLimit }
        let needsConnection = !origin.isMultiplexed || origin.running == 0
        return needsConnection && connections >= total ? .queue : nil
    }

    /// Adds a waiting transfer.
    mutating func enqueue(_ id: UInt64, origin: String, priority: RequestPriority) {
        let place = place(of: origin)
        waiting[id] = place
        origins[place]?.waiting.push(id, priority)
        refresh(place)
    }

    /// Changes the priority of a waiting transfer. False where it does not wait (any more).
    @discardableResult
    mutating func setPriority(_ id: UInt64, _ priority: RequestPriority) -> Bool {
        guard let place = waiting[id] else { return false }
        origins[place]?.waiting.push(id, priority)
        refresh(place)
        return true
    }

    /// Takes a waiting transfer out. False where it does not wait (any more).
    @discardableResult
    mutating func remove(_ id: UInt64) -> Bool {
        guard let place = waiting.removeValue(forKey: id) else { return false }
        origins[place]?.waiting.remove(id)
        refresh(place)
        return true
    }

    /// The transfer that may start now; it takes a place, which ``release(origin:)`` gives back.
    mutating func next() -> UInt64? {
        let connecting = connections < total ? ready.topPriority : nil
        let isRiding = (riding.topPriority?.rawValue ?? -1) >= (connecting?.rawValue ?? 0)
        guard isRiding || connecting != nil, let place = isRiding ? riding.pop() : ready.pop() else { return nil }
        origins[place]?.standing = .none
        guard let id = origins[place]?.waiting.pop() else { return nil }
        waiting[id] = nil
        connections += isRiding ? 0 : 1
        origins[place]?.running += 1
        refresh(place)
        return id
    }

    /// Gives a place back.
    mutating func release(origin: String) {
        guard let place = places[origin], let running = origins[place]?.running, running > 0 else { return }
        origins[place]?.running = running - 1
        connections -= origins[place]?.isMultiplexed == true ? (running == 1 ? 1 : 0) : 1
        refresh(place)
    }

    /// Remembers that `origin` speaks HTTP/2.
    mutating func setMultiplexed(_ origin: String) {
        guard !multiplexed.contains(origin), multiplexed.count < Self.rememberedOrigins else { return }
        connections -= max(running(at: origin) - 1, 0)
        multiplexed.insert(origin)
        guard let place = places[origin] else { return }
        origins[place]?.isMultiplexed = true
        refresh(place)
    }

    private mutating func place(of name: String) -> Int {
        if let place = places[name] { return place }
        let origin = Origin(
            name: name, waiting: PriorityQueue(order: order.queueOrder), isMultiplexed: multiplexed.contains(name))
        let place = freePlaces.popLast() ?? origins.count
        if place == origins.count { origins.append(origin) } else { origins[place] = origin }
        places[name] = place
        return place
    }

    /// Puts the origin among those that could start one, or takes it out, and forgets one that has nothing.
    private mutating func refresh(_ place: Int) {
        guard let standing = standing(place) else { return }
        if origins[place]?.standing != standing { move(place, to: standing) }
        guard let origin = origins[place], origin.running == 0, origin.waiting.isEmpty else { return }
        places[origin.name] = nil
        origins[place] = nil
        freePlaces.append(place)
    }

    /// Where the origin belongs; nil where the place is free.
    private func standing(_ place: Int) -> Standing? {
        guard let origin = origins[place] else { return nil }
        let most = origin.isMultiplexed ? perMultiplexedOrigin : perOrigin
        guard origin.running < most, let priority = origin.waiting.topPriority else { return Standing.none }
        return origin.isMultiplexed && origin.running > 0 ? .riding(priority) : .ready(priority)
    }

    private mutating func move(_ place: Int, to standing: Standing) {
        if case .riding(let priority) = standing { riding.push(place, priority) } else { riding.remove(place) }
        if case .ready(let priority) = standing { ready.push(place, priority) } else { ready.remove(place) }
        origins[place]?.standing = standing
    }
}
