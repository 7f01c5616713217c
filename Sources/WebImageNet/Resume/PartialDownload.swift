// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

/// The first bytes of a body, with the values needed to request the rest (RFC 9110 14.2, 13.1.5).
struct PartialDownload: Sendable, Equatable {
    /// The properties of a body whose rest can be requested later.
    struct Validator: Sendable, Equatable, Codable {
        /// The head of the complete response, with status 200 and the complete `Content-Length`.
        var head: HTTPResponseHead
        /// The value of `If-Range`.
        var validator: String
        /// The content codings of the bytes in lowercase, or an empty string for none.
        var coding: String
        /// The size of the complete encoded body, in bytes.
        var total: Int
    }

    var plan: Validator
    /// The bytes from the start of the body, as transferred.
    var bytes: Data
    /// The time at which the bytes were received.
    var stored: Date

    /// The value of `Range` for the bytes after these.
    var range: String { "bytes=\(bytes.count)-" }
}

extension PartialDownload.Validator {
    /// The minimum time between `Last-Modified` and `Date`, in seconds, for a strong validator (RFC 9110 8.8.2.2).
    static let strongAge = 60.0

    /// Returns `nil` if the rest of the body can't be requested safely: there is no strong validator or known length,
    /// or the server rejects ranges or forbids storing.
    init?(_ head: HTTPResponseHead, total: Int) {
        guard head.statusCode == 200, total > 1, let validator = Self.validator(head.headers),
            head.headers["Accept-Ranges"]?.lowercased() != "none", !CacheControl(head.headers).noStore
        else { return nil }
        self.init(head: head, validator: validator, coding: Self.coding(head.headers) ?? "", total: total)
    }

    /// Returns a strong entity tag, or a `Last-Modified` that is old enough. A weak entity tag means that the bytes may
    /// differ, regardless of `Last-Modified`.
    static func validator(_ fields: HTTPHeaderFields) -> String? {
        if let text = fields["ETag"] {
            guard let tag = EntityTag(text), !tag.isWeak else { return nil }
            return tag.description
        }
        guard let text = fields["Last-Modified"], let modified = HTTPDate.parse(text),
            let date = fields["Date"].flatMap({ HTTPDate.parse($0) }),
            date.timeIntervalSince(modified) >= strongAge
        else { return nil }
        return text
    }

    /// Returns the content codings without whitespace and `identity`, or `nil` if the header field is absent.
    static func coding(_ fields: HTTPHeaderFields) -> String? {
        fields.combined("Content-Encoding").map { value in
            value.lowercased().split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
                .filter { !$0.isEmpty && $0 != "identity" }.joined(separator: ",")
        }
    }

    /// The header fields of the 206 response `partial` replace the stored ones, except those that describe only the
    /// part (RFC 9110 15.3.7.3).
    func merged(with partial: HTTPResponseHead) -> HTTPResponseHead {
        let own: Set<String> = ["content-length", "content-range", "content-encoding", "transfer-encoding"]
        var fields = head.headers
        let news = partial.headers.lines.filter { !own.contains($0.name.lowercased()) }
        for name in Set(news.map { $0.name.lowercased() }) { fields[name] = nil }
        for line in news { fields.append(name: line.name, value: line.value) }
        return HTTPResponseHead(statusCode: 200, headers: fields)
    }
}
