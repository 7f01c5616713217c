// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// Records what a manager does in the form that Chrome's `about:tracing` and Perfetto read ("Trace Event Format",
/// complete events): one row for each worker thread, and as many for requests, transfers and the like as run at the
/// same time. Thread-safe.
public final class ChromeTrace: ImageEventsObserver {
    fileprivate struct State {
        var rows: [String: Int] = [:]
        /// The free rows of every kind of work that has no thread of its own, and when they became free.
        var free: [StageEvent.Stage: [Int: ContinuousClock.Instant]] = [:]
        var used: [StageEvent.Stage: Int] = [:]
        var open: [Int: (row: String, number: Int, start: ContinuousClock.Instant)] = [:]
        var spans: [Span] = []
        var dropped = 0
    }

    fileprivate struct Span {
        let row: Int
        let start: ContinuousClock.Instant
        let event: StageEvent
    }

    private let state = Lock(State())
    private let limit: Int
    private let showsSecrets: Bool
    private let origin = ContinuousClock.now

    /// Creates an empty recording.
    ///
    /// - Parameters:
    ///   - limit: events kept at most; later ones are counted and left out. Default one million.
    ///   - showsSecrets: whether queries and credentials of URLs are recorded too. Default false.
    public init(limit: Int = 1_000_000, showsSecrets: Bool = false) {
        self.limit = limit
        self.showsSecrets = showsSecrets
    }

    /// Records a piece of work when it is over.
    public func observe(_ event: StageEvent) {
        state.withLock { state in
            switch event.phase {
            case .began: state.begin(event)
            case .ended: state.end(event, limit: limit)
            }
        }
    }

    /// The recording as JSON. What has not ended is not in it.
    public func json() -> Data {
        let (rows, spans, dropped) = state.withLock { ($0.rows, $0.spans, $0.dropped) }
        let names = rows.map { name, row in
            Entry(
                name: "thread_name", ph: "M", pid: 1, tid: row, ts: 0, dur: nil, cat: nil,
                args: ["name": .text(name)])
        }
        let document = Document(
            traceEvents: names.sorted { $0.tid < $1.tid } + spans.map(entry), displayTimeUnit: "ms",
            otherData: ["dropped": dropped])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(document)) ?? Data()
    }

    private func entry(_ span: Span) -> Entry {
        let event = span.event
        let text = { [showsSecrets] (text: String) in showsSecrets ? text : Redaction.text(text) }
        var args: [String: Value] = [
            "url": .text(text(event.url.absoluteString)), "request": .number(event.request),
            "span": .number(event.span),
        ]
        if !event.detail.isEmpty { args["detail"] = .text(event.detail) }
        if let key = event.key { args["key"] = .text(String(key.fileName.prefix(16))) }
        if let origin = event.origin { args["origin"] = .text(origin.rawValue) }
        if let bytes = event.bytes { args["bytes"] = .number(bytes) }
        if let size = event.size { args["size"] = .text("\(size.width)x\(size.height)") }
        if let error = event.error { args["error"] = .text(text("\(error)")) }
        return Entry(
            name: event.stage.rawValue, ph: "X", pid: 1, tid: span.row, ts: microseconds(origin, span.start),
            dur: microseconds(span.start, event.time), cat: "webimage", args: args)
    }

    private func microseconds(_ start: ContinuousClock.Instant, _ end: ContinuousClock.Instant) -> Double {
        max(0, start.duration(to: end) / .microseconds(1))
    }
}

extension ChromeTrace.State {
    fileprivate mutating func begin(_ event: StageEvent) {
        var (row, number) = (event.lane ?? "", 0)
        if event.lane == nil {
            // What began before another ended may be told of after that end: it must not lie over it.
            if let first = free[event.stage]?.filter({ $0.value <= event.time }).keys.min() {
                free[event.stage]?[first] = nil
                number = first
            } else {
                number = used[event.stage, default: 0]
                used[event.stage] = number + 1
            }
            row = "\(event.stage.rawValue) \(number + 1)"
        }
        if rows[row] == nil { rows[row] = rows.count + 1 }
        open[event.span] = (row, number, event.time)
    }

    fileprivate mutating func end(_ event: StageEvent, limit: Int) {
        guard let begun = open.removeValue(forKey: event.span), let row = rows[begun.row] else { return }
        if event.lane == nil { free[event.stage, default: [:]][begun.number] = event.time }
        guard spans.count < limit else {
            dropped += 1
            return
        }
        spans.append(.init(row: row, start: begun.start, event: event))
    }
}

extension ChromeTrace {
    private struct Document: Encodable {
        let traceEvents: [Entry]
        let displayTimeUnit: String
        let otherData: [String: Int]
    }

    private struct Entry: Encodable {
        let name: String
        let ph: String
        let pid: Int
        let tid: Int
        let ts: Double
        let dur: Double?
        let cat: String?
        let args: [String: Value]
    }

    private enum Value: Encodable {
        case text(String)
        case number(Int)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            }
        }
    }
}
