// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// The events that a subscriber hasn't received yet.
///
/// Only the most recent progress, waiting, and preview event is pending, so a slow subscriber uses little memory. All
/// other events are pending until they're taken. This type is a pure value.
struct EventCoalescer {
    private(set) var events: [ImageTask.Event] = []

    mutating func put(_ event: ImageTask.Event) {
        switch event {
        case .progress:
            // The download makes progress, so it no longer waits.
            events.removeAll { $0.isProgress || $0.isWaiting }
        case .waiting: events.removeAll { $0.isWaiting }
        case .preview: events.removeAll { $0.isPreview }
        // The final image supersedes previews.
        case .finished: events.removeAll { $0.isPreview || $0.isWaiting }
        case .started, .cached: break
        }
        events.append(event)
    }

    mutating func dequeue() -> ImageTask.Event? { events.isEmpty ? nil : events.removeFirst() }
}

extension ImageTask.Event {
    fileprivate var isProgress: Bool { if case .progress = self { true } else { false } }
    fileprivate var isWaiting: Bool { if case .waiting = self { true } else { false } }
    fileprivate var isPreview: Bool { if case .preview = self { true } else { false } }
    fileprivate var isLast: Bool { if case .finished = self { true } else { false } }
}

/// The buffer into which a task puts the events for one subscriber. This class is thread-safe.
final class EventBuffer: Sendable {
    private struct State {
        var pending = EventCoalescer()
        var reader: CheckedContinuation<ImageTask.Event?, Never>?
        /// A Boolean value that indicates that no more events are delivered because the last event was taken or the
        /// subscriber ended.
        var isFinished = false
    }

    private let state = Lock(State())
    private let onTermination: @Sendable () -> Void

    /// Creates a mailbox that calls `onTermination` when its subscriber ends or the mailbox is deallocated.
    init(onTermination: @escaping @Sendable () -> Void) { self.onTermination = onTermination }

    deinit { onTermination() }

    func put(_ event: ImageTask.Event) {
        let reader = state.withLock { state -> CheckedContinuation<ImageTask.Event?, Never>? in
            guard !state.isFinished else { return nil }
            guard let reader = state.reader else {
                state.pending.put(event)
                return nil
            }
            state.reader = nil
            if event.isLast { state.isFinished = true }
            return reader
        }
        reader?.resume(returning: event)
    }

    /// Returns the next event, or `nil` after the last event or after the subscriber ended.
    func next() async -> ImageTask.Event? {
        await withCheckedContinuation { continuation in
            let event = state.withLock { state -> ImageTask.Event?? in
                if state.isFinished { return .some(nil) }
                if let event = state.pending.dequeue() {
                    if event.isLast { state.isFinished = true }
                    return event
                }
                // Only one reader can wait at a time. A second reader gets `nil`.
                if state.reader != nil { return .some(nil) }
                state.reader = continuation
                return nil
            }
            if let event { continuation.resume(returning: event) }
        }
    }

    /// Ends delivery because the subscriber stopped reading.
    func end() {
        let (reader, pending) = state.withLock { state in
            defer {
                state.reader = nil
                state.pending = EventCoalescer()
                state.isFinished = true
            }
            return (state.reader, state.pending)
        }
        reader?.resume(returning: nil)
        withExtendedLifetime(pending) {}
        onTermination()
    }
}
