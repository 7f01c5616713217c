// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// A request to an ``ImageServer``, as an HTTP server received it.
public struct ServerRequest: Sendable {
    /// The method, such as `GET`.
    public var method: String
    /// The path and the query as they appear in the request line, without decoding.
    public var target: String
    /// The header fields.
    public var headers: HTTPHeaderFields

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: The method. The default is `GET`.
    ///   - target: The path and the query, without decoding.
    ///   - headers: The header fields. The default is none.
    public init(method: String = "GET", target: String, headers: HTTPHeaderFields = HTTPHeaderFields()) {
        self.method = method
        self.target = target
        self.headers = headers
    }
}

/// The response of an ``ImageServer``.
public struct ServerResponse: Sendable {
    /// The status code.
    public var statusCode: Int
    /// The header fields, including `Content-Length`.
    public var headers: HTTPHeaderFields
    /// The data to send. It's empty for `HEAD` and for the status code 304.
    public var body: Data
    /// The size of the body that a response with the status code 304 omits, in bytes. HTTP servers that send the length
    /// of each response send this one (RFC 9110, section 8.6).
    package var omittedByteCount: Int?

    /// Creates a response.
    public init(statusCode: Int, headers: HTTPHeaderFields = HTTPHeaderFields(), body: Data = Data()) {
        self.statusCode = statusCode
        self.headers = headers
        self.body = body
    }

    /// Returns the body in chunks, for servers that wait until a chunk is sent before they request the next one.
    ///
    /// The chunks share the memory of ``body``.
    ///
    /// - Parameter size: The maximum size of a chunk in bytes, at least one. The default is 64 KiB.
    public func chunks(of size: Int = 65_536) -> ServerBodyChunks { ServerBodyChunks(body: body, size: max(1, size)) }
}

/// The body of a response in chunks.
public struct ServerBodyChunks: AsyncSequence, Sequence, Sendable {
    fileprivate let body: Data
    fileprivate let size: Int

    /// An iterator over the chunks.
    public struct Iterator: AsyncIteratorProtocol, IteratorProtocol, Sendable {
        fileprivate var rest: Data
        fileprivate let size: Int

        /// Returns the next chunk, or `nil` after the last one.
        public mutating func next() -> Data? {
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(size) }
            return rest.prefix(size)
        }
    }

    /// Returns an iterator that begins with the first chunk.
    public func makeIterator() -> Iterator { Iterator(rest: body, size: size) }
    /// Returns an iterator that begins with the first chunk.
    public func makeAsyncIterator() -> Iterator { makeIterator() }
}
