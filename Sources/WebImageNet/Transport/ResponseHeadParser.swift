// SPDX-License-Identifier: MIT

import WebImageHTTP

/// A parser that creates the head of the final response from the header lines that libcurl delivers.
///
/// It also collects the heads of interim responses (1xx) and ignores trailers.
struct ResponseHeadParser {
    enum Step: Equatable {
        case more
        /// The empty line after the final response head.
        case complete(HTTPResponseHead)
        case tooLarge
        case tooManyLines
        case malformed
    }

    /// The maximum size of all header lines of a transfer, including interim responses and trailers, in bytes.
    static let limit = 64 << 10
    /// Folded lines count. Joining many of them takes quadratic time.
    static let maxLines = 1_000
    /// The initial capacity in bytes. It suffices for most heads, and blocks of this size are cheap to allocate.
    private static let usualBytes = 960

    /// Whether the empty line was received. libcurl reports success if the connection is closed before it.
    private(set) var isComplete = false
    private(set) var interim: [HTTPResponseHead] = []
    private(set) var received = 0
    /// Whether to skip one 407 response. libcurl responds to it and repeats the request.
    var awaitsProxyChallenge = false
    private var challenge: HTTPResponseHead?
    private var lines: [UInt8] = []
    private var lineCount = 0

    /// This value isn't `nil` if no other response followed, which means that libcurl couldn't respond to the
    /// challenge.
    var unansweredChallenge: HTTPResponseHead? { lines.isEmpty ? challenge : nil }

    mutating func reset() { self = ResponseHeadParser() }

    mutating func receive(_ line: UnsafeRawBufferPointer) -> Step {
        received += line.count
        guard received <= Self.limit else { return .tooLarge }
        guard !isComplete else { return .more }
        // A status line begins a new response, so discard the lines of an earlier one.
        if line.first == UInt8(ascii: "H"), line.starts(with: "HTTP/".utf8) {
            lines.removeAll(keepingCapacity: true)
            lineCount = 0
        }
        guard let first = line.first, first == 13 || first == 10 else {
            if lines.isEmpty { lines.reserveCapacity(Self.usualBytes) }
            lines.append(contentsOf: line)
            lineCount += 1
            return lineCount <= Self.maxLines ? .more : .tooManyLines
        }
        guard let head = Self.parse(lines) else { return .malformed }
        lines.removeAll(keepingCapacity: true)
        // This library never requests a protocol upgrade, so the data after a 101 response isn't HTTP.
        guard head.statusCode != 101 else { return .malformed }
        guard head.statusCode >= 200 else {
            interim.append(head)
            return .more
        }
        if head.statusCode == 407, awaitsProxyChallenge {
            awaitsProxyChallenge = false
            challenge = head
            return .more
        }
        isComplete = true
        return .complete(head)
    }

    private typealias Line = Slice<UnsafeBufferPointer<UInt8>>

    /// Parses a status line and header fields (RFC 9112 4, 5). Header fields with invalid names are skipped, and
    /// folded lines are joined with a space.
    static func parse(_ bytes: [UInt8]) -> HTTPResponseHead? {
        bytes.withUnsafeBufferPointer { bytes in
            var rest = bytes[...]
            guard let start = nextLine(&rest), let status = status(start) else { return nil }
            var fields: [HTTPHeaderFields.Field] = []
            fields.reserveCapacity(12)
            while let line = nextLine(&rest) { add(line, to: &fields) }
            return HTTPResponseHead(statusCode: status, headers: HTTPHeaderFields(fields))
        }
    }

    private static func nextLine(_ rest: inout Line) -> Line? {
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 10) ?? rest.endIndex
            let line = rest[..<end]
            rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...]
            if !line.isEmpty { return line }
        }
        return nil
    }

    private static func add(_ line: Line, to fields: inout [HTTPHeaderFields.Field]) {
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

    /// Decodes Latin-1 text, in which each byte is one scalar. A lone CR becomes a space (RFC 9112 2.2).
    private static func text(_ bytes: Line) -> String {
        if bytes.allSatisfy({ $0 < 128 && $0 != 13 }) {
            return String(decoding: UnsafeBufferPointer(rebasing: bytes), as: UTF8.self)
        }
        var text = ""
        text.unicodeScalars.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0 == 13 ? 32 : $0) })
        return text
    }

    /// Returns whether `byte` is valid in a token (RFC 9110 5.6.2).
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        case 33, 35...39, 42, 43, 45, 46, 94, 95, 96, 124, 126: true
        default: false
        }
    }
}

extension HTTPResponseHead {
    /// The length of a body according to `Content-Length`.
    enum BodyLength: Equatable {
        /// A missing `Content-Length`, or a body with a transfer coding.
        case unknown
        case known(Int)
        /// Different values, or values that aren't numbers, which are an unrecoverable error (RFC 9112 6.3).
        case invalid
    }

    /// Whether the end of an HTTP/1 body is recognizable without the end of the connection (RFC 9112 6.3).
    var isSelfDelimiting: Bool {
        if statusCode == 204 || statusCode == 304 { return true }
        let codings = transferCodings
        return codings.isEmpty ? headers["Content-Length"] != nil : codings.contains("chunked")
    }

    /// Whether the server closes the connection after the response (RFC 9112 9.6).
    var closesConnection: Bool {
        let options = headers.combined("Connection")?.split(separator: ",") ?? []
        return options.contains { $0.trimmingBlanks().lowercased() == "close" }
    }

    /// libcurl ignores `Content-Length` next to every `Transfer-Encoding`, also next to `identity`, and then waits for
    /// the end of the connection.
    var hasIgnoredLength: Bool { headers["Transfer-Encoding"] != nil && transferCodings.isEmpty }

    /// The codings are lowercase and in the order in which they were applied, without `identity`, which means no coding
    /// (RFC 2616 4.4). Later versions of HTTP removed it, but some servers still send it.
    private var transferCodings: [String] {
        guard let text = headers.combined("Transfer-Encoding") else { return [] }
        return text.split(separator: ",").map { $0.trimmingBlanks().lowercased() }
            .filter { !$0.isEmpty && $0 != "identity" }
    }

    /// The length according to `Content-Length`. Repeated values and lists are valid if all numbers are equal.
    var bodyLength: BodyLength {
        guard transferCodings.isEmpty, let text = headers.combined("Content-Length") else { return .unknown }
        if text.utf8.allSatisfy({ (48...57).contains($0) }), let length = Int(text) { return .known(length) }
        var length: Int?
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = part.trimmingBlanks()
            // libcurl would accept the leading digits of values such as "3;" or "+3".
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return .invalid }
            let value = Int(digits) ?? .max
            guard length == nil || length == value else { return .invalid }
            length = value
        }
        return length.map { .known($0) } ?? .unknown
    }
}

extension Substring {
    /// Returns the string without leading and trailing spaces and tabs.
    fileprivate func trimmingBlanks() -> Substring {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        var rest = drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }
}
