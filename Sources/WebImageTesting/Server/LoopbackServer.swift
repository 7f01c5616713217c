// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// An HTTP/1.1 server on 127.0.0.1 for tests and demonstrations. One thread of its own serves any number of
/// connections; nothing of it runs on Swift's cooperative pool. Thread-safe.
///
/// The handler runs on the server's thread and must not block: hold answers back with gates.
public final class LoopbackServer: Sendable {
    /// Answers a request.
    public typealias Handler = @Sendable (RecordedRequest) -> ServerResponse

    /// What becomes of a new connection.
    public enum Acceptance: Sendable, Hashable {
        /// It is served.
        case serve
        /// It is reset before anything is read.
        case reset
    }

    /// Decides about a connection, by its number counted from 0.
    public typealias Acceptor = @Sendable (Int) -> Acceptance

    /// What the server has done so far.
    public struct Counters: Sendable, Hashable {
        /// Requests received whole.
        public var requests = 0
        /// Connections accepted.
        public var connections = 0
        /// Connections closed, by either side.
        public var closedConnections = 0
        /// Most connections that were open at once.
        public var mostOpenConnections = 0
        /// Bytes written to sockets.
        public var bytesSent = 0

        /// Connections that are open now.
        public var openConnections: Int { connections - closedConnections }
    }

    private let loop: ServerLoop

    /// The port on 127.0.0.1.
    public let port: UInt16

    /// Starts a server on a free port. `acceptance` decides about connections; default: all are served.
    ///
    /// - Throws: ``CacheError/system(operation:path:errno:)`` as ``ImageError/cache(_:)`` when there is no socket
    ///   to be had.
    public init(
        acceptance: @escaping Acceptor = { _ in .serve }, handler: @escaping Handler
    ) throws(ImageError) {
        loop = try ServerLoop(handler: handler, acceptance: acceptance)
        port = loop.port
        loop.start()
    }

    /// Starts a server that answers by path (without query); 404 for every other.
    public convenience init(routes: [String: ServerResponse]) throws(ImageError) {
        try self.init { routes[$0.path] ?? .status(404) }
    }

    deinit { loop.stop() }

    /// `http://127.0.0.1:port` and `path`, which begins with a slash.
    public func url(_ path: String) -> URL {
        URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(filePath: "/")
    }

    /// What the server has done so far.
    public var counters: Counters { loop.log.value.counters }
    /// Every request, in the order of arrival.
    public var requests: [RecordedRequest] { loop.log.value.requests }

    /// Waits until `count` requests have come.
    public func waitForRequests(count: Int) async {
        await loop.log.wait { $0.counters.requests >= count }
    }

    /// Waits until `count` connections have been accepted.
    public func waitForConnections(count: Int) async {
        await loop.log.wait { $0.counters.connections >= count }
    }

    /// Waits until `count` connections have been closed by either side.
    public func waitForClosedConnections(count: Int) async {
        await loop.log.wait { $0.counters.closedConnections >= count }
    }

    /// Waits until `count` bytes have been written.
    public func waitForBytesSent(count: Int) async {
        await loop.log.wait { $0.counters.bytesSent >= count }
    }

    /// Closes the kept connections that serve no request; returns when they are closed.
    public func closeIdleConnections(resetting: Bool = false) async {
        let done = Gate()
        loop.post(.closeIdle(resetting: resetting, done: done))
        await done.wait()
    }

    /// Writes `bytes` on every kept connection that serves no request, as broken servers do.
    public func writeToIdleConnections(_ bytes: Data) async {
        let done = Gate()
        loop.post(.writeToIdle(bytes, done: done))
        await done.wait()
    }

    /// Closes everything and ends the thread; returns when it has ended. Stopping again does nothing.
    public func stop() { loop.stop() }
}
