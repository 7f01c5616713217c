// SPDX-License-Identifier: MIT

import Foundation

/// The response that the cache sends from a stored one: the complete body, a byte range, only the head, or status 304.
package struct CachedReply: Sendable, Hashable {
    /// The status and the header fields, with the current `Age` (RFC 9111 5.1).
    package var head: HTTPResponseHead
    /// The byte range of the stored body to send. It's empty for a 304 response, a 416 response, and HEAD requests.
    package var body: Range<Int>

    /// Creates the response to a request for which ``StoredResponseHead/canServe(_:)`` returns `true`. `size` is that
    /// of the stored body, in bytes. `Age` depends on `now`.
    package static func make(to request: RequestHead, from stored: StoredResponseHead, size: Int, now: Date)
        -> CachedReply
    {
        var head = stored.head
        let age = stored.ageField(now: now)
        if let part = PartialResponse(stored)?.reply(to: request, age: .init(name: "Age", value: age)) { return part }
        head.headers["Age"] = age
        if head.statusCode == 200, stored.isUnmodified(for: request) {
            return CachedReply(head: head.without(statusCode: 304), body: 0..<0)
        }
        if request.method == "HEAD" { return CachedReply(head: head, body: 0..<0) }
        guard head.statusCode == 200, let range = request.range.flatMap(ByteRange.init),
            stored.mayServeRange(of: request)
        else { return CachedReply(head: head, body: 0..<size) }
        guard let part = range.resolved(in: size) else {
            head = head.without(statusCode: 416)
            head.headers["Content-Range"] = "bytes */\(size)"
            return CachedReply(head: head, body: 0..<0)
        }
        head.statusCode = 206
        head.headers["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
        head.headers["Content-Length"] = String(part.count)
        return CachedReply(head: head, body: part)
    }
}

extension HTTPResponseHead {
    /// Returns this head with another status and without the header fields that describe the body (RFC 9110 15.4.5).
    fileprivate func without(statusCode: Int) -> HTTPResponseHead {
        let described = [
            "content-length", "content-type", "content-encoding", "content-language", "content-range", "content-md5",
        ]
        return HTTPResponseHead(
            statusCode: statusCode,
            headers: HTTPHeaderFields(headers.lines.filter { !described.contains($0.name.lowercased()) }))
    }
}

extension StoredResponseHead {
    /// Returns the value of `Age` for a response that a cache sends at a time (RFC 9111 5.1).
    package func ageField(now: Date) -> String {
        let longest = Double(CacheControl.longest)
        let seconds = age(now: now)
        return String(Int((seconds < longest ? max(seconds, 0) : longest).rounded(.down)))
    }

    /// Returns whether the conditions of the request indicate that the caller already has this response (RFC 9110
    /// 13.2.2).
    func isUnmodified(for request: RequestHead) -> Bool {
        // If `If-None-Match` is present, `If-Modified-Since` is ignored (RFC 9110 13.1.3).
        if let asked = request.headers.combined("If-None-Match") {
            let own = head.headers["ETag"]
            return EntityTag.list(asked).contains { asked in
                asked == "*" || own.map { EntityTag.isSameText(asked, $0) } == true
            }
        }
        guard let text = request.headers["If-Modified-Since"],
            let since = HTTPDate.parse(text, now: responseTime)
        else { return false }
        // Without `Last-Modified`, a cache compares with `Date` or with the time of the response (RFC 9111 4.3.2).
        let known = head.headers["Last-Modified"] ?? head.headers["Date"]
        return (known.flatMap { HTTPDate.parse($0, now: responseTime) } ?? responseTime) <= since
    }

    /// Returns whether `If-Range` is absent or identifies exactly this response (RFC 9110 13.1.5).
    func mayServeRange(of request: RequestHead) -> Bool {
        guard let condition = request.headers["If-Range"] else { return true }
        // A weak tag doesn't guarantee that the range fits the bytes of the client.
        if let tag = EntityTag(condition) { return entityTag?.isStronglyEqual(tag) == true }
        guard condition == head.headers["Last-Modified"], let modified = HTTPDate.parse(condition, now: responseTime)
        else { return false }
        // A modification time less than one second before the response is not a strong validator (RFC 9110 8.8.2.2).
        return (head.headers["Date"].flatMap { HTTPDate.parse($0, now: responseTime) } ?? responseTime)
            .timeIntervalSince(modified) >= 1
    }
}
