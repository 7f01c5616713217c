// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// The position of a request in a distributed trace (W3C Trace Context, level 1).
package struct TraceContext: Sendable, Hashable {
    /// The number of the trace, as 32 hexadecimal digits.
    package let traceID: String
    /// The number of the span, as 16 hexadecimal digits.
    package let spanID: String
    /// The flags, as 2 hexadecimal digits.
    package let flags: String

    /// Parses a `traceparent` header field. Returns `nil` if it isn't valid.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 4, parts[0] != "ff", parts[0] != "00" || parts.count == 4 else { return nil }
        for (part, count) in zip(parts, [2, 32, 16, 2]) {
            let isValid = part.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
            guard part.utf8.count == count, isValid else { return nil }
        }
        guard parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" }) else { return nil }
        (traceID, spanID, flags) = (parts[1], parts[2], parts[3])
    }

    private init(traceID: String, flags: String) {
        self.traceID = traceID
        self.flags = flags
        spanID = Self.hexadecimal(UInt64.random(in: 1...UInt64.max))
    }

    /// Creates the first span of a new trace, which isn't sampled.
    package static func root() -> TraceContext {
        let traceID = hexadecimal(UInt64.random(in: 1...UInt64.max)) + hexadecimal(UInt64.random(in: 0...UInt64.max))
        return TraceContext(traceID: traceID, flags: "00")
    }

    /// Returns a span whose parent is this span.
    package func child() -> TraceContext { TraceContext(traceID: traceID, flags: flags) }

    /// The value of the header field `traceparent`.
    package var header: String { "00-\(traceID)-\(spanID)-\(flags)" }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension ImageRequest {
    /// Adds the trace context of a request to the server, so that origins receive it.
    mutating func addTrace(of request: ServerRequest) {
        guard let trace = request.headers["traceparent"].flatMap(TraceContext.init) else { return }
        headers.append(name: "traceparent", value: trace.header)
        let state = request.headers.values(for: "tracestate").joined(separator: ",")
        let isValid = state.utf8.allSatisfy { (0x20...0x7E).contains($0) } && (1...512).contains(state.utf8.count)
        if isValid { headers.append(name: "tracestate", value: state) }
    }
}
