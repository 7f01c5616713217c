// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// An HTTP/1.1 server on 127.0.0.1 for tests and demonstrations. This class is thread-safe.
///
/// A dedicated thread serves any number of connections and doesn't use Swift's cooperative pool. The handler runs on
/// that thread and must not block. To delay responses, use gates.
public final class LoopbackServer: Sendable {
    /// A closure that returns the response to a request.
    package typealias Handler = @Sendable (LoopbackServer.Request) -> LoopbackServer.Response

    /// The treatment of a new connection.
    package enum Acceptance: Sendable, Hashable {
        /// Serves the connection.
        case serve
        /// Resets the connection before reading from it.
        case reset
    }

    /// A closure that decides how to treat a connection. Connections are numbered from 0.
    package typealias Acceptor = @Sendable (Int) -> Acceptance

    /// The event counters of the server.
    package struct Counters: Sendable, Hashable {
        /// The number of complete requests that were received.
        package var requests = 0
        /// The number of accepted connections.
        package var connections = 0
        /// The number of connections that either side closed.
        package var closedConnections = 0
        /// The maximum number of connections that were open at the same time.
        package var mostOpenConnections = 0
        /// The number of bytes written to sockets.
        package var bytesSent = 0

        /// The number of open connections.
        package var openConnections: Int { connections - closedConnections }
    }

    private let loop: ServerLoop

    /// The port on 127.0.0.1.
    public let port: UInt16

    /// Starts a server on a free port.
    ///
    /// - Parameter respond: A closure that returns the response to a request.
    /// - Throws: ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)`` as ``ImageError/cache(_:)`` if the
    ///   server can't open a socket.
    public convenience init(
        respond: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Response
    ) throws(ImageError) {
        try self.init(acceptance: { _ in .serve }, respond: respond)
    }

    /// Starts a server on a free port. `acceptance` decides how to treat connections.
    package init(acceptance: @escaping Acceptor, respond: @escaping Handler) throws(ImageError) {
        loop = try ServerLoop(handler: respond, acceptance: acceptance)
        port = loop.port
        loop.start()
    }

    /// Starts a server that selects the response by the path without the query. The response for other paths is 404.
    public convenience init(routes: [String: LoopbackServer.Response]) throws(ImageError) {
        try self.init(respond: { routes[$0.path] ?? .status(404) })
    }

    deinit { loop.stop() }

    /// Returns the URL `http://127.0.0.1:port` followed by a path, which begins with a slash.
    public func url(_ path: String) -> URL {
        URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(filePath: "/")
    }

    /// The number of accepted connections.
    public var connectionCount: Int { counters.connections }
    /// The number of bytes that were written to sockets.
    public var sentByteCount: Int { counters.bytesSent }
    /// The current event counters.
    package var counters: Counters { loop.log.value.counters }
    /// All requests in the order of their arrival.
    public var requests: [LoopbackServer.Request] { loop.log.value.requests }

    /// Waits until `count` requests have arrived.
    public func waitForRequests(count: Int) async {
        await loop.log.wait { $0.counters.requests >= count }
    }

    /// Waits until `count` connections have been closed by either side.
    package func waitForClosedConnections(count: Int) async {
        await loop.log.wait { $0.counters.closedConnections >= count }
    }

    /// Closes the persistent connections that serve no request. Returns after they're closed.
    package func closeIdleConnections(resetting: Bool = false) async {
        let done = TestGate()
        loop.post(.closeIdle(resetting: resetting, done: done))
        await done.wait()
    }

    /// Writes bytes on every persistent connection that serves no request, like a faulty server.
    package func writeToIdleConnections(_ bytes: Data) async {
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
