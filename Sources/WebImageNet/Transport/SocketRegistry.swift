// SPDX-License-Identifier: MIT

import CCurl
import Glibc

/// One connection that libcurl opened. Belongs to the network thread.
final class Connection {
    let socket: Int32
    /// The connections among which libcurl chooses for a transfer.
    let group: String
    /// The transfer that it was opened for.
    let opener: UInt64
    private var knownPort: Int?
    /// What TLS showed; `nil` without TLS.
    fileprivate(set) var tls: TLSFacts?
    /// Identifies the TLS connection; `nil` without TLS, or if it isn't known.
    var session: UnsafeMutableRawPointer?
    /// A Boolean value that indicates whether the socket is open.
    fileprivate(set) var isOpen = true
    /// A Boolean value that indicates whether libcurl closed it while the server still held it.
    fileprivate(set) var wasEndedHere = false
    /// A Boolean value that indicates whether a whole response came over it.
    fileprivate(set) var isKept = false
    /// A Boolean value that indicates whether no request may go over it any more.
    fileprivate(set) var isSpoiled = false
    /// The number of responses that began over it.
    private(set) var responses = 0
    /// The number of transfers that use it.
    fileprivate(set) var users = 0
    /// The pass in which it was examined last.
    fileprivate var pass = 0
    private var isKnownMultiplexed = false

    fileprivate init(_ socket: Int32, group: String, opener: UInt64) {
        self.socket = socket
        self.group = group
        self.opener = opener
    }

    /// Its port on this machine; `nil` before it's connected.
    var localPort: Int? {
        if knownPort == nil { knownPort = Self.localPort(of: socket) }
        return knownPort
    }

    private static func localPort(of socket: Int32) -> Int? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) == 0 }
        }
        guard isKnown else { return nil }
        // Both families have the port at the same place.
        let port = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { Int(UInt16(bigEndian: $0.pointee.sin_port)) }
        }
        return port == 0 ? nil : port
    }

    /// A Boolean value that indicates whether several transfers share it (HTTP/2).
    var isMultiplexed: Bool { isKnownMultiplexed || tls?.isHTTP2 == true }

    /// Notes that a response began.
    func noteResponse() { responses += 1 }

    fileprivate func keep(isMultiplexed: Bool) {
        isKept = true
        if isMultiplexed { isKnownMultiplexed = true }
    }

    /// A Boolean value that indicates whether the server will send nothing more.
    var isAtEnd: Bool {
        guard isOpen, tls?.hasEnded != true else { return true }
        let count = peek()
        return count == 0 || (count < 0 && errno != EAGAIN)
    }

    /// A Boolean value that indicates whether a request may go over the connection, which no other transfer uses.
    ///
    /// Bytes that came while it was idle would be taken for the response to the request.
    fileprivate var isSilent: Bool { isMultiplexed || (peek() < 0 && errno == EAGAIN) }

    /// Takes a pending error of the socket, whereupon libcurl sees the end of the connection too.
    fileprivate func peek() -> Int {
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
    }

    /// Milliseconds since bytes came; `nil` if that isn't known.
    var idleMilliseconds: Int64? {
        guard isOpen else { return nil }
        let time = wi_socket_idle_milliseconds(socket)
        return time < 0 ? nil : Int64(time)
    }
}

/// The connections of libcurl, so that kept ones are examined before they serve again. Belongs to the network thread.
///
/// libcurl takes a kept connection for alive where a look at it gives bytes or an error, so that stray bytes of a
/// broken server become the next request's answer, and connections that were reset fail requests.
final class SocketRegistry {
    private var open: [Int32: Connection] = [:]
    private var groups: [String: [Connection]] = [:]
    private var pass = 1

    /// Notes that libcurl has opened `socket`.
    func open(_ socket: Int32, group: String, opener: UInt64) -> Connection {
        let connection = Connection(socket, group: group, opener: opener)
        open[socket] = connection
        groups[group, default: []].append(connection)
        return connection
    }

    /// Notes that libcurl is about to close `socket`.
    func close(_ socket: Int32) {
        guard let connection = open.removeValue(forKey: socket) else { return }
        let count = connection.peek()
        connection.wasEndedHere = count > 0 || (count < 0 && errno == EAGAIN)
        connection.isOpen = false
        let rest = groups[connection.group]?.filter { $0 !== connection } ?? []
        groups[connection.group] = rest.isEmpty ? nil : rest
    }

    /// Returns the connection of `group` with this port on this machine, which a transfer begins to use.
    ///
    /// `tls` is what the handshake showed if the transfer opened the connection.
    func begin(port: Int, group: String, user: UInt64, tls: TLSFacts?) -> Connection? {
        guard let connection = groups[group]?.first(where: { $0.localPort == port }) else { return nil }
        connection.users += 1
        if connection.opener == user, connection.tls == nil { connection.tls = tls }
        return connection
    }

    /// Notes that a transfer sends and awaits nothing more over `connection`.
    func end(_ connection: Connection) { connection.users -= 1 }

    /// Notes that a whole response came over `connection`, which may serve other transfers.
    func keep(_ connection: Connection, isMultiplexed: Bool) {
        if connection.isOpen { connection.keep(isMultiplexed: isMultiplexed) }
    }

    /// Returns whether a request of `user` may go over `connection`; `hasUnread` if TLS holds bytes of it already.
    func isUsable(_ connection: Connection, user: UInt64, hasUnread: Bool) -> Bool {
        guard !connection.isSpoiled else { return false }
        guard connection.opener != user, !connection.isMultiplexed else { return true }
        return !hasUnread && connection.isSilent
    }

    /// Makes sure that no further request goes over `connection`.
    func spoil(_ connection: Connection) { connection.isSpoiled = true }

    /// Ends `connection`: the server sees it at once, and libcurl drops it.
    func shutDown(_ connection: Connection) {
        guard connection.isOpen else { return }
        connection.isSpoiled = true
        // libcurl takes a socket with unread bytes for alive.
        drain(connection.socket)
        shutdown(connection.socket, Int32(SHUT_RDWR))
    }

    /// Begins a new pass: libcurl ran, and connections may have changed.
    func beginPass() { pass += 1 }

    /// Examines every kept connection of `group` that no transfer uses, once in a pass, and ends those with stray bytes.
    ///
    /// The examination takes a pending error, whereupon libcurl sees the end and drops the connection.
    func sweep(_ group: String) {
        for connection in groups[group] ?? [] {
            guard connection.isKept, connection.users == 0, connection.pass != pass else { continue }
            connection.pass = pass
            if connection.peek() > 0, !connection.isMultiplexed { shutDown(connection) }
        }
    }

    private func drain(_ socket: Int32) {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            // Bounded: a server that never stops sending must not hold the network thread.
            for _ in 0..<256 where recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) <= 0 {
                return
            }
        }
    }
}
