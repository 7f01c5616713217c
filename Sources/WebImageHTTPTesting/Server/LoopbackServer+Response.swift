// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

extension LoopbackServer {
    /// A response of the loopback server, which can include faults.
    public struct Response: Sendable {
        /// The way in which the end of the body is indicated.
        public enum Framing: Sendable, Hashable {
            /// A correct Content-Length.
            case contentLength
            /// A Content-Length with the given incorrect value.
            case wrongContentLength(Int)
            /// No indication. The server closes the connection after the body.
            case connectionClose
            /// The chunked transfer coding, with one chunk for each piece.
            case chunked
        }

        /// The treatment of the connection after the response.
        public enum Ending: Sendable, Hashable {
            /// Keeps the connection open for further requests.
            case keepAlive
            /// Closes the connection.
            case close
            /// Resets the connection.
            case reset
            /// Keeps the connection open without responding to further requests.
            case stall
        }

        /// The three-digit status code.
        public var statusCode: Int
        /// The header fields except Content-Length and Transfer-Encoding, which `framing` sets.
        public var headers: HTTPHeaderFields
        /// The body.
        public var body: Data
        /// The way in which the end of the body is indicated. The default is
        /// ``LoopbackServer/Response/Framing/contentLength``.
        public var framing: Framing = .contentLength
        /// The treatment of the connection after the response. The default is
        /// ``LoopbackServer/Response/Ending/keepAlive``.
        public var ending: Ending = .keepAlive
        /// A gate to wait for before the first byte of the response.
        public var headGate: TestGate?
        /// A gate to wait for before the first byte of the body.
        public var bodyGate: TestGate?
        /// The number of body bytes that are sent as one piece, or `nil` to send the body as a whole.
        public var chunkSize: Int?
        /// The gates to wait for before the pieces of the body. The server waits for `chunkGates[n]` before piece n.
        public var chunkGates: [TestGate] = []
        /// The number of response head bytes after which the connection ends as specified by `ending`.
        public var truncatesHeadAfter: Int?
        /// The number of body bytes, including the framing, after which the connection ends as specified by `ending`.
        public var truncatesBodyAfter: Int?
        /// The number of body bytes after which the server sends nothing more and keeps the connection open.
        public var stallsBodyAfter: Int?
        /// Whether the server never sends a byte.
        package var isSilent = false
        /// Whether the body repeats indefinitely. Use it with ``LoopbackServer/Response/Framing/chunked`` or
        /// ``LoopbackServer/Response/Framing/connectionClose``.
        package var isEndless = false
        /// The version in the status line. The default is `HTTP/1.1`.
        package var version = "HTTP/1.1"
        /// The bytes that are sent before the response, such as interim responses.
        package var preamble = Data()
        /// The bytes that are sent immediately after the response. If possible, the server sends them in the same
        /// write.
        package var surplus = Data()
        /// The text that follows the size of each chunk, such as `;name=value`.
        package var chunkExtension = ""
        /// The trailer fields after the last chunk.
        package var trailers = HTTPHeaderFields()
        /// The maximum number of bytes per second, or `nil` to send without a limit.
        public var bytesPerSecond: Int?
        var rawBytes: Data?

        /// Creates a response.
        public init(statusCode: Int = 200, headers: HTTPHeaderFields = HTTPHeaderFields(), body: Data = Data()) {
            self.statusCode = statusCode
            self.headers = headers
            self.body = body
        }

        /// Returns a response with the status 200, a body, and a content type.
        public static func ok(_ body: Data, contentType: String = "application/octet-stream") -> LoopbackServer.Response
        {
            LoopbackServer.Response(
                headers: HTTPHeaderFields([.init(name: "Content-Type", value: contentType)]), body: body)
        }

        /// Returns a response with a status and a short text.
        public static func status(_ status: Int) -> LoopbackServer.Response {
            LoopbackServer.Response(statusCode: status, body: Data("status \(status)\n".utf8))
        }

