// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The trace of one request, which sends events to the observers. It exists only if there are observers.
final class ObserverNotifier: Sendable {
    private let observers: [any ImageManagerObserver]
    private let spans: SpanCounter
    private let request: Int
    private let url: URL
    private let parent: (any Sendable)?
    /// The number of the span of the whole request, or zero before it begins.
    private let requestSpan = Atomic<Int>(0)

    init(_ observers: [any ImageManagerObserver], _ spans: SpanCounter, _ url: URL) {
        self.observers = observers
        self.spans = spans
        self.url = url
        // Most of the work runs in detached tasks and on threads, which have no task-local values.
        parent = ImageManager.parentSpan
        request = spans.nextRequest()
    }

    func begin(
        _ stage: ImageManager.Stage, cacheKey: CacheKey? = nil, threadName: String? = nil, details: String = ""
    ) -> StageSpan {
        let span = spans.nextSpan()
        let container = requestSpan.load(ordering: .relaxed)
        if stage == .request { requestSpan.store(span, ordering: .relaxed) }
        let event = ImageManager.Event(
            stage: stage, requestID: request, spanID: span,
            parentSpanID: stage == .request || container == 0 ? nil : container, parentSpan: parent, time: .now,
            url: url, cacheKey: cacheKey,
            threadName: threadName, details: details)
        notify(event)
        return StageSpan(trace: self, event: event)
    }

    fileprivate func notify(_ event: ImageManager.Event) {
        for observer in observers { observer.observe(event) }
    }
}

/// The counters for request and span numbers of one manager.
final class SpanCounter: Sendable {
    private let requests = Atomic<Int>(0)
    private let spans = Atomic<Int>(0)

    func nextRequest() -> Int { requests.add(1, ordering: .relaxed).newValue }
    func nextSpan() -> Int { spans.add(1, ordering: .relaxed).newValue }
}

/// A piece of work that has begun.
struct StageSpan: Sendable {
    fileprivate let trace: ObserverNotifier
    fileprivate let event: ImageManager.Event

    func end(_ describe: (inout ImageManager.Event) -> Void = { _ in }) {
        var event = event
        let now = ContinuousClock.now
        event.duration = event.time.duration(to: now)
        event.time = now
        describe(&event)
        trace.notify(event)
    }

    func end(_ result: Result<DeliveredResult, ImageError>) {
        end { event in
            switch result {
            case .success(let delivered):
                event.source = delivered.source
                event.imageSize = delivered.imageSize
                event.byteCount = delivered.byteCount
            case .failure(let error): event.error = error
            }
        }
    }
}

extension ObserverNotifier? {
    func work<Value>(
        _ stage: ImageManager.Stage, key: @autoclosure () -> CacheKey?, detail: @autoclosure () -> String = "",
        describe: (Value, inout ImageManager.Event) -> Void, _ body: () throws(ImageError) -> Value
    ) throws(ImageError) -> Value {
        guard let self else { return try body() }
        let span = self.begin(stage, cacheKey: key(), threadName: WorkerThreadNames.current, details: detail())
        do throws(ImageError) {
            let value = try body()
            span.end { describe(value, &$0) }
            return value
        } catch {
            span.end { $0.error = error }
            throw error
        }
    }
}

/// The trace of a load's transfer, which begins when the load leaves the queue and ends with the load.
final class TransferTrace: Sendable {
    private enum State {
        case waiting
        case starting
        case running(StageSpan)
        case finished(Ending)
    }

    /// The values of the end of the transfer.
    private struct Ending {
        let byteCount: Int?
        let error: ImageError?
    }

    private let trace: ObserverNotifier
    private let state = Lock(State.waiting)

    init?(_ trace: ObserverNotifier?) {
        guard let trace else { return nil }
        self.trace = trace
    }

    /// Begins the transfer after the load left the queue. Further calls, such as those for retries, have no effect.
    func start() {
        // Claim the start first, because several threads can report it.
        let isFirst = state.withLock { state in
            guard case .waiting = state else { return false }
            state = .starting
            return true
        }
        guard isFirst else { return }
        let span = trace.begin(.transfer)
        let ending = state.withLock { state -> Ending? in
            if case .finished(let ending) = state { return ending }
            state = .running(span)
            return nil
        }
        if let ending { Self.end(span, ending) }
    }

    func end(bytes: Int?, error: ImageError?) {
        let ending = Ending(byteCount: bytes, error: error)
        let span = state.withLock { state -> StageSpan? in
            // If the observers are being notified of the beginning, `start` ends the stage afterward.
            switch state {
            case .finished: return nil
            case .waiting, .starting:
                state = .finished(ending)
                return nil
            case .running(let span):
                state = .finished(ending)
                return span
            }
        }
        if let span { Self.end(span, ending) }
    }

    private static func end(_ span: StageSpan, _ ending: Ending) {
        span.end { event in
            event.byteCount = ending.byteCount
            event.error = ending.error
        }
    }
}
