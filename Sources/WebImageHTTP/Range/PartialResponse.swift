// SPDX-License-Identifier: MIT

import Foundation

/// A stored part of a representation (RFC 9111 3.3): a 206 response whose `Content-Range` specifies the bytes of its
/// body.
package struct PartialResponse: Sendable, Hashable {
    /// The status 206 and the header fields. The selecting header fields include the `Range` of the original request.
    package private(set) var head: StoredResponseHead
    /// The bytes of the complete representation that this part contains.
    package let bytes: Range<Int>
    /// The size of the complete representation in bytes, or `nil` if it's unknown.
    package let total: Int?

    /// The maximum size of a joined part, in bytes: 4 MiB. Each join copies and stores the entire part, which would be
    /// expensive for thousands of small ranges of a large body.
    package static let longestJoined = 4 << 20

    /// Creates a part from a stored response. Returns `nil` if the response isn't a part.
    package init?(_ head: StoredResponseHead) {
        guard head.head.statusCode == 206, !head.isCoded,
            case .bytes(let first, let last, let total)? = head.head.headers["Content-Range"].flatMap(ContentRange.init),
            last < .max
        else { return nil }
        self.head = head
        self.bytes = first..<(last + 1)
        self.total = total
    }

    /// Creates a part from a 206 response to a request for `range`.
    ///
    /// Returns `nil` if the position of the bytes is unknown, the body is empty or longer than declared, or the
    /// response has multiple parts or a content coding.
    ///
    /// - Parameters:
    ///   - head: The metadata of the response.
    ///   - range: The `Range` header field of the request.
    ///   - size: The size of the body, in bytes. If it's smaller than declared, the body contains the first bytes of
    ///     the range.
    package init?(storing head: StoredResponseHead, range: String, size: Int) {
        guard let declared = PartialResponse(head), size > 0, size <= declared.bytes.count else { return nil }
        self.init(
            declared.head, bytes: declared.bytes.lowerBound..<(declared.bytes.lowerBound + size), total: declared.total)
        self.head.varyHeaders["Range"] = range
    }

    private init(_ head: StoredResponseHead, bytes: Range<Int>, total: Int?) {
        self.head = head
        self.bytes = bytes
        self.total = total
        self.head.head.headers["Content-Range"] = Self.contentRange(bytes, total)
        self.head.head.headers["Content-Length"] = String(bytes.count)
    }

    /// Returns the range of the stored body that serves `request`, or `nil` if the part doesn't contain all requested
    /// bytes.
    package func offsets(for request: RequestHead) -> Range<Int>? {
        guard let range = request.range, !request.isConditional, head.mayServeRange(of: request) else { return nil }
        if range == head.varyHeaders["Range"] { return 0..<bytes.count }
        guard let wanted = ByteRange(range).flatMap(resolved), wanted.lowerBound >= bytes.lowerBound,
            wanted.upperBound <= bytes.upperBound
        else { return nil }
        return (wanted.lowerBound - bytes.lowerBound)..<(wanted.upperBound - bytes.lowerBound)
    }

    private func resolved(_ range: ByteRange) -> Range<Int>? {
        if let total { return range.resolved(in: total) }
        guard case .from(_, let last?) = range, last < bytes.upperBound else { return nil }
        return range.resolved(in: bytes.upperBound)
    }

    /// Returns the union of this part and a newer one (RFC 9111 3.4). If the union is complete, its head has status
    /// 200.
    ///
    /// Returns `nil` if the parts aren't guaranteed to belong to the same representation, if there is a gap between
    /// them, or if the union exceeds ``longestJoined`` bytes.
    ///
    /// - Parameters:
    ///   - body: The bytes of this part.
    ///   - newer: The newer part.
    ///   - newerBody: The bytes of the newer part.
    package func joined(_ body: Data, with newer: PartialResponse, _ newerBody: Data) -> (
        head: StoredResponseHead, body: Data
    )? {
        // Only a strong validator guarantees that both parts have the same bytes (RFC 9111 3.4).
        guard let tag = head.entityTag, let newerTag = newer.head.entityTag, tag.isStronglyEqual(newerTag),
            total == nil || newer.total == nil || total == newer.total,
            bytes.lowerBound <= newer.bytes.upperBound, newer.bytes.lowerBound <= bytes.upperBound,
            body.count == bytes.count, newerBody.count == newer.bytes.count
        else { return nil }
        let before = max(0, newer.bytes.lowerBound - bytes.lowerBound)
        let after = max(0, bytes.upperBound - newer.bytes.upperBound)
        let union =
            min(bytes.lowerBound, newer.bytes.lowerBound)..<max(bytes.upperBound, newer.bytes.upperBound)
        let known = total ?? newer.total
        guard known.map({ union.upperBound <= $0 }) ?? true, union.count <= Self.longestJoined else { return nil }
        var merged = head.merging(
            notModified: newer.head.head, requestTime: newer.head.requestTime, responseTime: newer.head.responseTime)
        merged.limitFreshness(likeNotModified: newer.head)
        merged.varyHeaders = newer.head.varyHeaders
        merged.varyHeaders["Range"] = nil
        let part = PartialResponse(merged, bytes: union, total: known)
        return (part.completed ?? part.head, body.prefix(before) + newerBody + body.suffix(after))
    }

    /// The head of the complete representation, or `nil` if this part isn't complete.
    package var completed: StoredResponseHead? {
        guard bytes.lowerBound == 0, bytes.upperBound == total else { return nil }
        var whole = head
        whole.head.statusCode = 200
        whole.head.headers["Content-Range"] = nil
        whole.varyHeaders["Range"] = nil
        return whole
    }

    func reply(to request: RequestHead, age: HTTPHeaderFields.Field) -> CachedReply? {
        guard let offsets = offsets(for: request) else { return nil }
        var reply = head.head
        let first = bytes.lowerBound + offsets.lowerBound
        reply.headers[age.name] = age.value
        reply.headers["Content-Range"] = Self.contentRange(first..<(first + offsets.count), total)
        reply.headers["Content-Length"] = String(offsets.count)
        return CachedReply(head: reply, body: offsets)
    }

    private static func contentRange(_ bytes: Range<Int>, _ total: Int?) -> String {
        "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(total.map(String.init) ?? "*")"
    }
}
