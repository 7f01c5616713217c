// SPDX-License-Identifier: MIT

import CFiles
import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// The state that the source and its thread share: the state machine, the observers, and the order of deliveries.
final class PressureBroadcaster: Sendable {
    private struct Observer: Sendable {
        let holdsMemory: @Sendable () -> Bool
        let action: @Sendable (MemoryPressureEvent) -> Void
    }

    private struct State {
        var machine = PressureStateMachine()
        var observers: [Int: Observer] = [:]
        var nextID = 0
        var outbox = OrderedDelivery<MemoryPressureEvent>()
        var isStopped = false
        /// The write end of the pipe, or `nil` while the thread isn't running.
        var wakeUp: Int32?
    }

    private let state = Lock(State())
    private let files: PressureFiles?
    private let clock: TimeSource
    private let hasThread: Bool
    /// The number of seconds between two reads of files that can't notify the thread.
    private static let period = 5.0

    init(files: PressureFiles?, clock: TimeSource, hasThread: Bool) {
        self.files = files
        self.clock = clock
        self.hasThread = hasThread
    }

    var level: MemoryPressureLevel { state.withLock { $0.machine.level } }

    func add(
        _ holdsMemory: @escaping @Sendable () -> Bool, _ action: @escaping @Sendable (MemoryPressureEvent) -> Void
    ) -> Int {
        state.withLock { state in
            state.nextID += 1
            state.observers[state.nextID] = Observer(holdsMemory: holdsMemory, action: action)
            return state.nextID
        }
    }

    func remove(_ id: Int) {
        state.discard { $0.observers.removeValue(forKey: id) }
    }

    /// Events arrive in order. If another thread is delivering events, that thread also delivers the new event. The
    /// observers are called without holding the lock.
    func receive(_ level: MemoryPressureLevel) {
        let now = clock.uptime()
        state.withLock { state in
            if let event = state.machine.receive(level, at: now) { state.outbox.append(event) }
        }
        if level > .normal { startThread() }
        OrderedDelivery<MemoryPressureEvent>.deliver { access in
            state.withLock { access(&$0.outbox) }
        } _: { event in
            let observers = state.withLock { state in state.observers.sorted { $0.key < $1.key }.map(\.value) }
            for observer in observers { observer.action(event) }
        }
    }

    func startReading() {
        if files != nil { startThread() }
    }

    private func startThread() {
        guard hasThread else { return }
        let reading = state.withLock { state -> Int32? in
            if let wakeUp = state.wakeUp { Self.wake(wakeUp) }
            guard state.wakeUp == nil, !state.isStopped else { return nil }
            var ends: [Int32] = [-1, -1]
            guard wi_pipe(&ends) == 0 else { return nil }
            state.wakeUp = ends[1]
            return ends[0]
        }
        guard let reading else { return }
        let thread = Thread { self.run(wakeUp: reading) }
        thread.name = "webimage-memory"
        thread.stackSize = 256 << 10
        thread.start()
    }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            if let wakeUp = state.wakeUp { Self.wake(wakeUp) }
        }
    }

    private static func wake(_ file: Int32) {
        var byte: UInt8 = 1
        // Ignore the result because a full pipe also wakes the thread.
        _ = write(file, &byte, 1)
    }

    private func run(wakeUp: Int32) {
        var watch = PressureFileWatcher(files, wakeUp: wakeUp)
        var before = files?.sample()
        var read = clock.uptime()
        while !state.withLock({ $0.isStopped }) {
            var level = watch.wait(seconds: pause(needsReadings: !watch.hearsStalls || before?.limit != nil))
            let now = clock.uptime()
            if let sample = files?.sample() {
                // Ratios over less than one second aren't meaningful, so the next sample is compared with the same
                // earlier one.
                let isLong = now - read >= 1
                level = max(level, PressureReading.level(sample, before: before, seconds: isLong ? now - read : 0))
                if isLong { (before, read) = (sample, now) }
                before?.events = sample.events
            }
            receive(level)
        }
        state.withLock { state in
            if let file = state.wakeUp { close(file) }
            state.wakeUp = nil
        }
        close(wakeUp)
    }

    /// Returns the number of seconds that the thread may sleep, or `nil` to sleep until it's woken.
    private func pause(needsReadings: Bool) -> Double? {
        let (deadline, observers) = state.withLock { ($0.machine.deadline, Array($0.observers.values)) }
        let fall = deadline.map { $0 - clock.uptime() }
        guard needsReadings, observers.contains(where: { $0.holdsMemory() }) else { return fall }
        return min(fall ?? Self.period, Self.period)
    }
}
