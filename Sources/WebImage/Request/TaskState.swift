// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageNet

/// What a task has told and whom: a pure state machine. Deliveries are put into an outbox in the order in which they
/// happened; one caller at a time empties it, outside any lock.
struct TaskState {
    typealias ListenerID = Int

    enum Delivery {
        case event(ListenerID, ImageEvent)
        case result(ListenerID, Result<ImageResponse, ImageError>)
    }

    private var listeners: Set<ListenerID> = []
    private var waiters: Set<ListenerID> = []
    private var hasStarted = false
    private var waiting: WaitReason?
    private var lastProgress: ImageProgress?
    private var cached: ImageResponse?
    private var preview: Image?
    private(set) var result: Result<ImageResponse, ImageError>?
    private var outbox: [Delivery] = []
    private var isDraining = false

    /// A listener hears what is still of interest of what was, then all that comes.
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

    /// Takes an event; false when the task has ended and it is dropped.
    mutating func emit(_ event: ImageEvent) -> Bool {
        guard result == nil else { return false }
        switch event {
        case .started: hasStarted = true
        case .waiting(let reason): waiting = reason
        case .progress(let progress):
            waiting = nil
            lastProgress = progress
        case .cached(let response): cached = response
        case .preview(let image): preview = image
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

    /// What is to be delivered next; nil when there is nothing or somebody else delivers.
    mutating func beginDelivery() -> [Delivery]? {
        guard !isDraining, !outbox.isEmpty else { return nil }
        isDraining = true
        defer { outbox = [] }
        return outbox
    }

    /// The next batch for the caller that delivers; nil ends its turn.
    mutating func continueDelivery() -> [Delivery]? {
        if outbox.isEmpty {
            isDraining = false
            return nil
        }
        defer { outbox = [] }
        return outbox
    }
}
