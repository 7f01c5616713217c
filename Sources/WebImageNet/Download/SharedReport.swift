// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// A report of a load that several callers share, with a summary for callers that join later.
struct SharedReport: Sendable {
    /// The number of the report within the load, starting at 1.
    let number: Int
    let report: LoadContext.Report
    /// The state of the load after the report.
    let summary: Summary

    /// The part of the reports so far that a late caller still needs. A late caller receives the body from the
    /// response.
    struct Summary: Sendable {
        fileprivate(set) var wait: WaitReason?
        fileprivate(set) var hasStarted = false
        fileprivate(set) var head: LoadContext.Report?
        fileprivate(set) var hasBody = false
    }
}

/// A relay that numbers and summarizes the reports of one shared load. Thread-safe.
final class ReportRelay: Sendable {
    private struct State {
        var count = 0
        var summary = SharedReport.Summary()
    }

    private let state = Lock(State())

    /// Returns `report` with its number and the summary of all reports so far.
    func next(_ report: LoadContext.Report) -> SharedReport {
        state.withLock { state in
            state.count += 1
            switch report {
            case .waiting(let reason): state.summary.wait = reason
            case .started: state.summary.hasStarted = true
            case .head:
                state.summary.head = report
                state.summary.hasBody = false
            case .body: state.summary.hasBody = true
            }
            return SharedReport(number: state.count, report: report, summary: state.summary)
        }
    }
}

/// One caller of a shared load, whose context receives the reports. Thread-safe.
///
/// If a caller joins after the body began or joins a load without reports, it receives the body in one report at the
/// end. ``SharedJobs`` delivers the reports one at a time and before the result.
final class ReportListener: Sendable {
    private struct State {
        /// The number of the last report of the current load.
        var last = 0
        var hasStarted = false
        var hasHead = false
        /// Whether this caller missed bytes that were received before it joined.
        var misses = true
    }

    private let context: LoadContext
    private let state = Lock(State())

    /// Creates a listener, or returns `nil` if the context doesn't want reports.
    init?(observing context: LoadContext) {
        guard context.isObserved else { return nil }
        self.context = context
    }

    func beginSource() {
        state.withLock { state in
            state.last = 0
            // The head of the failed source doesn't apply to the next one.
            state.hasHead = false
            state.misses = true
        }
    }

    /// Processes a report. Its number shows whether this caller missed earlier ones.
    func receive(_ shared: SharedReport) {
        let isNext = state.withLock { state in
            defer { state.last = shared.number }
            return shared.number == state.last + 1
        }
        guard !isNext else { return receive(shared.report) }
        if shared.summary.hasStarted {
            receive(.started)
        } else if let reason = shared.summary.wait {
            receive(.waiting(reason))
        }
        guard let head = shared.summary.head else { return }
        if shared.summary.hasBody { receiveLate(head) } else { receive(head) }
    }

    private func receive(_ report: LoadContext.Report) {
        let isWanted = state.withLock { state in
            switch report {
            case .waiting: return !state.hasStarted
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

    private func receiveLate(_ head: LoadContext.Report) {
        state.withLock { state in
            state.hasHead = true
            state.misses = true
        }
        context.report(head)
    }

    /// Reports the missed part of `response`.
    func complete(_ response: LoadResponse) {
        let (needsHead, needsBody) = state.withLock { state in
            defer { state.misses = false }
            return (state.misses && !state.hasHead, state.misses)
        }
        if needsHead { context.report(.head(response.httpResponse, expected: response.body.count)) }
        if needsBody, !response.body.isEmpty { context.report(.body(response.body)) }
    }
}
