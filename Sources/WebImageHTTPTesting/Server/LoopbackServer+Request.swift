// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

extension LoopbackServer {
    /// A request that the loopback server received.
    public struct Request: Sendable {
        /// The index of the request in the order of arrival over all connections, starting at 0.
        public let index: Int
        /// The number of the connection, starting at 0.
        public let connection: Int
        /// The method, such as `GET` or `HEAD`.
        public let method: String
        /// The path and the query as received.
        public let target: String
        /// The header fields in the order of their arrival.
        public let headers: HTTPHeaderFields
        /// The body, which may be empty.
        public let body: Data

        /// The target without its query.
        public var path: String { String(target.prefix { $0 != "?" }) }
        /// The part of the target after the question mark, or `nil` if there is no query.
        public var query: String? {
            target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
        }
    }
}

/// A parser for the requests of one connection (RFC 9112). Bodies require a Content-Length.
struct RequestParser {
    /// A request without the properties that only the server knows.
    struct Message: Equatable {
        var method: String
        var target: String
        var version: String
        var headers: HTTPHeaderFields
        var body: Data
    }

    enum Failure: Error {
        case malformed
        case tooLarge
    }

    static let headLimit = 64 << 10
    static let bodyLimit = 16 << 20

    private var buffer: [UInt8] = []

    mutating func append(_ bytes: some Sequence<UInt8>) { buffer.append(contentsOf: bytes) }

    /// Returns the next complete request, or `nil` if more bytes are needed.
    mutating func next() throws(Failure) -> Message? {
        // Fail immediately for TLS and other protocols.
        if let first = buffer.first, !(65...90).contains(first) { throw .malformed }
        guard let headEnd = endOfHead() else {
            if buffer.count > Self.headLimit { throw .tooLarge }
            return nil
        }
        var message = try Self.parseHead(buffer[..<headEnd])
        let length = try Self.bodyLength(message.headers)
        guard length <= Self.bodyLimit else { throw .tooLarge }
        guard buffer.count >= headEnd + length else { return nil }
        message.body = Data(buffer[headEnd..<(headEnd + length)])
        buffer.removeFirst(headEnd + length)
        return message
    }

    private func endOfHead() -> Int? {
        guard buffer.count >= 4 else { return nil }
        for index in 3..<buffer.count where buffer[index] == 10 {
            if buffer[index - 1] == 13, buffer[index - 2] == 10, buffer[index - 3] == 13 { return index + 1 }
        }
        return nil
    }

    private static func bodyLength(_ fields: HTTPHeaderFields) throws(Failure) -> Int {
        guard fields["Transfer-Encoding"] == nil else { throw .malformed }
        guard let text = fields["Content-Length"] else { return 0 }
        guard let length = Int(text), length >= 0 else { throw .malformed }
        return length
    }

    private static func parseHead(_ bytes: ArraySlice<UInt8>) throws(Failure) -> Message {
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map { line in
            latin1(line.last == 13 ? line.dropLast() : line)
        }
        let start = lines[0].split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard start.count == 3, start[2].hasPrefix("HTTP/1.") else { throw .malformed }
        var fields = HTTPHeaderFields()
        for line in lines.dropFirst() where !line.isEmpty {
            guard let colon = line.firstIndex(of: ":") else { throw .malformed }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            fields.append(name: String(line[..<colon]), value: value)
        }
        return Message(method: start[0], target: start[1], version: start[2], headers: fields, body: Data())
    }

    private static func latin1(_ bytes: ArraySlice<UInt8>) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
        return text
    }
}
