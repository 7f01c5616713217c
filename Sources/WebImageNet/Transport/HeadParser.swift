// SPDX-License-Identifier: MIT

import WebImageHTTP

/// Takes the header lines of one transfer as libcurl gives them and makes the final answer's head of them. Heads
/// of interim answers (1xx) are kept beside it, trailers ignored.
struct HeadParser {
    /// What a line led to.
    enum Step: Equatable {
        /// More lines are needed.
        case more
        /// The blank line behind the final answer's head.
        case complete(ResponseHead)
        /// More header bytes than ``limit``.
        case tooLarge
        /// Not HTTP.
        case malformed
    }

    /// Most bytes of all header lines of a transfer, interim answers and trailers included.
    static let limit = 64 << 10
    /// More than most heads have, and little enough for the allocator to keep at hand.
    private static let usualBytes = 960

    /// Whether the blank line was seen. libcurl calls a connection that is cut before it a success.
    private(set) var isComplete = false
    /// Heads of interim answers so far.
    private(set) var interim: [ResponseHead] = []
    /// Bytes of header lines so far.
    private(set) var received = 0
    /// Whether a 407 is to be passed over once: libcurl answers it and asks again.
    var awaitsProxyChallenge = false
    /// The 407 that was passed over.
    private var challenge: ResponseHead?
    private var lines: [UInt8] = []

    /// The 407 that was passed over and behind which no other answer began: libcurl had no answer to it.
    var unansweredChallenge: ResponseHead? { lines.isEmpty ? challenge : nil }

    /// Forgets everything: the transfer starts again.
    mutating func reset() { self = HeadParser() }

    mutating func take(_ line: UnsafeRawBufferPointer) -> Step {
        received += line.count
        guard received <= Self.limit else { return .tooLarge }
        guard !isComplete else { return .more }
        // Every answer begins with a status line; what stands before it belongs to an earlier one.
        if line.first == UInt8(ascii: "H"), line.starts(with: "HTTP/".utf8) { lines.removeAll(keepingCapacity: true) }
        guard let first = line.first, first == 13 || first == 10 else {
            if lines.isEmpty { lines.reserveCapacity(Self.usualBytes) }
            lines.append(contentsOf: line)
            return .more
        }
        guard let head = Self.parse(lines) else { return .malformed }
        lines.removeAll(keepingCapacity: true)
        // Nobody asked for another protocol: what follows a 101 is not HTTP.
        guard head.status != 101 else { return .malformed }
        guard head.status >= 200 else {
            interim.append(head)
            return .more
        }
        if head.status == 407, awaitsProxyChallenge {
            awaitsProxyChallenge = false
            challenge = head
            return .more
        }
        isComplete = true
        return .complete(head)
    }

    private typealias Line = Slice<UnsafeBufferPointer<UInt8>>

    /// A status line and fields (RFC 9112 4, 5). Fields whose names are no tokens are dropped; folded lines are
    /// joined by a space.
    static func parse(_ bytes: [UInt8]) -> ResponseHead? {
        bytes.withUnsafeBufferPointer { bytes in
            var rest = bytes[...]
            guard let start = nextLine(&rest), let status = status(start) else { return nil }
            var fields: [HTTPFields.Field] = []
            fields.reserveCapacity(12)
            while let line = nextLine(&rest) { add(line, to: &fields) }
            return ResponseHead(status: status, fields: HTTPFields(fields))
        }
    }

    /// Takes the next line that is not empty.
    private static func nextLine(_ rest: inout Line) -> Line? {
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 10) ?? rest.endIndex
            let line = rest[..<end]
            rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...]
            if !line.isEmpty { return line }
        }
        return nil
    }

    private static func add(_ line: Line, to fields: inout [HTTPFields.Field]) {
        if line.first == 32 || line.first == 9 {
            let folded = text(trimmed(line))
            if let last = fields.popLast() {
                fields.append(.init(name: last.name, value: last.value.isEmpty ? folded : "\(last.value) \(folded)"))
            }
            return
        }
        guard let colon = line.firstIndex(of: 58) else { return }
        let name = line[..<colon]
        guard !name.isEmpty, name.allSatisfy(isTokenByte) else { return }
        fields.append(.init(name: text(name), value: text(trimmed(line[(colon + 1)...]))))
    }

    private static func status(_ line: Line) -> Int? {
        guard let space = line.firstIndex(of: 32) else { return nil }
        let digits = line[(space + 1)...].prefix(3)
        guard digits.count == 3, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    }

    private static func trimmed(_ bytes: Line) -> Line {
        let isBlank = { (byte: UInt8) in byte == 32 || byte == 9 || byte == 13 }
        let start = bytes.drop(while: isBlank)
        guard let last = start.lastIndex(where: { !isBlank($0) }) else { return start[start.endIndex...] }
        return start[...last]
    }

    /// Latin-1: each byte is the scalar of its number. A lone CR is a blank (RFC 9112 2.2).
    private static func text(_ bytes: Line) -> String {
        if bytes.allSatisfy({ $0 < 128 && $0 != 13 }) {
            return String(decoding: UnsafeBufferPointer(rebasing: bytes), as: UTF8.self)
        }
        var text = ""
        text.unicodeScalars.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0 == 13 ? 32 : $0) })
        return text
    }

    /// RFC 9110 5.6.2.
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        case 33, 35...39, 42, 43, 45, 46, 94, 95, 96, 124, 126: true
        default: false
        }
    }
}

extension ResponseHead {
    /// What Content-Length says of the body.
    enum BodyLength: Equatable {
        /// Not told, or chunked.
        case unknown
        case known(Int)
        /// Unequal values, or something else than digits (RFC 9112 6.3: an error that cannot be recovered from).
        case invalid
    }

    /// Whether the end of an HTTP/1 body shows without the end of the connection (RFC 9112 6.3).
    var tellsItsEnd: Bool {
        fields["Transfer-Encoding"] != nil || fields["Content-Length"] != nil || status == 204 || status == 304
    }

    /// Reads Content-Length: repeats and lists of one and the same number are that number.
    var bodyLength: BodyLength {
        guard fields["Transfer-Encoding"] == nil, let text = fields.combined("Content-Length") else { return .unknown }
        if text.utf8.allSatisfy({ (48...57).contains($0) }), let length = Int(text) { return .known(length) }
        var length: Int?
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = part.trimmingBlanks()
            // libcurl would take the digits that "3;" or "+3" begin with.
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return .invalid }
            let value = Int(digits) ?? .max
            guard length == nil || length == value else { return .invalid }
            length = value
        }
        return length.map { .known($0) } ?? .unknown
    }
}

extension Substring {
    /// Without blanks and tabs at both ends.
    fileprivate func trimmingBlanks() -> Substring {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        var rest = drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }
}
