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
        /// Whether no more events are delivered because the last event was taken or the subscriber ended.
        var isFinished = false
        /// Whether the subscriber ended before the deallocation.
        var hasEnded = false
    }

    private let state = Lock(State())
    private let onTermination: @Sendable () -> Void

    /// Creates a buffer that calls `onTermination` once, when its subscriber ends or the buffer is deallocated.
    init(onTermination: @escaping @Sendable () -> Void) { self.onTermination = onTermination }

    deinit { if !state.withLock({ $0.hasEnded }) { onTermination() } }

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

    func end() {
        let (reader, pending, hadEnded) = state.withLock { state in
            defer {
                state.reader = nil
                state.pending = EventCoalescer()
                state.isFinished = true
                state.hasEnded = true
            }
            return (state.reader, state.pending, state.hasEnded)
        }
        reader?.resume(returning: nil)
        withExtendedLifetime(pending) {}
        if !hadEnded { onTermination() }
    }
}

/// The events that a task has sent and their receivers, as a pure state machine.
///
/// Deliveries go to an outbox in the order of their events. One caller at a time empties the outbox, without holding a
/// lock.
struct ImageTaskStateMachine {
    typealias ListenerID = Int

    enum Delivery {
        case event(ListenerID, ImageTask.Event)
        case result(ListenerID, Result<ImageResponse, ImageError>)
    }

    private var listeners: Set<ListenerID> = []
    private var waiters: Set<ListenerID> = []
    private var hasStarted = false
    private var waiting: WaitReason?
    private(set) var lastProgress: ImageTask.Progress?
    private var cached: ImageResponse?
    private var preview: DecodedImage?
    private var hasPreviewOfDownload = false
    private var preliminaryRank: Int?
    private(set) var result: Result<ImageResponse, ImageError>?
    private var outbox: [Delivery] = []
    private var isDraining = false

    /// Adds a listener. It first receives the past events that are still relevant and then all later events.
    mutating func addListener(_ id: ListenerID) {
        if hasStarted { outbox.append(.event(id, .started)) }
        if let result {
            outbox.append(.event(id, .finished(result)))
            return
        }
        if let waiting { outbox.append(.event(id, .waiting(waiting))) }
        if let lastProgress { outbox.append(.event(id, .progress(lastProgress))) }
        if let cached { outbox.append(.event(id, .cached(cached))) }
        if let preview { outbox.append(.event(id, .preview(preview))) }
        listeners.insert(id)
    }

    mutating func addWaiter(_ id: ListenerID) {
        if let result { outbox.append(.result(id, result)) } else { waiters.insert(id) }
    }

    mutating func remove(_ id: ListenerID) {
        listeners.remove(id)
        waiters.remove(id)
    }

    /// Processes an event. Returns `false` if the task has already finished, in which case the event is dropped.
    mutating func emit(_ event: ImageTask.Event) -> Bool {
        guard result == nil else { return false }
        switch event {
        case .started: hasStarted = true
        case .waiting(let reason): waiting = reason
        case .progress(let progress):
            waiting = nil
            lastProgress = progress
        case .cached(let response):
            cached = response
            // The cached image supersedes that of a preliminary request.
            if !hasPreviewOfDownload { preview = nil }
        case .preview(let image):
            preview = image
            hasPreviewOfDownload = true
        case .finished(let end):
            result = end
            preview = nil
            for waiter in waiters { outbox.append(.result(waiter, end)) }
            waiters = []
        }
        for listener in listeners { outbox.append(.event(listener, event)) }
        if result != nil { listeners = [] }
        return true
    }

    /// Processes the image of a preliminary request. Images with lower ranks are closer to the request.
    ///
    /// Returns `false` if the task has finished or has already sent something better, in which case the image is dropped.
    mutating func emit(preliminary image: DecodedImage, rank: Int) -> Bool {
        guard result == nil, cached == nil, !hasPreviewOfDownload, rank < preliminaryRank ?? .max else { return false }
        preliminaryRank = rank
        preview = image
        for listener in listeners { outbox.append(.event(listener, .preview(image))) }
        return true
    }

    /// Returns the deliveries to perform, or `nil` if there are none or another caller is delivering.
    mutating func beginDelivery() -> [Delivery]? {
        guard !isDraining, !outbox.isEmpty else { return nil }
        isDraining = true
        defer { outbox = [] }
        return outbox
    }

    /// Returns the next batch for the delivering caller, or `nil` if the outbox is empty, which ends its turn.
    mutating func continueDelivery() -> [Delivery]? {
        if outbox.isEmpty {
            isDraining = false
            return nil
        }
        defer { outbox = [] }
        return outbox
    }
}
