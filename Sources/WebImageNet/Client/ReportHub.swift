// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// One caller of shared work: passes reports on to the caller's context. Thread-safe.
///
/// A caller that joins late, or work that began without reports, gets the body in one report at the end.
final class ReportListener: Sendable {
    private struct State {
        var hasStarted = false
        var hasHead = false
        /// Whether bytes are missing that came before this listener did.
        var misses = true
    }

    private let context: LoadContext
    private let state = Lock(State())

    init(_ context: LoadContext) { self.context = context }

    var priority: RequestPriority { context.priority }
    var wantsReports: Bool { context.wantsReports }

    /// Calls `observer` with every later change of the caller's priority.
    func observePriority(_ observer: @escaping @Sendable (RequestPriority) -> Void) {
        context.observePriority(observer)
    }

    /// Other work, that of an alternative, is joined from now on.
    func beginSource() { state.withLock { $0.misses = true } }

    fileprivate func take(_ report: LoadContext.Report) {
        let isWanted = state.withLock { state in
            switch report {
            case .started:
                defer { state.hasStarted = true }
                return !state.hasStarted
            case .head:
                state.hasHead = true
                state.misses = false
                return true
            case .body: return !state.misses
            }
        }
        if isWanted { context.report(report) }
    }

    /// Takes a head whose body has begun already.
    fileprivate func takeLate(_ head: LoadContext.Report) {
        state.withLock { state in
            state.hasHead = true
            state.misses = true
        }
        context.report(head)
    }

    /// Reports what of the response is missing.
    func complete(_ response: LoadResponse) {
        guard context.wantsReports else { return }
        let (needsHead, needsBody) = state.withLock { state in
            defer { state.misses = false }
            return (state.misses && !state.hasHead, state.misses)
        }
        if needsHead { context.report(.head(response.head, expected: response.body.count)) }
        if needsBody, !response.body.isEmpty { context.report(.body(response.body)) }
    }
}

/// Passes the reports of shared work on to all its callers, in order. Thread-safe.
final class ReportHub: Sendable {
    private struct State {
        var listeners: [UInt64: ReportListener] = [:]
        var hasStarted = false
        var head: LoadContext.Report?
        var hasBody = false
    }

    private let state = Lock(State())
    /// Held while reports are delivered, so that a listener that joins meanwhile gets neither too much nor too little.
    private let turn = Lock(())

    /// Adds a listener, which gets what it missed but for the body.
    func add(_ listener: ReportListener, _ id: UInt64) {
        turn.withLock { _ in
            let (hasStarted, head, hasBody) = state.withLock { state in
                state.listeners[id] = listener
                return (state.hasStarted, state.head, state.hasBody)
            }
            if hasStarted { listener.take(.started) }
            if let head { hasBody ? listener.takeLate(head) : listener.take(head) }
        }
    }

    /// Removes a listener.
    func remove(_ id: UInt64) { state.withLock { $0.listeners[id] = nil } }

    /// Delivers a report.
    func deliver(_ report: LoadContext.Report) {
        turn.withLock { _ in
            let listeners = state.withLock { state in
                switch report {
                case .started: state.hasStarted = true
                case .head:
                    state.head = report
                    state.hasBody = false
                case .body: state.hasBody = true
                }
                return Array(state.listeners.values)
            }
            for listener in listeners { listener.take(report) }
        }
    }
}
