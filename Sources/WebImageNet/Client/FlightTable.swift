// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// Runs work once for all who want the same thing at the same time. Each caller leaves by itself; the last to leave
/// cancels the work. The work has the highest priority of its callers. Thread-safe.
final class FlightTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What a caller gets.
    struct Landing: Sendable {
        let value: Value
        /// Whether the caller started the work.
        let isFirst: Bool
    }

    /// The work. Its context has the live priority.
    typealias Body = @Sendable (LoadContext) async throws(ImageError) -> Value
    private typealias Outcome = Result<Value, ImageError>

    private struct Waiter {
        let ticket: Ticket<Outcome>
        var priority: RequestPriority
    }

    /// The priority of running work, and where its reports go. Changes reach it in order, although callers come and go at the same time.
    private final class Urgency: Sendable {
        let context: LoadContext
        let hub = ReportHub()
        private let turn = Lock(())

        init(_ priority: RequestPriority, wantsReports: Bool) {
            guard wantsReports else {
                context = LoadContext(priority: priority)
                return
            }
            context = LoadContext(priority: priority) { [hub] report in hub.deliver(report) }
        }

        /// Takes over the value that `current` reads. Who comes last reads last.
        func update(_ current: () -> RequestPriority?) {
            turn.withLock { _ in
                if let priority = current() { context.priority = priority }
            }
        }
    }

    private struct Flight {
        let id: UInt64
        let urgency: Urgency
        var waiters: [UInt64: Waiter] = [:]
        var task: Task<Void, Never>?
        /// Started for nobody: it goes on without waiters.
        var isFree = false
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var last: UInt64 = 0
        var idle: [Ticket<Void>] = []

        mutating func begin(_ key: Key, _ priority: RequestPriority, wantsReports: Bool = false) -> Flight {
            last += 1
            let flight = Flight(id: last, urgency: Urgency(priority, wantsReports: wantsReports))
            flights[key] = flight
            return flight
        }

        mutating func takeIdle() -> [Ticket<Void>] {
            defer { idle = [] }
            return idle
        }
    }

    private let state = Lock(State())

    /// Flights in the air; for tests.
    var count: Int { state.withLock { $0.flights.count } }
    /// Callers that wait for `key`; for tests.
    func waiterCount(of key: Key) -> Int { state.withLock { $0.flights[key]?.waiters.count ?? 0 } }

    /// The value for `key`: waits for the flight there is, or starts `body`. A caller that joins raises the priority of
    /// the work to its own, and lowers it again if it leaves.
    ///
    /// - Throws: what the work threw, or 1001 as soon as the calling task is cancelled.
    func value(
        for key: Key, priority: RequestPriority = .normal, _ body: @escaping Body
    ) async throws(ImageError) -> Landing {
        try await value(for: key, priority, nil, body)
    }

    /// The value for `key`, with the reports of the work for `listener`, whose live priority counts.
    func value(
        for key: Key, listener: ReportListener, _ body: @escaping Body
    ) async throws(ImageError) -> Landing {
        try await value(for: key, listener.priority, listener, body)
    }

    private func value(
        for key: Key, _ priority: RequestPriority, _ listener: ReportListener?, _ body: @escaping Body
    ) async throws(ImageError) -> Landing {
        let ticket = Ticket<Outcome>()
        let (flight, isFirst) = state.withLock { state -> (Flight, Bool) in
            let isFirst = state.flights[key] == nil
            let flight =
                state.flights[key] ?? state.begin(key, priority, wantsReports: listener?.wantsReports ?? false)
            state.flights[key]?.waiters[ticket.id] = Waiter(ticket: ticket, priority: priority)
            return (flight, isFirst)
        }
        if let listener { follow(listener, key, flight, ticket.id) }
        if isFirst { start(key, flight, body) } else { updatePriority(key, flight) }
        defer { flight.urgency.hub.remove(ticket.id) }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in _ = ticket.install(continuation) }
        } onCancel: {
            ticket.resolve(.failure(.request(.cancelled)))
            leave(key, flight, ticket.id)
            updatePriority(key, flight)
        }
        return Landing(value: try outcome.get(), isFirst: isFirst)
    }

    private func follow(_ listener: ReportListener, _ key: Key, _ flight: Flight, _ ticket: UInt64) {
        if listener.wantsReports { flight.urgency.hub.add(listener, ticket) }
        listener.observePriority { [weak self, weak listener] _ in
            guard let self, let listener else { return }
            updatePriority(key, flight) { flight in
                // Read here, so that of two changes that cross the later one stays.
                flight.waiters[ticket]?.priority = listener.priority
            }
        }
        updatePriority(key, flight) { $0.waiters[ticket]?.priority = listener.priority }
    }

    /// Gives the work the highest priority of its present callers.
    private func updatePriority(_ key: Key, _ flight: Flight, _ change: (inout Flight) -> Void = { _ in }) {
        flight.urgency.update {
            state.withLock { state in
                guard var current = state.flights[key], current.id == flight.id else { return nil }
                change(&current)
                state.flights[key] = current
                return current.waiters.values.map(\.priority).max()
            }
        }
    }

    /// Starts `body` for nobody, unless a flight of `key` is in the air.
    func launch(_ key: Key, priority: RequestPriority = .low, _ body: @escaping Body) {
        let flight = state.withLock { state -> Flight? in
            guard state.flights[key] == nil else { return nil }
            let flight = state.begin(key, priority)
            state.flights[key]?.isFree = true
            return flight
        }
        if let flight { start(key, flight, body) }
    }

    /// Waits until there is no flight whose key `matters`.
    func waitUntilIdle(_ matters: @Sendable (Key) -> Bool) async {
        while true {
            let ticket = Ticket<Void>()
            let isIdle = state.withLock { state in
                guard state.flights.keys.contains(where: matters) else { return true }
                state.idle.append(ticket)
                return false
            }
            guard !isIdle else { return }
            await withCheckedContinuation { continuation in _ = ticket.install(continuation) }
        }
    }

    private func start(_ key: Key, _ flight: Flight, _ body: @escaping Body) {
        let task = Task.detached { [self] in
            let outcome: Outcome
            do throws(ImageError) {
                outcome = .success(try await body(flight.urgency.context))
            } catch {
                outcome = .failure(error)
            }
            land(key, flight.id, outcome)
        }
        let isWanted = state.withLock { state -> Bool in
            guard state.flights[key]?.id == flight.id else { return false }
            state.flights[key]?.task = task
            return true
        }
        // Landed already, or everybody left before the task was known.
        if !isWanted { task.cancel() }
    }

    private func land(_ key: Key, _ flight: UInt64, _ outcome: Outcome) {
        let (waiters, idle) = state.withLock { state -> ([Waiter], [Ticket<Void>]) in
            guard state.flights[key]?.id == flight else { return ([], []) }
            return (Array(state.flights.removeValue(forKey: key)?.waiters.values ?? [:].values), state.takeIdle())
        }
        for waiter in waiters { waiter.ticket.resolve(outcome) }
        for ticket in idle { ticket.resolve(()) }
    }

    private func leave(_ key: Key, _ flight: Flight, _ ticket: UInt64) {
        let (task, idle) = state.withLock { state -> (Task<Void, Never>?, [Ticket<Void>]) in
            guard state.flights[key]?.id == flight.id else { return (nil, []) }
            state.flights[key]?.waiters[ticket] = nil
            guard state.flights[key]?.waiters.isEmpty == true, state.flights[key]?.isFree == false else {
                return (nil, [])
            }
            return (state.flights.removeValue(forKey: key)?.task, state.takeIdle())
        }
        task?.cancel()
        for ticket in idle { ticket.resolve(()) }
    }
}
