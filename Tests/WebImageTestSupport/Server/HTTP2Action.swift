// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTPTesting

/// A step of the script of an ``HTTP2Server``. If `stream` is `nil`, the step uses the stream of the current request.
public enum HTTP2Action: Sendable {
    /// Sends a HEADERS frame with a status and header fields.
    case head(status: Int = 200, headers: [(String, String)] = [], ends: Bool = false, stream: UInt32? = nil)
    /// Sends DATA frames.
    case data(Data, ends: Bool = true, stream: UInt32? = nil)
    /// Sends RST_STREAM with an error code (RFC 9113, section 7).
    case reset(UInt32, stream: UInt32? = nil)
    /// Sends GOAWAY with the last stream that the server handles and an error code.
    case goAway(last: UInt32, code: UInt32 = 0)
    /// Sends a frame unchanged.
    case frame(type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, payload: Data = Data())
    /// Sends bytes unchanged, inside TLS.
    case bytes(Data)
    /// Blocks the whole connection until the gate opens.
    case wait(TestGate)
    /// Opens the gate, which means that all previous actions have been written.
    case open(TestGate)
    /// Sends `close_notify` and leaves the connection open.
    case sayGoodbye
    /// Closes the connection with `close_notify`.
    case close
    /// Closes the connection without `close_notify`.
    case abort

    /// Returns the actions for a complete response with status 200.
    public static func whole(_ body: Data, stream: UInt32? = nil) -> [HTTP2Action] {
        [.head(stream: stream), .data(body, stream: stream)]
    }

    /// Returns the bytes to write for a request on the stream `current`, or `nil` if the action writes no bytes.
    func bytes(current: UInt32) -> Data? {
        switch self {
        case .head(let status, let fields, let ends, let stream):
            let block = HTTP2Bytes.block(status: status, headers: fields)
            return HTTP2Bytes.frame(1, flags: ends ? 5 : 4, stream: stream ?? current, block)
        case .data(let body, let ends, let stream):
            return HTTP2Bytes.data(body, ends: ends, stream: stream ?? current)
        case .reset(let code, let stream):
            return HTTP2Bytes.frame(3, stream: stream ?? current, HTTP2Bytes.number(code))
        case .goAway(let last, let code):
            return HTTP2Bytes.frame(7, stream: 0, HTTP2Bytes.number(last) + HTTP2Bytes.number(code))
        case .frame(let type, let flags, let stream, let payload):
            return HTTP2Bytes.frame(type, flags: flags, stream: stream, payload)
        case .bytes(let bytes): return bytes
        case .wait, .open, .sayGoodbye, .close, .abort: return nil
        }
    }
}

/// The parts of HTTP/2 frames and field blocks (RFC 9113, section 4; RFC 7541) that a test server needs.
enum HTTP2Bytes {
    /// The connection preface of the client (RFC 9113, section 3.4).
    static let preface = Data("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    /// The largest payload that every peer accepts, in bytes.
    static let mostPayload = 16_384

    static func number(_ value: UInt32) -> Data { withUnsafeBytes(of: value.bigEndian) { Data($0) } }

    static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt32, _ payload: Data) -> Data {
        number(UInt32(payload.count)).dropFirst() + Data([type, flags]) + number(stream) + payload
    }

    static func settings(_ values: [(UInt16, UInt32)]) -> Data {
        var payload = Data()
        for (name, value) in values {
            payload.append(contentsOf: [UInt8(name >> 8), UInt8(name & 255)])
            payload.append(number(value))
        }
        return frame(4, stream: 0, payload)
    }

    static func data(_ body: Data, ends: Bool, stream: UInt32) -> Data {
        var frames = Data()
        var rest = body[...]
        repeat {
            let part = rest.prefix(mostPayload)
            rest = rest.dropFirst(part.count)
            frames.append(frame(0, flags: ends && rest.isEmpty ? 1 : 0, stream: stream, Data(part)))
        } while !rest.isEmpty
        return frames
    }

    /// Returns a block of literal fields without indexing. The name of the status is an index into the static table.
    static func block(status: Int, headers: [(String, String)]) -> Data {
        var block = Data([0x08]) + text("\(status)")
        for (name, value) in headers { block += Data([0x00]) + text(name) + text(value) }
        return block
    }

    private static func text(_ text: String) -> Data {
        let bytes = Data(text.utf8)
        var length = Data()
        if bytes.count < 127 {
            length.append(UInt8(bytes.count))
        } else {
            length.append(127)
            var rest = bytes.count - 127
            while rest >= 128 {
                length.append(UInt8(rest % 128 + 128))
                rest /= 128
            }
            length.append(UInt8(rest))
        }
        return length + bytes
    }
}
