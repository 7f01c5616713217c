// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageNet

/// The bytes of one running download on their way to decoders: one piece of work at a time, on a worker thread. What comes
/// meanwhile waits for the next one. Thread-safe.
final class StreamFeed: Sendable {
    fileprivate struct State {
        /// Counts bodies: what an earlier one left behind is not mixed with the present one's.
        var epoch = 0
        var isRunning = true
        var begun: Double?
        var received = 0
        var expected: Int?
        /// What came and no decoder has.
        var waiting: [Data] = []
        var decodes: [StreamedDecode] = []
        /// Whether the choice of pictures is made.
        var hasStarted = false
        /// Whether this body is not decoded before it is whole.
        var isOver = false
        var work: Task<Void, Never>?
        var isBusy = false
        /// Counts pieces of work.
        var orders = 0
        /// Whether the present work has a thread.
        var isAtWork = false

        /// Forgets a body. What it leaves behind is to be ended outside the lock.
        mutating func reset() -> Remains {
            defer {
                epoch += 1
                begun = nil
                received = 0
                expected = nil
                waiting = []
                decodes = []
                hasStarted = false
                isOver = false
                work = nil
                isBusy = false
                isAtWork = false
            }
            return Remains(work: work, decodes: decodes, waiting: waiting)
        }
    }

    fileprivate struct Remains {
        let work: Task<Void, Never>?
        let decodes: [StreamedDecode]
        let waiting: [Data]

        func end() {
            work?.cancel()
            for decode in decodes { decode.end() }
        }
    }

    /// Pictures of one download that are decoded while it runs.
    private static let mostPictures = 2

    private let state = Lock(State())
    private let studio: StreamStudio
    private let wishes: @Sendable () -> [RequestPlan]
    private let priority: LivePriority

    /// `wishes` gives those who want pictures of the download.
    init(_ studio: StreamStudio, _ priority: LivePriority, wishes: @escaping @Sendable () -> [RequestPlan]) {
        self.studio = studio
        self.priority = priority
        self.wishes = wishes
    }

    func take(_ report: LoadContext.Report) {
        switch report {
        case .waiting, .started: break
        case .head(_, let expected):
            // It begins, or begins anew.
            let time = studio.time()
            let remains = state.withLock { state in
                let remains = state.reset()
                state.begun = time
                state.expected = expected
                return remains
            }
            remains.end()
        case .body(let part):
            let time = studio.time()
            if state.withLock({ $0.take(part, at: time) }) { startWork() }
        }
    }

    /// The body is whole: the decoders that have its beginning, by what they make. A feed is of no use after that.
    func finish() async -> [StreamKey: StreamedDecode] {
        let (work, isAtWork) = state.withLock { state in
            state.isRunning = false
            return (state.work, state.isAtWork)
        }
        // What has not begun would only stand in the way of the rest.
        if !isAtWork { work?.cancel() }
        await work?.value
        // Released after the lock.
        let (decodes, waiting) = state.withLock { state in
            defer { state.waiting = [] }
            return (state.decodes, state.waiting)
        }
        withExtendedLifetime(waiting) {}
        return Dictionary(
            decodes.lazy.filter { !$0.isOver && $0.givenCount > 0 }.map { (StreamKey($0.plan), $0) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The download came to nothing. Ends what was begun; does nothing after ``finish()``.
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
        let plans = state.withLock({ $0.hasStarted }) ? [] : wishes()
        let begun = state.withLock { state -> (epoch: Int, order: Int)? in
            guard state.isRunning, !state.isBusy, !state.isOver else { return nil }
            if !state.hasStarted {
                state.hasStarted = true
                state.decodes = plans.prefix(Self.mostPictures).map { StreamedDecode($0) }
                state.isOver = plans.isEmpty
                if state.isOver { state.waiting = [] }
            }
            guard !state.isOver else { return nil }
            state.isBusy = true
            state.orders += 1
            return (state.epoch, state.orders)
        }
        guard let begun else { return }
        let work = Task.detached { await self.work(begun.epoch) }
        let isStale = state.withLock { state in
            guard state.epoch == begun.epoch else { return true }
            // It may be done already, and the next one under way.
            if state.isBusy, state.orders == begun.order { state.work = work }
            return false
        }
        if isStale { work.cancel() }
    }

    private func work(_ epoch: Int) async {
        while true {
            let order = state.withLock { state -> (decodes: [StreamedDecode], parts: [Data], expected: Int?)? in
                guard state.epoch == epoch else { return nil }
                // The rest of a whole body goes to whoever finishes the picture.
                guard state.isRunning, !state.waiting.isEmpty, state.received != state.expected else {
                    state.isBusy = false
                    return nil
                }
                defer { state.waiting = [] }
                return (state.decodes, state.waiting, state.expected)
            }
            guard let order else { return }
            let hasTaken = await studio.append(order.parts, order.expected, order.decodes, priority) {
                self.state.withLock { if $0.epoch == epoch { $0.isAtWork = true } }
            }
            let isOn = state.withLock { state in
                guard state.epoch == epoch else { return false }
                state.isAtWork = false
                if hasTaken == false { state.waiting = order.parts + state.waiting }
                state.isOver = hasTaken == nil || state.decodes.allSatisfy { $0.isOver }
                if state.isOver { state.waiting = [] }
                if state.isOver || hasTaken == false { state.isBusy = false }
                return state.isBusy
            }
            guard isOn else { return }
        }
    }
}

extension StreamFeed.State {
    /// - Returns: whether work is to be started.
    fileprivate mutating func take(_ part: Data, at time: Double) -> Bool {
        guard isRunning, !isOver, let begun else { return false }
        received += part.count
        waiting.append(part)
        guard !isBusy else { return false }
        if hasStarted { return true }
        if StreamPace.begins(received: received, expected: expected, seconds: time - begun) { return true }
        if received > StreamPace.mostBytesHeld {
            isOver = true
            waiting = []
        }
        return false
    }
}