        /// Returns a redirect to a location, which is sent unmodified.
        public static func redirect(_ status: Int = 302, to location: String) -> LoopbackServer.Response {
            var response = LoopbackServer.Response.status(status)
            response.headers["Location"] = location
            return response
        }

        /// Returns a response that consists of exactly the given bytes, followed by the ending.
        public static func raw(_ bytes: Data, ending: Ending = .close) -> LoopbackServer.Response {
            var response = LoopbackServer.Response()
            response.rawBytes = bytes
            response.ending = ending
            return response
        }

        /// A response that never sends a byte.
        public static var silent: LoopbackServer.Response {
            var response = LoopbackServer.Response()
            response.isSilent = true
            return response
        }

        /// Returns the response of a file server to a request for a resource.
        ///
        /// The status is 304 if the conditions of the request show that the client's copy is current. Otherwise, it's
        /// 200. If-Modified-Since is compared as text, as in simple servers.
        ///
        /// - Parameters:
        ///   - body: The data of the resource.
        ///   - contentType: The content type.
        ///   - etag: The quoted entity tag (ETag), or `nil` if there is none. The default is `nil`.
        ///   - lastModified: The HTTP date of the last modification, or `nil` if there is none. The default is `nil`.
        ///   - cacheControl: The value of the Cache-Control header field, or `nil` if there is none. The default is
        ///     `nil`.
        ///   - request: The request.
        public static func resource(
            _ body: Data, contentType: String, etag: String? = nil, lastModified: String? = nil,
            cacheControl: String? = nil, for request: LoopbackServer.Request
        ) -> LoopbackServer.Response {
            ServerResource(
                body: body, type: contentType, etag: etag, lastModified: lastModified, cacheControl: cacheControl
            ).response(to: request)
        }

        /// Returns a changed copy of this response.
        public func with(_ change: (inout LoopbackServer.Response) -> Void) -> LoopbackServer.Response {
            var response = self
            change(&response)
            return response
        }
    }
}

/// An image served like a file, with validators and 304 responses to conditional requests (RFC 9110, section 13).
package struct ServerResource: Sendable {
    /// The image data.
    package var body: Data
    /// The content type.
    package var type: String
    /// The quoted entity tag (ETag), or `nil` if there is none.
    package var etag: String?
    /// The HTTP date of the last modification, or `nil` if there is none.
    package var lastModified: String?
    /// The value of the Cache-Control header field, or `nil` if there is none.
    package var cacheControl: String?

    /// Creates a resource.
    package init(
        body: Data, type: String, etag: String? = nil, lastModified: String? = nil, cacheControl: String? = nil
    ) {
        self.body = body
        self.type = type
        self.etag = etag
        self.lastModified = lastModified
        self.cacheControl = cacheControl
    }

    /// Returns the response to a request.
    ///
    /// The status is 304 if the conditions of the request show that the client's copy is current. Otherwise, it's 200.
    /// If-Modified-Since is compared as text, as in simple servers.
    package func response(to request: LoopbackServer.Request) -> LoopbackServer.Response {
        var fields = HTTPHeaderFields()
        fields["ETag"] = etag
        fields["Last-Modified"] = lastModified
        fields["Cache-Control"] = cacheControl
        if isCurrent(request) { return LoopbackServer.Response(statusCode: 304, headers: fields) }
        fields["Content-Type"] = type
        return LoopbackServer.Response(headers: fields, body: body)
    }

    private func isCurrent(_ request: LoopbackServer.Request) -> Bool {
        if let asked = request.headers.combined("If-None-Match") {
            guard let etag else { return false }
            return asked.split(separator: ",").contains {
                let tag = $0.trimmingCharacters(in: .whitespaces)
                return tag == "*" || Self.opaque(tag) == Self.opaque(etag)
            }
        }
        guard let lastModified, let since = request.headers["If-Modified-Since"] else { return false }
        return since == lastModified
    }

    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : Substring(tag)
    }
}
