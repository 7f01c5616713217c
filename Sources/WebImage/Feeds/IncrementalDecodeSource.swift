// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageNet

/// The data of one running download on its way to the decoders.
///
/// Only one unit of work runs at a time, on a worker thread. Data that arrives in the meantime waits for the next unit.
/// This class is thread-safe.
final class IncrementalDecodeSource: Sendable {
    fileprivate struct State {
        /// The number of the current body. Results of earlier bodies are ignored.
        var epoch = 0
        var isRunning = true
        var begun: Double?
        var received = 0
        var expected: Int?
        /// The received data that no decoder has taken yet.
        var waiting: [Data] = []
        var decodes: [IncrementalDecode] = []
        /// Whether the images to decode have been chosen.
        var hasStarted = false
        /// Whether this body isn't decoded before it's complete.
        var isFinished = false
        var work: Task<Void, Never>?
        var isBusy = false
        var orders = 0
        var isAtWork = false

        /// Discards a body and returns its remains, which must be ended after unlocking.
        mutating func reset() -> Remains {
            defer {
                epoch += 1
                begun = nil
                received = 0
                expected = nil
                waiting = []
                decodes = []
                hasStarted = false
                isFinished = false
                work = nil
                isBusy = false
                isAtWork = false
            }
            return Remains(work: work, decodes: decodes, waiting: waiting)
        }
    }

    fileprivate struct Remains {
        let work: Task<Void, Never>?
        let decodes: [IncrementalDecode]
        let waiting: [Data]

        func end() {
            work?.cancel()
            for decode in decodes { decode.end() }
        }
    }

    private static let maxImages = 2

    private let state = Lock(State())
    private let scheduler: IncrementalDecodeScheduler
    private let requests: @Sendable () -> [RequestPlan]
    private let priority: SharedPriority

    init(
        _ scheduler: IncrementalDecodeScheduler, _ priority: SharedPriority,
        requests: @escaping @Sendable () -> [RequestPlan]
    ) {
        self.scheduler = scheduler
        self.priority = priority
        self.requests = requests
    }

    func receive(_ report: LoadContext.Report) {
        switch report {
        case .waiting, .started: break
        case .head(_, let expected):
            // The download begins or restarts.
            let time = scheduler.time()
            let remains = state.withLock { state in
                let remains = state.reset()
                state.begun = time
                state.expected = expected
                return remains
            }
            remains.end()
        case .body(let part):
            let time = scheduler.time()
            if state.withLock({ $0.append(part, at: time) }) { startWork() }
        }
    }

    /// Finishes the feed after the body is complete and returns the decoders that have received its beginning. The feed
    /// can't be used afterward.
    func finish() async -> [IncrementalDecodeKey: IncrementalDecode] {
        let (work, isAtWork) = state.withLock { state in
            state.isRunning = false
            return (state.work, state.isAtWork)
        }
        // Work that hasn't started would only delay the final decode.
        if !isAtWork { work?.cancel() }
        await work?.value
        // Release the data after unlocking.
        let (decodes, waiting) = state.withLock { state in
            defer { state.waiting = [] }
            return (state.decodes, state.waiting)
        }
        withExtendedLifetime(waiting) {}
        return Dictionary(
            decodes.lazy.filter {
                $0.unresponsiveError != nil || !$0.isFinished && $0.receivedByteCount > 0
            }.map {
                (IncrementalDecodeKey($0.plan), $0)
            },
            uniquingKeysWith: { first, _ in first })
    }

    /// Ends the decoders after the download failed. This method has no effect after ``finish()``.
    func end() {
        let remains = state.withLock { state -> Remains? in
            guard state.isRunning else { return nil }
            state.isRunning = false
            return state.reset()
        }
        remains?.end()
    }

    // MARK: - Work

    private func startWork() {
        let plans = state.withLock({ $0.hasStarted }) ? [] : requests()
        let begun = state.withLock { state -> (epoch: Int, order: Int)? in
            guard state.isRunning, !state.isBusy, !state.isFinished else { return nil }
            if !state.hasStarted {
                state.hasStarted = true
                state.decodes = plans.prefix(Self.maxImages).map { IncrementalDecode($0) }
                state.isFinished = plans.isEmpty
                if state.isFinished { state.waiting = [] }
            }
            guard !state.isFinished else { return nil }
            state.isBusy = true
            state.orders += 1
            return (state.epoch, state.orders)
        }
        guard let begun else { return }
        let work = Task.detached { await self.work(begun.epoch) }
        let isStale = state.withLock { state in
            guard state.epoch == begun.epoch else { return true }
            // The work may already have finished, and the next order may be running.
            if state.isBusy, state.orders == begun.order { state.work = work }
            return false
        }
        if isStale { work.cancel() }
    }

    private func work(_ epoch: Int) async {
        while true {
            let order = state.withLock { state -> (decodes: [IncrementalDecode], parts: [Data], expected: Int?)? in
                guard state.epoch == epoch else { return nil }
                // If the body is complete, the final decode takes the remaining data.
                guard state.isRunning, !state.waiting.isEmpty, state.received != state.expected else {
                    state.isBusy = false
                    return nil
                }
                defer { state.waiting = [] }
                return (state.decodes, state.waiting, state.expected)
            }
            guard let order else { return }
            let hasTaken = await scheduler.append(order.parts, order.expected, order.decodes, priority) {
                self.state.withLock { if $0.epoch == epoch { $0.isAtWork = true } }
            }
            let isOn = state.withLock { state in
                guard state.epoch == epoch else { return false }
                state.isAtWork = false
                if hasTaken == false { state.waiting = order.parts + state.waiting }
                state.isFinished = hasTaken == nil || state.decodes.allSatisfy { $0.isFinished }
                if state.isFinished { state.waiting = [] }
                if state.isFinished || hasTaken == false { state.isBusy = false }
                return state.isBusy
            }
            guard isOn else { return }
        }
    }
}

extension IncrementalDecodeSource.State {
    /// Returns whether to start work.
    fileprivate mutating func append(_ part: Data, at time: Double) -> Bool {
        guard isRunning, !isFinished, let begun else { return false }
        received += part.count
        waiting.append(part)
        guard !isBusy else { return false }
        if hasStarted { return true }
        if DownloadSpeedGate.begins(received: received, expected: expected, seconds: time - begun) { return true }
        if received > DownloadSpeedGate.maxBufferedBytes {
            isFinished = true
            waiting = []
        }
        return false
    }
}
