// SPDX-License-Identifier: MIT

import CNetFaults
import Foundation
import Glibc
import WebImageHTTPTesting

/// A connection of an ``HTTP2Server``, which runs on a dedicated thread.
struct HTTP2Connection: Sendable {
    let socket: Int32
    let number: Int
    let tls: TLSContext
    let settings: [(UInt16, UInt32)]
    /// A Boolean value that indicates whether the connection ends after the handshake if the client has no certificate.
    let requiresCertificate: Bool
    let handler: HTTP2Server.Handler
    let server: HTTP2Server

    func run() {
        defer { server.end(socket) }
        guard let connection = wi_tls_accept(tls.pointer, socket) else { return }
        guard !requiresCertificate || wi_tls_has_certificate(connection) else { return wi_tls_end(connection, false) }
        let ending = wi_tls_is_http2(connection) ? serveFrames(connection) : serveText(connection)
        wi_tls_end(connection, ending == .orderly)
        if ending == .orderly { shutdown(socket, Int32(SHUT_WR)) }
        if ending != .abrupt { waitForClient() }
    }

    private enum Ending {
        case orderly
        case abrupt
        /// The client closed the connection or failed.
        case byClient
    }

    /// Waits until the client closes the connection. Closing a socket with unread data would reset the connection
    /// before the client receives the last response.
    private func waitForClient() {
        var rest = [UInt8](repeating: 0, count: 4_096)
        while recv(socket, &rest, rest.count, 0) > 0 {}
    }

    private func serveFrames(_ connection: OpaquePointer) -> Ending {
        guard read(connection, HTTP2Bytes.preface.count) == HTTP2Bytes.preface,
            write(connection, HTTP2Bytes.settings(settings))
        else { return .byClient }
        while let head = read(connection, 9) {
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            let stream = head[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7fff_ffff
            guard let payload = read(connection, length) else { return .byClient }
            switch (head[3], head[4]) {
            // libcurl 7.88 can hang if it receives the whole response before it has sent the body.
            case (1, let flags) where flags & 1 == 0: break
            case (0, let flags) where flags & 1 == 0: break
            case (0, _), (1, _):
                let request = server.record(connection: number, stream: stream)
                if let ending = perform(handler(request), connection, stream) { return ending }
            case (2, _): if let weight = payload.last { server.recordWeight(Int(weight) + 1, of: stream) }
            case (3, _): server.recordReset(stream)
            case (4, let flags) where flags & 1 == 0:
                _ = write(connection, HTTP2Bytes.frame(4, flags: 1, stream: 0, Data()))
            case (6, let flags) where flags & 1 == 0:
                _ = write(connection, HTTP2Bytes.frame(6, flags: 1, stream: 0, payload))
            default: break
            }
        }
        return .byClient
    }

    private func serveText(_ connection: OpaquePointer) -> Ending {
        var received = Data()
        while let byte = read(connection, 1) {
            received += byte
            guard received.suffix(4) == Data("\r\n\r\n".utf8) else { continue }
            received = Data()
            if let ending = perform(handler(server.record(connection: number, stream: 0)), connection, 0) {
                return ending
            }
        }
        return .byClient
    }

    /// Performs the actions, and returns how the connection ends, or `nil` if it stays open.
    private func perform(_ actions: [HTTP2Action], _ connection: OpaquePointer, _ stream: UInt32) -> Ending? {
        for action in actions {
            switch action {
            case .wait(let gate):
                gate.blockingWait()
                continue
            case .open(let gate):
                gate.open()
                continue
            case .sayGoodbye:
                wi_tls_say_goodbye(connection)
                continue
            default: break
            }
            guard let bytes = action.bytes(current: stream) else {
                if case .close = action { return .orderly }
                return .abrupt
            }
            guard write(connection, bytes) else { return .byClient }
        }
        return nil
    }

    private func read(_ connection: OpaquePointer, _ count: Int) -> Data? {
        var bytes = Data(count: count)
        var done = 0
        while done < count {
            let more = bytes.withUnsafeMutableBytes { buffer in
                wi_tls_read(connection, buffer.baseAddress.map { $0 + done }, count - done)
            }
            guard more > 0 else { return nil }
            done += more
        }
        return bytes
    }

    private func write(_ connection: OpaquePointer, _ bytes: Data) -> Bool {
        bytes.withUnsafeBytes { wi_tls_write(connection, $0.baseAddress, $0.count) }
    }
}
