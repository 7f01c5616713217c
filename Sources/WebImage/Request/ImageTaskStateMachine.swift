// SPDX-License-Identifier: MIT

import WebImageCore

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
    private var waiting: ImageTask.WaitReason?
    private(set) var lastProgress: ImageTask.Progress?
    private var cached: ImageResponse?
    private var preview: DecodedImage?
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
