// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// Runs work once for all who want the same thing at the same time. Each caller leaves by itself; the last to leave
/// cancels the work. Thread-safe.
final class FlightTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What a caller gets.
    struct Landing: Sendable {
        let value: Value
        /// Whether the caller started the work.
        let isFirst: Bool
    }

    typealias Body = @Sendable () async throws(ImageError) -> Value
    private typealias Outcome = Result<Value, ImageError>

    private struct Flight {
        let id: UInt64
        var waiters: [UInt64: Ticket<Outcome>] = [:]
        var task: Task<Void, Never>?
        /// Started for nobody: it goes on without waiters.
        var isFree = false
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var last: UInt64 = 0
        var idle: [Ticket<Void>] = []

        mutating func begin(_ key: Key) -> UInt64 {
            last += 1
            flights[key] = Flight(id: last)
            return last
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

    /// The value for `key`: waits for the flight there is, or starts `body`.
    ///
    /// - Throws: what the work threw, or 1001 as soon as the calling task is cancelled.
    func value(for key: Key, _ body: @escaping Body) async throws(ImageError) -> Landing {
        let ticket = Ticket<Outcome>()
        let (flight, isFirst) = state.withLock { state -> (UInt64, Bool) in
            let isFirst = state.flights[key] == nil
            let flight = state.flights[key]?.id ?? state.begin(key)
            state.flights[key]?.waiters[ticket.id] = ticket
            return (flight, isFirst)
        }
        if isFirst { start(key, flight, body) }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in _ = ticket.install(continuation) }
        } onCancel: {
            ticket.resolve(.failure(.request(.cancelled)))
            leave(key, flight, ticket.id)
        }
        return Landing(value: try outcome.get(), isFirst: isFirst)
    }

    /// Starts `body` for nobody, unless a flight of `key` is in the air.
    func launch(_ key: Key, _ body: @escaping Body) {
        let flight = state.withLock { state -> UInt64? in
            guard state.flights[key] == nil else { return nil }
            let flight = state.begin(key)
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

    private func start(_ key: Key, _ flight: UInt64, _ body: @escaping Body) {
        let task = Task.detached { [self] in
            let outcome: Outcome
            do throws(ImageError) {
                outcome = .success(try await body())
            } catch {
                outcome = .failure(error)
            }
            land(key, flight, outcome)
        }
        let isWanted = state.withLock { state -> Bool in
            guard state.flights[key]?.id == flight else { return false }
            state.flights[key]?.task = task
            return true
        }
        // Landed already, or everybody left before the task was known.
        if !isWanted { task.cancel() }
    }

    private func land(_ key: Key, _ flight: UInt64, _ outcome: Outcome) {
        let (waiters, idle) = state.withLock { state -> ([Ticket<Outcome>], [Ticket<Void>]) in
            guard state.flights[key]?.id == flight else { return ([], []) }
            return (Array(state.flights.removeValue(forKey: key)?.waiters.values ?? [:].values), state.takeIdle())
        }
        for waiter in waiters { waiter.resolve(outcome) }
        for ticket in idle { ticket.resolve(()) }
    }

    private func leave(_ key: Key, _ flight: UInt64, _ ticket: UInt64) {
        let (task, idle) = state.withLock { state -> (Task<Void, Never>?, [Ticket<Void>]) in
            guard state.flights[key]?.id == flight else { return (nil, []) }
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
