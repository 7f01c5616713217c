// SPDX-License-Identifier: MIT

import WebImageCore

/// Decides which waiting transfer gets the next place. A pure state machine, without sockets or time.
///
/// An origin has `perOrigin` places, or `perMultiplexedOrigin` once it is known to speak HTTP/2, whose transfers
/// share one connection and count as one of the `total`. Among origins with a free place the highest priority goes
/// first; origins of equal priority take turns; within an origin the order is as configured.
struct AdmissionQueue {
    private struct Origin {
        var waiting: LevelQueue<UInt64>
        var running = 0

        init(_ order: QueueOrder) { waiting = LevelQueue(order: order) }
    }

    private struct Waiting {
        let origin: String
        var priority: RequestPriority
    }

    /// Most origins whose HTTP/2 is remembered; further ones count as HTTP/1.
    static let rememberedOrigins = 1024

    let perOrigin: Int
    let perMultiplexedOrigin: Int
    let total: Int
    let order: QueueOrder

    private var origins: [String: Origin] = [:]
    /// Origins whose next transfer needs a connection of its own.
    private var ready = LevelQueue<String>()
    /// Origins whose next transfer rides on a connection that stands.
    private var riding = LevelQueue<String>()
    private var waiting: [UInt64: Waiting] = [:]
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
    func running(at origin: String) -> Int { origins[origin]?.running ?? 0 }

    /// Adds a waiting transfer.
    mutating func enqueue(_ id: UInt64, origin: String, priority: RequestPriority) {
        waiting[id] = Waiting(origin: origin, priority: priority)
        origins[origin, default: Origin(order)].waiting.push(id, priority)
        refresh(origin)
    }

    /// Changes the priority of a waiting transfer. False where it does not wait (any more).
    @discardableResult
    mutating func setPriority(_ id: UInt64, _ priority: RequestPriority) -> Bool {
        guard let origin = waiting[id]?.origin else { return false }
        waiting[id]?.priority = priority
        origins[origin]?.waiting.push(id, priority)
        refresh(origin)
        return true
    }

    /// Takes a waiting transfer out. False where it does not wait (any more).
    @discardableResult
    mutating func remove(_ id: UInt64) -> Bool {
        guard let origin = waiting.removeValue(forKey: id)?.origin else { return false }
        origins[origin]?.waiting.remove(id)
        refresh(origin)
        return true
    }

    /// The transfer that may start now; it takes a place, which ``release(origin:)`` gives back.
    mutating func next() -> UInt64? {
        let connecting = connections < total ? ready.topPriority : nil
        let isRiding = (riding.topPriority?.rawValue ?? -1) >= (connecting?.rawValue ?? 0)
        guard isRiding || connecting != nil, let origin = isRiding ? riding.pop() : ready.pop(),
            let id = origins[origin]?.waiting.pop()
        else { return nil }
        waiting[id] = nil
        connections += isRiding ? 0 : 1
        origins[origin]?.running += 1
        refresh(origin)
        return id
    }

    /// Gives a place back.
    mutating func release(origin: String) {
        guard let running = origins[origin]?.running, running > 0 else { return }
        origins[origin]?.running = running - 1
        connections -= multiplexed.contains(origin) ? (running == 1 ? 1 : 0) : 1
        refresh(origin)
    }

    /// Remembers that `origin` speaks HTTP/2.
    mutating func setMultiplexed(_ origin: String) {
        guard !multiplexed.contains(origin), multiplexed.count < Self.rememberedOrigins else { return }
        connections -= max(running(at: origin) - 1, 0)
        multiplexed.insert(origin)
        refresh(origin)
    }

    /// Puts the origin among those that could start one, or takes it out.
    private mutating func refresh(_ name: String) {
        guard let origin = origins[name] else { return }
        let isMultiplexed = multiplexed.contains(name)
        let rides = isMultiplexed && origin.running > 0
        let priority =
            origin.running < (isMultiplexed ? perMultiplexedOrigin : perOrigin)
            ? origin.waiting.topPriority : nil
        if let priority, rides { riding.push(name, priority) } else { riding.remove(name) }
        if let priority, !rides { ready.push(name, priority) } else { ready.remove(name) }
        if origin.running == 0, origin.waiting.isEmpty { origins[name] = nil }
    }
}
