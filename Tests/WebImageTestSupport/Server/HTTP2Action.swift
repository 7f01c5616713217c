// SPDX-License-Identifier: MIT

import Foundation
import WebImageTesting

/// What an ``HTTP2Server`` sends, step by step. `stream` nil is the stream of the request that is answered.
public enum HTTP2Action: Sendable {
    /// A HEADERS frame with a status and fields.
    case head(status: Int = 200, fields: [(String, String)] = [], ends: Bool = false, stream: UInt32? = nil)
    /// DATA frames.
    case data(Data, ends: Bool = true, stream: UInt32? = nil)
    /// RST_STREAM with an error code (RFC 9113 7).
    case reset(UInt32, stream: UInt32? = nil)
    /// GOAWAY: the last stream that was or will be handled, and an error code.
    case goAway(last: UInt32, code: UInt32 = 0)
    /// A frame as it is.
    case frame(type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, payload: Data = Data())
    /// Bytes as they are, inside of TLS.
    case bytes(Data)
    /// Holds the whole connection until the gate opens.
    case wait(Gate)
    /// Opens the gate: all actions before this one have been written.
    case open(Gate)
    /// Sends close_notify and leaves the connection open.
    case sayGoodbye
    /// Ends the connection in order.
    case close
    /// Ends the connection without TLS's goodbye.
    case abort

    /// A whole 200.
    public static func whole(_ body: Data, stream: UInt32? = nil) -> [HTTP2Action] {
        [.head(stream: stream), .data(body, stream: stream)]
    }

    /// The bytes, as the answer to a request on `current`; nil where the connection is to end.
    func bytes(current: UInt32) -> Data? {
        switch self {
        case .head(let status, let fields, let ends, let stream):
            let block = HTTP2Bytes.block(status: status, fields: fields)
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

/// Frames and field blocks of HTTP/2 (RFC 9113 4, RFC 7541), as much as a server of tests needs.
enum HTTP2Bytes {
    /// What a client begins with (RFC 9113 3.4).
    static let preface = Data("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    /// Largest payload that every peer takes.
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

    /// Literals without indexing; the status by its name's place in the static table.
    static func block(status: Int, fields: [(String, String)]) -> Data {
        var block = Data([0x08]) + text("\(status)")
        for (name, value) in fields { block += Data([0x00]) + text(name) + text(value) }
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
