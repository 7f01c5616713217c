// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A recorder of a manager's work in the Trace Event Format, which Chrome's `about:tracing` and Perfetto read.
///
/// The trace consists of complete events. It has one row for each worker thread. For other stages, such as requests and
/// transfers, it has as many rows as run at the same time. This class is thread-safe.
public final class ChromeTraceObserver: ImageManagerObserver {
    fileprivate struct State {
        var rows: [String: Int] = [:]
        /// The free rows of each stage without a dedicated thread, with the time at which they became free.
        var free: [ImageManager.Stage: [Int: ContinuousClock.Instant]] = [:]
        var used: [ImageManager.Stage: Int] = [:]
        var open: [Int: (row: String, number: Int, start: ContinuousClock.Instant)] = [:]
        var spans: [Span] = []
        var dropped = 0
    }

    fileprivate struct Span {
        let row: Int
        let start: ContinuousClock.Instant
        let event: ImageManager.Event
    }

    private let state = Lock(State())
    private let limit: Int
    private let showsSecrets: Bool
    private let origin = ContinuousClock.now

    /// Creates an empty recording.
    ///
    /// - Parameters:
    ///   - maxEvents: The maximum number of recorded events. Further events are only counted. The default is one
    ///     million.
    ///   - includesSecrets: A Boolean value that indicates whether to record queries and credentials of URLs. The
    ///     default is `false`.
    public init(maxEvents: Int = 1_000_000, includesSecrets: Bool = false) {
        self.limit = maxEvents
        self.showsSecrets = includesSecrets
    }

    /// Records an event. Each piece of work appears in the recording when it ends.
    public func observe(_ event: ImageManager.Event) {
        state.withLock { state in
            switch event.phase {
            case .began: state.begin(event)
            case .ended: state.end(event, limit: limit)
            }
        }
    }

    /// Returns the recording as JSON. It doesn't include work that hasn't ended.
    public func jsonData() -> Data {
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
            "url": .text(text(event.url.absoluteString)), "request": .number(event.requestID),
            "span": .number(event.spanID),
        ]
        if !event.details.isEmpty { args["detail"] = .text(event.details) }
        if let key = event.cacheKey { args["key"] = .text(String(key.fileName.prefix(16))) }
        if let origin = event.source { args["origin"] = .text(origin.rawValue) }
        if let bytes = event.byteCount { args["bytes"] = .number(bytes) }
        if let size = event.imageSize { args["size"] = .text("\(size.width)x\(size.height)") }
        if let error = event.error { args["error"] = .text(text("\(error)")) }
        return Entry(
            name: event.stage.rawValue, ph: "X", pid: 1, tid: span.row, ts: microseconds(origin, span.start),
            dur: microseconds(span.start, event.time), cat: "webimage", args: args)
    }

    private func microseconds(_ start: ContinuousClock.Instant, _ end: ContinuousClock.Instant) -> Double {
        max(0, start.duration(to: end) / .microseconds(1))
    }
}

extension ChromeTraceObserver.State {
    fileprivate mutating func begin(_ event: ImageManager.Event) {
        var (row, number) = (event.threadName ?? "", 0)
        if event.threadName == nil {
            // The end of one event can be reported before the beginning of another event that overlaps it. Don't put
            // overlapping events on the same row.
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
        open[event.spanID] = (row, number, event.time)
    }

    fileprivate mutating func end(_ event: ImageManager.Event, limit: Int) {
        guard let begun = open.removeValue(forKey: event.spanID), let row = rows[begun.row] else { return }
        if event.threadName == nil { free[event.stage, default: [:]][begun.number] = event.time }
        guard spans.count < limit else {
            dropped += 1
            return
        }
        spans.append(.init(row: row, start: begun.start, event: event))
    }
}

extension ChromeTraceObserver {
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
