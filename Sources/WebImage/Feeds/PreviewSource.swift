// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageNet

/// A subscriber to the previews of a download.
struct PreviewListener: Sendable {
    let plan: RequestPlan
    let key: PreviewKey
    let isHeard: @Sendable () -> Bool
    let deliver: @Sendable (DecodedImage) -> Void

    init(
        _ plan: RequestPlan, isHeard: @escaping @Sendable () -> Bool,
        deliver: @escaping @Sendable (DecodedImage) -> Void
    ) {
        self.plan = plan
        key = PreviewKey(plan)
        self.isHeard = isHeard
        self.deliver = deliver
    }
}

/// The decoders and the data of a discarded body. Releasing them takes time, so it must happen after unlocking.
private struct DeferredRelease {
    let work: Task<Void, Never>?
    let makers: [PreviewKey: PreviewGenerator]
    let bytes: PreviewGenerator.Bytes
}

/// The data of one running download and its previews.
///
/// Only one unit of work runs at a time, on a worker thread. Data that arrives in the meantime isn't queued. The next
/// chunk after the end of the work starts new work. This class is thread-safe.
final class PreviewSource: Sendable {
    fileprivate struct State {
        /// The number of the current load. Reports of earlier loads are ignored.
        var session = 0
        /// The number of the current body. It changes whenever the previous results become invalid.
        var epoch = 0
        var isRunning = false
        var bytes = PreviewGenerator.Bytes()
        /// Whether `bytes` is complete. It's `false` if data was released before a subscriber wanted previews.
        var isWhole = true
        var priority: SharedPriority?
        var nextID = 0
        var listeners: [Int: PreviewListener] = [:]
        var makers: [PreviewKey: PreviewGenerator] = [:]
        var isBusy = false
        var orders = 0
        var work: Task<Void, Never>?
    }

    private let state = Lock(State())
    private let renderer: PreviewRenderer

    init(_ renderer: PreviewRenderer) { self.renderer = renderer }

    // MARK: - Listeners

    func add(_ listener: PreviewListener) -> Int {
        state.withLock { state in
            state.nextID += 1
            state.listeners[state.nextID] = listener
            return state.nextID
        }
    }

    func remove(_ id: Int) {
        state.discard { state -> (PreviewListener?, PreviewGenerator?) in
            guard let listener = state.listeners.removeValue(forKey: id) else { return (nil, nil) }
            let isWanted = state.listeners.values.contains { $0.key == listener.key }
            return (listener, isWanted ? nil : state.makers.removeValue(forKey: listener.key))
        }
    }

    /// Makes a preview of the data received so far for a new subscriber, without waiting for more data.
    func inspect() { startWork() }

    // MARK: - The load

    /// Begins a load and returns its number, which must accompany all of its reports.
    func begin(_ priority: SharedPriority) -> Int {
        change { state in
            state.session += 1
            state.isRunning = true
            state.priority = priority
            return (state.session, state.reset())
        }
    }

    func end(_ session: Int) {
        change { state in
            guard state.session == session else { return ((), nil) }
            state.isRunning = false
            return ((), state.reset())
        }
    }

    func receive(_ report: LoadContext.Report, _ session: Int) {
        switch report {
        case .waiting, .started: break
        case .head(_, let expected):
            // The download begins or restarts, so discard the previous body.
            change { state in
                guard state.session == session, state.isRunning else { return ((), nil) }
                return ((), state.reset(expected: expected))
            }
        case .body(let part):
            let isWanted = state.withLock { state in
                guard state.session == session, state.isRunning else { return false }
                state.append(part)
                return !state.listeners.isEmpty && !state.isBusy
            }
            if isWanted { startWork() }
        }
    }

    /// Changes the state. Discarded work is canceled and released after unlocking.
    private func change<Result>(_ body: (inout State) -> (Result, DeferredRelease?)) -> Result {
        let (result, remains) = state.withLock { body(&$0) }
        remains?.work?.cancel()
        return result
    }

