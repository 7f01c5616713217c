// SPDX-License-Identifier: MIT

import Foundation

/// What the caller gets of a stored answer: the whole, a part, only the head, or that nothing changed.
public struct StoredReply: Sendable, Hashable {
    /// Status and fields, with the present Age (RFC 9111 5.1).
    public var head: ResponseHead
    /// Which bytes of the stored body are given; empty for a 304, a 416 and HEAD.
    public var body: Range<Int>

    /// The reply to `request`, which ``StoredHead/canAnswer(_:)`` allows.
    ///
    /// - Parameters:
    ///   - size: bytes of the stored body.
    ///   - now: the present time, for Age.
    public static func make(to request: RequestHead, from stored: StoredHead, size: Int, now: Date) -> StoredReply {
        var head = stored.head
        let longest = Double(CacheControl.longest)
        let seconds = stored.age(now: now)
        let age = String(Int((seconds < longest ? max(seconds, 0) : longest).rounded(.down)))
        if let part = StoredPart(stored)?.reply(to: request, age: .init(name: "Age", value: age)) { return part }
        head.fields["Age"] = age
        if head.status == 200, stored.isUnmodified(for: request) {
            return StoredReply(head: head.without(status: 304), body: 0..<0)
        }
        if request.method == "HEAD" { return StoredReply(head: head, body: 0..<0) }
        guard head.status == 200, let range = request.range.flatMap(ByteRange.init),
            stored.mayAnswerPart(of: request)
        else { return StoredReply(head: head, body: 0..<size) }
        guard let part = range.resolved(in: size) else {
            head = head.without(status: 416)
            head.fields["Content-Range"] = "bytes */\(size)"
            return StoredReply(head: head, body: 0..<0)
        }
        head.status = 206
        head.fields["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
        head.fields["Content-Length"] = String(part.count)
        return StoredReply(head: head, body: part)
    }
}

extension ResponseHead {
    /// This head as one of another status without a body: what describes the body goes (RFC 9110 15.4.5).
    fileprivate func without(status: Int) -> ResponseHead {
        let described = [
            "content-length", "content-type", "content-encoding", "content-language", "content-range", "content-md5",
        ]
        return ResponseHead(
            status: status, fields: HTTPFields(fields.lines.filter { !described.contains($0.name.lowercased()) }))
    }
}

extension StoredHead {
    /// Whether the caller's own conditions say that it has this answer already (RFC 9110 13.2.2).
    func isUnmodified(for request: RequestHead) -> Bool {
        if let asked = request.fields.combined("If-None-Match") {
            let own = head.fields["ETag"]
            return EntityTag.list(asked).contains { asked in
                asked == "*" || own.map { EntityTag.isSameText(asked, $0) } == true
            }
        }
        guard let text = request.fields["If-Modified-Since"],
            let since = HTTPDate.parse(text, now: responseTime)
        else { return false }
        let known = head.fields["Last-Modified"] ?? head.fields["Date"]
        return (known.flatMap { HTTPDate.parse($0, now: responseTime) } ?? responseTime) <= since
    }

    /// Whether If-Range, where there is one, names exactly this answer (RFC 9110 13.1.5).
    func mayAnswerPart(of request: RequestHead) -> Bool {
        guard let condition = request.fields["If-Range"] else { return true }
        if let tag = EntityTag(condition) { return entityTag?.isStronglyEqual(tag) == true }
        guard condition == head.fields["Last-Modified"], let modified = HTTPDate.parse(condition, now: responseTime)
        else { return false }
        // A time that is not well before the answer's is no strong validator (RFC 9110 8.8.2.2).
        return (head.fields["Date"].flatMap { HTTPDate.parse($0, now: responseTime) } ?? responseTime)
            .timeIntervalSince(modified) >= 1
    }
}
