// SPDX-License-Identifier: MIT

import Foundation

/// A part of a representation as a cache keeps it (RFC 9111 3.3): a 206 whose Content-Range tells exactly which bytes
/// its body is.
public struct StoredPart: Sendable, Hashable {
    /// Status 206 and fields; among its selecting fields is the Range that it answered.
    public private(set) var head: StoredHead
    /// Which bytes of the whole it has.
    public let bytes: Range<Int>
    /// Bytes of the whole; nil where the server did not tell.
    public let total: Int?

    /// Parts are joined up to so many bytes: 4 MiB. Each join copies and stores all of it, which must not happen for each
    /// of a thousand small ranges of a large body.
    public static let longestJoined = 4 << 20

    /// Reads what is stored; nil for anything but a part.
    public init?(_ head: StoredHead) {
        guard head.head.status == 206, !head.isCoded,
            case .bytes(let first, let last, let total)? = head.head.fields["Content-Range"].flatMap(ContentRange.init),
            last < .max
        else { return nil }
        self.head = head
        self.bytes = first..<(last + 1)
        self.total = total
    }

    /// What is stored of a 206 that answered a request for `range`; nil for what cannot be placed in the whole: several
    /// parts, coded bytes, none or more bytes than were told.
    ///
    /// - Parameter size: bytes of its body. Fewer than were told are the first of them.
    public init?(storing head: StoredHead, range: String, size: Int) {
        guard let told = StoredPart(head), size > 0, size <= told.bytes.count else { return nil }
        self.init(told.head, bytes: told.bytes.lowerBound..<(told.bytes.lowerBound + size), total: told.total)
        self.head.varying["Range"] = range
    }

    private init(_ head: StoredHead, bytes: Range<Int>, total: Int?) {
        self.head = head
        self.bytes = bytes
        self.total = total
        self.head.head.fields["Content-Range"] = Self.contentRange(bytes, total)
        self.head.head.fields["Content-Length"] = String(bytes.count)
    }

    /// Where in the stored body the answer to `request` is; nil where not all of it is there.
    public func offsets(for request: RequestHead) -> Range<Int>? {
        guard let range = request.range, !request.isConditional, head.mayAnswerPart(of: request) else { return nil }
        if range == head.varying["Range"] { return 0..<bytes.count }
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

    /// This part and a `newer` one in one (RFC 9111 3.4); the head is a 200 where nothing is missing any more. Nil where
    /// it is not certain that they are of the same bytes, where there is a gap between them, and where they are more
    /// than ``longestJoined`` bytes.
    ///
    /// - Parameters:
    ///   - body: the bytes of this part.
    ///   - newerBody: the bytes of the newer one.
    public func joined(_ body: Data, with newer: StoredPart, _ newerBody: Data) -> (head: StoredHead, body: Data)? {
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
        merged.varying = newer.head.varying
        merged.varying["Range"] = nil
        let part = StoredPart(merged, bytes: union, total: known)
        return (part.completed ?? part.head, body.prefix(before) + newerBody + body.suffix(after))
    }

    /// The head of the whole, where this is all of it.
    public var completed: StoredHead? {
        guard bytes.lowerBound == 0, bytes.upperBound == total else { return nil }
        var whole = head
        whole.head.status = 200
        whole.head.fields["Content-Range"] = nil
        whole.varying["Range"] = nil
        return whole
    }

    /// The answer to `request` out of a stored body.
    func reply(to request: RequestHead, age: HTTPFields.Field) -> StoredReply? {
        guard let offsets = offsets(for: request) else { return nil }
        var reply = head.head
        let first = bytes.lowerBound + offsets.lowerBound
        reply.fields[age.name] = age.value
        reply.fields["Content-Range"] = Self.contentRange(first..<(first + offsets.count), total)
        reply.fields["Content-Length"] = String(offsets.count)
        return StoredReply(head: reply, body: offsets)
    }

    private static func contentRange(_ bytes: Range<Int>, _ total: Int?) -> String {
        "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(total.map(String.init) ?? "*")"
    }
}
