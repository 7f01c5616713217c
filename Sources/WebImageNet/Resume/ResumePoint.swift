// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

/// A part of a body from its beginning, with what is needed to ask for the rest (RFC 9110 14.2, 13.1.5).
struct ResumePoint: Sendable, Equatable {
    /// What is known of a body whose rest could be asked for later.
    struct Plan: Sendable, Equatable, Codable {
        /// The head of the whole: status 200, the whole's Content-Length.
        var head: ResponseHead
        /// The value of If-Range.
        var validator: String
        /// Content codings of the bytes, in lower case; empty for none.
        var coding: String
        /// Bytes of the whole, coded.
        var total: Int
    }

    /// What the bytes are part of.
    var plan: Plan
    /// The bytes from 0, as they came over the wire.
    var bytes: Data
    /// When they came.
    var stored: Date

    /// Range: everything from where the bytes end.
    var range: String { "bytes=\(bytes.count)-" }
}

extension ResumePoint.Plan {
    /// Seconds that Last-Modified must lie before Date to count as strong (RFC 9110 8.8.2.2).
    static let strongAge = 60.0

    /// nil where the rest of the body cannot be asked for safely: no strong validator, no known length, a server
    /// that refuses ranges or forbids storing.
    init?(_ head: ResponseHead, total: Int) {
        guard head.status == 200, total > 1, let validator = Self.validator(head.fields),
            head.fields["Accept-Ranges"]?.lowercased() != "none", !CacheControl(head.fields).noStore
        else { return nil }
        self.init(head: head, validator: validator, coding: Self.coding(head.fields) ?? "", total: total)
    }

    /// The strong validator: a strong entity tag, else a Last-Modified that is old enough. nil where there is none;
    /// a weak entity tag says that bytes may differ, whatever Last-Modified says.
    static func validator(_ fields: HTTPFields) -> String? {
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

    /// The content codings without blanks and `identity`; nil where the field is not there.
    static func coding(_ fields: HTTPFields) -> String? {
        fields.combined("Content-Encoding").map { value in
            value.lowercased().split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
                .filter { !$0.isEmpty && $0 != "identity" }.joined(separator: ",")
        }
    }

    /// The head of the whole after `partial`, the head of a 206, brought the rest: its fields count, but for those
    /// that describe the part alone (RFC 9110 15.3.7.3).
    func merged(with partial: ResponseHead) -> ResponseHead {
        let own: Set<String> = ["content-length", "content-range", "content-encoding", "transfer-encoding"]
        var fields = head.fields
        let news = partial.fields.lines.filter { !own.contains($0.name.lowercased()) }
        for name in Set(news.map { $0.name.lowercased() }) { fields[name] = nil }
        for line in news { fields.append(name: line.name, value: line.value) }
        return ResponseHead(status: 200, fields: fields)
    }
}
