// SPDX-License-Identifier: MIT

import CNetFaults
import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A server of HTTP/2 over TLS on localhost that sends what a script says, faults included. A thread for each
/// connection. Clients that do not offer h2 are HTTP/1.1's: for them scripts answer with ``HTTP2Action/bytes(_:)``.
public final class HTTP2Server: Sendable {
    /// A request, of which only the stream is read.
    public struct Request: Sendable {
        /// Counted from 0 over all connections.
        public let index: Int
        /// The connection's number, counted from 0.
        public let connection: Int
        /// 0 over HTTP/1.1.
        public let stream: UInt32
    }

    /// What clients must do to be let in.
    public enum Entrance: Sendable {
        /// Nothing.
        case open
        /// Show a certificate of the authority's.
        case certificate
        /// Show a certificate of the authority's, over TLS 1.2.
        case certificateByTLS12
    }

    /// What answers a request; called on the connection's thread.
    public typealias Handler = @Sendable (Request) -> [HTTP2Action]

    /// What the server has seen.
    struct Log: Sendable {
        var requests: [Request] = []
        var connections = 0
        var resets: [UInt32] = []
        var open: Set<Int32> = []
        var isStopped = false
    }

    /// Its port.
    public let port: UInt16
    /// PEM file of the authority that clients must trust.
    public let authority: String
    private let listener: ListeningSocket
    private let log = Lock(Log())

    /// Starts a server. `settings` go out first (RFC 9113 6.5.2).
    public init(
        _ certificates: TestCertificates, settings: [(UInt16, UInt32)] = [], entrance: Entrance = .open,
        handler: @escaping Handler
    ) throws {
        let context = wi_tls_server_create(certificates.certificate(.good), certificates.key)
        guard let context else { throw ListeningSocket.Failure(description: "no TLS server") }
        let tls = TLSContext(context)
        if entrance != .open, !wi_tls_server_require_certificate(context, certificates.authority) {
            throw ListeningSocket.Failure(description: "the server can't require certificates")
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
                    socket: socket, number: number, tls: tls, settings: settings, handler: handler, server: server)
                Thread { connection.run() }.start()
            }
        }
        thread.start()
    }

    deinit { stop() }

    /// `https://localhost:port` and `path`.
    public func url(_ path: String) -> URL { URL(string: "https://localhost:\(port)\(path)") ?? URL(filePath: "/") }

    /// Every request in the order of arrival.
    public var requests: [Request] { log.withLock { $0.requests } }
    /// Connections accepted.
    public var connections: Int { log.withLock { $0.connections } }
    /// Connections that are open.
    public var openConnections: Int { log.withLock { $0.open.count } }
    /// Streams that clients reset.
    public var resets: [UInt32] { log.withLock { $0.resets } }

    /// Ends all connections and refuses more.
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

    /// Closes a connection's socket; its number may be another's right after.
    func end(_ socket: Int32) {
        log.withLock { log in
            log.open.remove(socket)
            close(socket)
        }
    }

    func note(connection: Int, stream: UInt32) -> Request {
        log.withLock { log in
            let request = Request(index: log.requests.count, connection: connection, stream: stream)
            log.requests.append(request)
            return request
        }
    }

    func noteReset(_ stream: UInt32) { log.withLock { $0.resets.append(stream) } }
}

/// OpenSSL's context, which threads may share.
///
/// `@unchecked Sendable`: the pointer is constant, and SSL_CTX counts its uses itself.
final class TLSContext: @unchecked Sendable {
    let pointer: OpaquePointer
    init(_ pointer: OpaquePointer) { self.pointer = pointer }
    deinit { wi_tls_server_destroy(pointer) }
}
