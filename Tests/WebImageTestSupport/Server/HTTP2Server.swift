// SPDX-License-Identifier: MIT

import CNetFaults
import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A scripted HTTP/2 server over TLS on localhost, which can also send invalid responses.
///
/// Each connection has a dedicated thread. Clients that don't offer h2 use HTTP/1.1. For them, scripts respond with
/// ``HTTP2Action/bytes(_:)``.
public final class HTTP2Server: Sendable {
    /// A request. The server reads only its stream ID.
    public struct Request: Sendable {
        /// The index of the request among the requests of all connections, counted from 0.
        public let index: Int
        /// The number of the connection, counted from 0.
        public let connection: Int
        /// The stream ID, or 0 for HTTP/1.1.
        public let stream: UInt32
    }

    /// The credentials that clients must present.
    public enum Entrance: Sendable {
        /// The server requires no certificate.
        case open
        /// The server requires a client certificate that the test authority signed.
        case certificate
        /// The server requires a client certificate that the test authority signed, and limits the connection to TLS
        /// 1.2.
        case certificateByTLS12
        /// The server requests a client certificate, and accepts clients without one.
        case optionalCertificate
        /// The server requests a client certificate, and closes the connections of clients without one after the handshake,
        /// without an alert.
        case certificateWithoutAlert
    }

    /// A closure that returns the actions for a request. The server calls it on the thread of the connection.
    public typealias Handler = @Sendable (Request) -> [HTTP2Action]

    /// The events that the server recorded.
    struct Log: Sendable {
        var requests: [Request] = []
        var connections = 0
        var resets: [UInt32] = []
        var weights: [UInt32: [Int]] = [:]
        var open: Set<Int32> = []
        var isStopped = false
    }

    /// The port of the server.
    public let port: UInt16
    /// The path of the PEM file with the authority that clients must trust.
    public let authority: String
    private let listener: ListeningSocket
    private let log = Lock(Log())

    /// Starts a server. It begins each connection with the `settings` (RFC 9113, section 6.5.2).
    public init(
        _ certificates: TestCertificates, settings: [(UInt16, UInt32)] = [], entrance: Entrance = .open,
        handler: @escaping Handler
    ) throws {
        let context = wi_tls_server_create(certificates.certificate(.good), certificates.key)
        guard let context else { throw ListeningSocket.Failure(description: "no TLS server") }
        let tls = TLSContext(context)
        switch entrance {
        case .open: break
        case .certificate, .certificateByTLS12:
            guard wi_tls_server_require_certificate(context, certificates.authority) else {
                throw ListeningSocket.Failure(description: "the server can't require certificates")
            }
        case .optionalCertificate, .certificateWithoutAlert:
            guard wi_tls_server_request_certificate(context, certificates.authority) else {
                throw ListeningSocket.Failure(description: "the server can't request certificates")
            }
        }
        if entrance == .certificateByTLS12, !wi_tls_server_limit_version(context) {
            throw ListeningSocket.Failure(description: "the server can't limit the version")
        }
        authority = certificates.authority
        listener = try ListeningSocket()
        port = listener.port
        let thread = Thread { [weak self, listener] in
            while true {
                let socket = accept(listener.descriptor, nil, nil)
                guard socket >= 0 || errno == EINTR else { return }
                guard let server = self, let number = server.begin(socket) else {
                    close(socket)
                    return
                }
                let connection = HTTP2Connection(
                    socket: socket, number: number, tls: tls, settings: settings,
                    requiresCertificate: entrance == .certificateWithoutAlert, handler: handler, server: server)
                Thread { connection.run() }.start()
            }
        }
        thread.start()
    }

    deinit { stop() }

    /// Returns the URL `https://localhost:port` with `path` appended.
    public func url(_ path: String) -> URL { URL(string: "https://localhost:\(port)\(path)") ?? URL(filePath: "/") }

    /// All requests in the order of their arrival.
    public var requests: [Request] { log.withLock { $0.requests } }
    /// The number of accepted connections.
    public var connections: Int { log.withLock { $0.connections } }
    /// The number of open connections.
    public var openConnections: Int { log.withLock { $0.open.count } }
    /// The streams that clients reset.
    public var resets: [UInt32] { log.withLock { $0.resets } }

    /// The weights that PRIORITY frames gave to each stream, in the order of their arrival.
    public var weights: [UInt32: [Int]] { log.withLock { $0.weights } }

    /// Ends all connections and rejects new ones.
    public func stop() {
        shutdown(listener.descriptor, Int32(SHUT_RDWR))
        log.withLock { log in
            log.isStopped = true
            for socket in log.open { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    private func begin(_ socket: Int32) -> Int? {
        log.withLock { log in
            guard !log.isStopped else { return nil }
            log.open.insert(socket)
            log.connections += 1
            return log.connections - 1
        }
    }

    /// Closes the socket of a connection. The kernel can reuse its descriptor number immediately.
    func end(_ socket: Int32) {
        log.withLock { log in
            log.open.remove(socket)
            close(socket)
        }
    }

    func record(connection: Int, stream: UInt32) -> Request {
        log.withLock { log in
            let request = Request(index: log.requests.count, connection: connection, stream: stream)
            log.requests.append(request)
            return request
        }
    }

    func recordWeight(_ weight: Int, of stream: UInt32) {
        log.withLock { $0.weights[stream, default: []].append(weight) }
    }

    func recordReset(_ stream: UInt32) { log.withLock { $0.resets.append(stream) } }
}

/// An OpenSSL context, which threads can share.
///
/// Safe: The pointer is constant, and `SSL_CTX` counts its references atomically.
final class TLSContext: @unchecked Sendable {
    let pointer: OpaquePointer
    init(_ pointer: OpaquePointer) { self.pointer = pointer }
    deinit { wi_tls_server_destroy(pointer) }
}