    // MARK: - Work

    fileprivate struct Order {
        let epoch: Int
        let number: Int
        let makers: [PreviewGenerator]
        let bytes: PreviewGenerator.Bytes
        let priority: RequestPriority
    }

    private func startWork() {
        let listeners = state.withLock { Array($0.listeners.values) }
        let heard = Set(listeners.lazy.filter { $0.isHeard() }.map(\.key))
        guard !heard.isEmpty else { return }
        let time = renderer.time()
        let order = state.withLock { $0.order(heard, latest: renderer.latest, at: time) }
        guard let order else { return }
        let work = Task.detached { [self] in
            var isDone = true
            for maker in order.makers where await !run(maker, order) { isDone = false }
            let isFree = state.withLock { state in
                guard state.epoch == order.epoch else { return false }
                state.isBusy = false
                state.work = nil
                return true
            }
            // More data may have arrived in the meantime, so another preview may be due.
            if isDone, isFree { startWork() }
        }
        let isStale = state.withLock { state in
            guard state.epoch == order.epoch else { return true }
            // The work may already have finished, and the next order may be running.
            if state.isBusy, state.orders == order.number { state.work = work }
            return false
        }
        if isStale { work.cancel() }
    }

    /// Returns `false` if `maker` couldn't start.
    private func run(_ maker: PreviewGenerator, _ order: Order) async -> Bool {
        let plans = state.withLock { state in
            state.listeners.values.filter { $0.key == maker.key }.map(\.plan)
        }
        let outcome = await renderer.make(maker, order.bytes, for: plans, priority: order.priority)
        guard let outcome else { return false }
        let time = renderer.time()
        let deliveries = state.withLock { state -> [(PreviewListener, DecodedImage)] in
            // The load ended or restarted, or no subscriber wants this preview anymore.
            guard state.epoch == order.epoch, state.makers[maker.key] != nil else { return [] }
            var made = outcome.maker
            if !outcome.images.isEmpty { made.showed(at: time) }
            state.makers[maker.key] = made
            return state.listeners.values.compactMap { listener in
                guard listener.key == maker.key else { return nil }
                return outcome.images[listener.plan.keys.final].map { (listener, $0) }
            }
        }
        for (listener, image) in deliveries { listener.deliver(image) }
        return true
    }
}

extension PreviewSource.State {
    fileprivate mutating func reset(expected: Int? = nil) -> DeferredRelease {
        defer {
            epoch += 1
            bytes = PreviewGenerator.Bytes(expected: expected)
            isWhole = true
            makers = [:]
            isBusy = false
            work = nil
        }
        return DeferredRelease(work: work, makers: makers, bytes: bytes)
    }

    fileprivate mutating func append(_ part: Data) {
        bytes.received += part.count
        // If the length is known, the chunks share the memory of the body. Otherwise, they would retain additional
        // memory.
        if bytes.expected == nil, listeners.isEmpty {
            isWhole = false
            bytes.parts = []
        }
        if isWhole { bytes.parts.append(part) }
    }

    fileprivate mutating func order(
        _ heard: Set<PreviewKey>, latest: Double, at time: Double
    ) -> PreviewSource.Order? {
        guard isRunning, isWhole, !isBusy else { return nil }
        for listener in listeners.values {
            if makers[listener.key] == nil { makers[listener.key] = PreviewGenerator(listener.plan) }
        }
        let due = makers.values.filter { heard.contains($0.key) && $0.isDue(bytes, latest: latest, at: time) }
        guard !due.isEmpty else { return nil }
        isBusy = true
        orders += 1
        // Final images take precedence over previews.
        let lower = RequestPriority(rawValue: (priority?.value.rawValue ?? 0) - 1) ?? .veryLow
        return PreviewSource.Order(epoch: epoch, number: orders, makers: due, bytes: bytes, priority: lower)
    }
}
