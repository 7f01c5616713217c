// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// Events that a reader has not taken yet: of progress, waiting and previews the last one each, so that a reader that
/// stands still holds a handful, and every other event. A pure value.
struct PendingEvents {
    private(set) var events: [ImageEvent] = []

    mutating func put(_ event: ImageEvent) {
        switch event {
        case .progress:
            // It moves, so it does not wait any more.
            events.removeAll { $0.isProgress || $0.isWaiting }
        case .waiting: events.removeAll { $0.isWaiting }
        case .preview: events.removeAll { $0.isPreview }
        // The picture itself makes partial ones of no interest.
        case .finished: events.removeAll { $0.isPreview || $0.isWaiting }
        case .started, .cached: break
        }
        events.append(event)
    }

    mutating func take() -> ImageEvent? { events.isEmpty ? nil : events.removeFirst() }
}

extension ImageEvent {
    fileprivate var isProgress: Bool { if case .progress = self { true } else { false } }
    fileprivate var isWaiting: Bool { if case .waiting = self { true } else { false } }
    fileprivate var isPreview: Bool { if case .preview = self { true } else { false } }
    fileprivate var isLast: Bool { if case .finished = self { true } else { false } }
}

/// Where a task puts events for one reader. Thread-safe.
final class EventMailbox: Sendable {
    private struct State {
        var pending = PendingEvents()
        var reader: CheckedContinuation<ImageEvent?, Never>?
        /// Nothing is delivered any more: the last event was taken, or the reader went away.
        var isOver = false
    }

    private let state = Lock(State())
    private let whenGone: @Sendable () -> Void

    /// `whenGone` is called when nobody can read any more.
    init(whenGone: @escaping @Sendable () -> Void) { self.whenGone = whenGone }

    deinit { whenGone() }

    func put(_ event: ImageEvent) {
        let reader = state.withLock { state -> CheckedContinuation<ImageEvent?, Never>? in
            guard !state.isOver else { return nil }
            guard let reader = state.reader else {
                state.pending.put(event)
                return nil
            }
            state.reader = nil
            if event.isLast { state.isOver = true }
            return reader
        }
        reader?.resume(returning: event)
    }

    /// The next event; nil after the last one, and when the reading Swift task was cancelled.
    func next() async -> ImageEvent? {
        await withCheckedContinuation { continuation in
            let event = state.withLock { state -> ImageEvent?? in
                if state.isOver { return .some(nil) }
                if let event = state.pending.take() {
                    if event.isLast { state.isOver = true }
                    return event
                }
                // One reader at a time; a second one ends.
                if state.reader != nil { return .some(nil) }
                state.reader = continuation
                return nil
            }
            if let event { continuation.resume(returning: event) }
        }
    }

    /// The reader went away.
    func end() {
        let (reader, pending) = state.withLock { state in
            defer {
                state.reader = nil
                state.pending = PendingEvents()
                state.isOver = true
            }
            return (state.reader, state.pending)
        }
        reader?.resume(returning: nil)
        withExtendedLifetime(pending) {}
        whenGone()
    }
}
