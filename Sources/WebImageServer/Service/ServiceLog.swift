// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImage
import WebImageConcurrency

/// A log of JSON objects, one per line. This class is thread-safe.
///
/// A dedicated thread writes the lines, so a reader that stalls delays no request. If 10,000 lines wait, further lines
/// are dropped and counted.
package final class ServiceLog: Sendable {
    /// The facts about a request.
    package struct Request: Encodable, Sendable {
        var time: String
        var message = "request"
        var requestID: String
        var traceID: String
        var spanID: String
        var client: String
        var method: String
        var path: String
        var userAgent: String?
        var status: Int
        var bytes: Int
        var isComplete: Bool
        var durationMs: Double
        var queueMs: Double?
        var reason: String?
    }

    private struct Event: Encodable {
        var time: String
        var message: String
        var details: [String: String]
    }

    private struct State {
        var lines = FIFOQueue<Data>()
        var count = 0
        var dropped = 0
        var isWriting = false
        var isClosed = false
    }

    private static let limit = 10_000
    private let state = ConditionVariable(State())

    /// Creates a log that writes to a descriptor, which stays open.
    package init(descriptor: Int32) {
        Thread.detachNewThread { [state] in
            while let lines = Self.next(state) {
                Self.write(lines, descriptor)
                state.withLock(wakeAll: true) { $0.isWriting = false }
            }
        }
    }

    deinit { state.withLock(wakeAll: true) { $0.isClosed = true } }

    /// The number of lines that were dropped.
    package var droppedCount: Int { state.withLock { $0.dropped } }

    /// Adds a line about a request.
    package func add(_ request: Request) { add(json: request) }

    /// Adds a line about an event of the server.
    package func add(_ message: String, _ details: [String: String] = [:]) {
        add(json: Event(time: Self.now(), message: message, details: details))
    }

    /// Blocks until all lines are written, up to 2 seconds.
    package func flush() {
        _ = state.wait(upTo: .seconds(2)) { $0.count == 0 && !$0.isWriting ? .proceed(()) : .wait }
    }

    /// Returns the current time in ISO 8601 with milliseconds.
    package static func now() -> String {
        Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private func add(json value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        guard var line = try? encoder.encode(value) else { return }
        line.append(UInt8(ascii: "\n"))
        state.withLock(wakeAll: true) { state in
            guard state.count < Self.limit else {
                state.dropped += 1
                return
            }
            state.lines.push(line)
            state.count += 1
        }
    }

    private static func next(_ state: ConditionVariable<State>) -> Data? {
        state.wait { state in
            guard state.count > 0 else { return state.isClosed ? .stop : .wait }
            var all = Data()
            while let line = state.lines.pop() { all += line }
            state.count = 0
            state.isWriting = true
            return .proceed(all)
        }
    }

    private static func write(_ lines: Data, _ descriptor: Int32) {
        lines.withUnsafeBytes { bytes in
            var position = 0
            while position < bytes.count {
                let count = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: position), bytes.count - position)
                if count < 0, errno == EINTR { continue }
                // Without a reader, there's nothing to report to.
                if count <= 0 { return }
                position += count
            }
        }
    }
}
