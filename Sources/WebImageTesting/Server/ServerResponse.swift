// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// How the loopback server answers one request, faults included.
public struct ServerResponse: Sendable {
    /// How the end of the body is told.
    public enum Framing: Sendable, Hashable {
        /// A right Content-Length.
        case length
        /// A Content-Length that says something else than the truth.
        case lie(Int)
        /// Nothing: the connection is closed behind the body.
        case untilClose
        /// Chunked transfer coding; one chunk for each piece.
        case chunked
    }

    /// What happens to the connection behind the answer.
    public enum Ending: Sendable, Hashable {
        /// It is kept for further requests.
        case keepAlive
        /// It is closed in order.
        case close
        /// It is reset.
        case reset
        /// Nothing: it stays open and no further request is answered.
        case stall
    }

    /// Three digits.
    public var status: Int
    /// Fields besides Content-Length and Transfer-Encoding, which `framing` sets.
    public var fields: HTTPFields
    /// The body.
    public var body: Data
    /// How the end of the body is told. Default ``Framing/length``.
    public var framing: Framing = .length
    /// What happens behind the answer. Default ``Ending/keepAlive``.
    public var ending: Ending = .keepAlive
    /// Waited for before the first byte of the answer.
    public var headGate: Gate?
    /// Waited for before the first byte of the body.
    public var bodyGate: Gate?
    /// Bytes of body sent at once; nil for all.
    public var pieceSize: Int?
    /// `pieceGates[n]` is waited for before piece n of the body.
    public var pieceGates: [Gate] = []
    /// The connection ends, as `ending` says, after so many bytes of the header block.
    public var headCut: Int?
    /// The connection ends, as `ending` says, after so many bytes of body (as framed).
    public var bodyCut: Int?
    /// After so many bytes of body nothing more comes, and the connection stays open.
    public var bodyStall: Int?
    /// No byte is ever sent.
    public var isSilent = false
    /// The body begins anew for ever. With ``Framing/chunked`` or ``Framing/untilClose``.
    public var isEndless = false
    /// The version in the status line. Default `HTTP/1.1`.
    public var version = "HTTP/1.1"
    /// Sent before the answer, such as interim answers.
    public var preamble = Data()
    /// Sent right behind the answer, in the same write where nothing stands between.
    public var surplus = Data()
    /// Follows each chunk's size, such as `;name=value`.
    public var chunkExtension = ""
    /// Fields behind the last chunk.
    public var trailers = HTTPFields()
    /// Sends no faster; nil for as fast as it goes.
    public var bytesPerSecond: Int?
    /// Sent in place of everything else.
    var rawBytes: Data?

    /// Creates an answer.
    public init(status: Int = 200, fields: HTTPFields = HTTPFields(), body: Data = Data()) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// A 200 with `body` and a content type.
    public static func ok(_ body: Data, type: String = "application/octet-stream") -> ServerResponse {
        ServerResponse(fields: HTTPFields([.init(name: "Content-Type", value: type)]), body: body)
    }

    /// A status with a short text.
    public static func status(_ status: Int) -> ServerResponse {
        ServerResponse(status: status, body: Data("status \(status)\n".utf8))
    }

    /// A redirect to `location`, written as it is.
    public static func redirect(_ status: Int = 302, to location: String) -> ServerResponse {
        var response = ServerResponse.status(status)
        response.fields["Location"] = location
        return response
    }

    /// Exactly these bytes, then `ending`.
    public static func raw(_ bytes: Data, ending: Ending = .close) -> ServerResponse {
        var response = ServerResponse()
        response.rawBytes = bytes
        response.ending = ending
        return response
    }

    /// No byte, ever.
    public static var silent: ServerResponse {
        var response = ServerResponse()
        response.isSilent = true
        return response
    }

    /// This answer, changed.
    public func with(_ change: (inout ServerResponse) -> Void) -> ServerResponse {
        var response = self
        change(&response)
        return response
    }
}

/// A picture as a file server gives it: with validators, answering conditions by 304 (RFC 9110 13).
public struct ServerResource: Sendable {
    /// The bytes.
    public var body: Data
    /// Content type.
    public var type: String
    /// Quoted entity tag; nil for none.
    public var etag: String?
    /// HTTP date; nil for none.
    public var lastModified: String?
    /// nil for none.
    public var cacheControl: String?

    /// Creates a resource.
    public init(
        body: Data, type: String, etag: String? = nil, lastModified: String? = nil, cacheControl: String? = nil
    ) {
        self.body = body
        self.type = type
        self.etag = etag
        self.lastModified = lastModified
        self.cacheControl = cacheControl
    }

    /// The answer to `request`: 304 where its conditions say that the copy is still right, else 200.
    /// If-Modified-Since compares as text, as simple servers do.
    public func response(to request: RecordedRequest) -> ServerResponse {
        var fields = HTTPFields()
        fields["ETag"] = etag
        fields["Last-Modified"] = lastModified
        fields["Cache-Control"] = cacheControl
        if isCurrent(request) { return ServerResponse(status: 304, fields: fields) }
        fields["Content-Type"] = type
        return ServerResponse(fields: fields, body: body)
    }

    private func isCurrent(_ request: RecordedRequest) -> Bool {
        if let asked = request.fields.combined("If-None-Match") {
            guard let etag else { return false }
            return asked.split(separator: ",").contains {
                let tag = $0.trimmingCharacters(in: .whitespaces)
                return tag == "*" || Self.opaque(tag) == Self.opaque(etag)
            }
        }
        guard let lastModified, let since = request.fields["If-Modified-Since"] else { return false }
        return since == lastModified
    }

    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : Substring(tag)
    }
}
