// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// An HTTP/1.1 server on 127.0.0.1 for tests and demonstrations. This class is thread-safe.
///
/// A dedicated thread serves any number of connections and doesn't use Swift's cooperative pool. The handler runs on
/// that thread and must not block. To delay responses, use gates.
public final class LoopbackServer: Sendable {
    /// A closure that returns the response to a request.
    public typealias Handler = @Sendable (LoopbackServer.Request) -> LoopbackServer.Response

    /// The treatment of a new connection.
    public enum Acceptance: Sendable, Hashable {
        /// Serves the connection.
        case serve
        /// Resets the connection before reading from it.
        case reset
    }

    /// A closure that decides how to treat a connection. Connections are numbered from 0.
    public typealias Acceptor = @Sendable (Int) -> Acceptance

    /// The event counters of the server.
    public struct Counters: Sendable, Hashable {
        /// The number of complete requests that were received.
        public var requests = 0
        /// The number of accepted connections.
        public var connections = 0
        /// The number of connections that either side closed.
        public var closedConnections = 0
        /// The maximum number of connections that were open at the same time.
        public var mostOpenConnections = 0
        /// The number of bytes written to sockets.
        public var bytesSent = 0

        /// The number of open connections.
        public var openConnections: Int { connections - closedConnections }
    }

    private let loop: ServerLoop

    /// The port on 127.0.0.1.
    public let port: UInt16

    /// Starts a server on a free port.
    ///
    /// - Parameters:
    ///   - acceptance: A closure that decides how to treat connections. By default, the server serves all connections.
    ///   - respond: A closure that returns the response to a request.
    /// - Throws: ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)`` as ``ImageError/cache(_:)`` if the
    ///   server can't open a socket.
    public init(
        acceptance: @escaping Acceptor = { _ in .serve }, respond: @escaping Handler
    ) throws(ImageError) {
        loop = try ServerLoop(handler: respond, acceptance: acceptance)
        port = loop.port
        loop.start()
    }

    /// Starts a server that selects the response by the path without the query. The response for other paths is 404.
    public convenience init(routes: [String: LoopbackServer.Response]) throws(ImageError) {
        try self.init { routes[$0.path] ?? .status(404) }
    }

    deinit { loop.stop() }

    /// Returns the URL `http://127.0.0.1:port` followed by a path, which begins with a slash.
    public func url(_ path: String) -> URL {
        URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(filePath: "/")
    }

    /// The current event counters.
    public var counters: Counters { loop.log.value.counters }
    /// All requests in the order of their arrival.
    public var requests: [LoopbackServer.Request] { loop.log.value.requests }

    /// Waits until `count` requests have arrived.
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

    /// Closes the persistent connections that serve no request. Returns after they're closed.
    public func closeIdleConnections(resetting: Bool = false) async {
        let done = TestGate()
        loop.post(.closeIdle(resetting: resetting, done: done))
        await done.wait()
    }

    /// Writes bytes on every persistent connection that serves no request, like a faulty server.
    public func writeToIdleConnections(_ bytes: Data) async {
        let done = TestGate()
        loop.post(.writeToIdle(bytes, done: done))
        await done.wait()
    }

    /// Accepts the connections that clients have opened. When this method returns, ``counters`` include them.
    package func acceptPendingConnections() async {
        let done = TestGate()
        loop.post(.acceptPending(done: done))
        await done.wait()
    }

    /// Closes all connections and ends the thread. Returns after the thread has ended. Later calls have no effect.
    public func stop() { loop.stop() }
}
