// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency

/// A clock that changes only when ``advance(by:)`` is called. Sleeping tasks wake in the order of their deadlines.
public final class TestClock: Clock, Sendable {
    /// A time of this clock, relative to its creation.
    public struct Instant: InstantProtocol, Sendable {
        /// The duration since the creation of the clock.
        public var offset: Duration

        /// Creates an instant.
        public init(offset: Duration) { self.offset = offset }

        /// Returns the instant that is `duration` later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the duration from this instant to another one.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Orders instants by time.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper: Sendable {
        let id: Int
        let deadline: Instant
        let waiter: Promise<Void>
    }

    private struct State: Sendable {
        var now = Instant(offset: .zero)
        var nextID = 0
        var sleepers: [Sleeper] = []
    }

    private let state = AwaitableValue(State())

    /// Creates a clock that starts at zero.
    public init() {}

    /// The current time of the clock.
    public var now: Instant { state.value.now }
    /// The resolution of the clock, which is one nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }
    /// The number of tasks that are sleeping on this clock.
    package var sleeperCount: Int { state.value.sleepers.count }

    /// Advances the clock and wakes the tasks whose deadlines have passed.
    public func advance(by duration: Duration) {
        let woken = state.update { state -> [Sleeper] in
            state.now = state.now.advanced(by: duration)
            let now = state.now
            let woken = state.sleepers.filter { $0.deadline <= now }
            state.sleepers.removeAll { $0.deadline <= now }
            return woken.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
        }
        for sleeper in woken { sleeper.waiter.resolve(()) }
    }

    /// Sleeps until the clock reaches a deadline.
    ///
    /// - Throws: A `CancellationError` if the task is canceled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let waiter = Promise<Void>()
        let id = state.update { state -> Int? in
            guard deadline > state.now else { return nil }
            state.nextID += 1
            state.sleepers.append(Sleeper(id: state.nextID, deadline: deadline, waiter: waiter))
            return state.nextID
        }
        guard let id else { return }
        await waiter.outcome { [state] in
            state.update { $0.sleepers.removeAll { $0.id == id } }
            waiter.resolve(())
        }
        try Task.checkCancellation()
    }

    /// Waits until at least `count` tasks are sleeping on this clock, so that ``advance(by:)`` can wake them.
    public func waitForSleepers(count: Int) async {
        await state.wait { $0.sleepers.count >= count }
    }
}
