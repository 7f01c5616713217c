// SPDX-License-Identifier: MIT

import CCurl
import Glibc

/// A connection that libcurl opened. Only the network thread uses it.
final class Connection {
    let socket: Int32
    let group: String
    /// The transfer for which the connection was opened.
    let opener: UInt64
    /// The number of the connection in the order of opening, starting at 1.
    let number: Int
    /// The inode number of the socket. No later socket with the same descriptor has the same number.
    private let identity: ino_t?
    private var knownPort: Int?
    fileprivate(set) var tls: TLSFacts?
    /// The identity of the TLS connection, or `nil` without TLS or if it's unknown.
    var session: UnsafeMutableRawPointer?
    fileprivate(set) var isOpen = true
    /// Whether a request was sent over the connection. libcurl reports when it closes such a socket.
    fileprivate var isEstablished = false
    /// Whether libcurl closed the connection while the server still had it open.
    fileprivate(set) var wasEndedHere = false
    /// Whether a complete response was received over the connection.
    fileprivate(set) var isReusable = false
    /// Whether the connection must not be used for further requests.
    fileprivate(set) var isSpoiled = false
    private(set) var responses = 0
    /// The last HTTP/2 stream that the server may have processed, or `nil` before the server announces it with GOAWAY
    /// (RFC 9113 6.8).
    private(set) var lastProcessedStream: Int?
    /// The connections whose transfers were repeated over this one although one of them may have made its connection
    /// unusable. Each connection has at most one such transfer here.
    private var origins: Set<Int> = []
    fileprivate(set) var users = 0
    /// The pass in which the connection was last examined.
    fileprivate var pass = 0
    /// The pass in which the sweep found no received data and no end of the connection.
    fileprivate var silentPass = 0
    private var isKnownMultiplexed = false

    fileprivate init(_ socket: Int32, group: String, opener: UInt64, number: Int) {
        self.socket = socket
        self.group = group
        self.opener = opener
        self.number = number
        identity = Self.identity(of: socket)
    }

    private static func identity(of socket: Int32) -> ino_t? {
        var facts = stat()
        return fstat(socket, &facts) == 0 ? facts.st_ino : nil
    }

    /// libcurl 7.88 calls `CURLOPT_CLOSESOCKETFUNCTION` only for connected sockets. It closes the others (refused, or
    /// abandoned while connecting) itself, and another part of the program may immediately reuse their descriptors.
    fileprivate func verifyOpen() -> Bool {
        if isOpen, !isEstablished, Self.identity(of: socket) != identity { isOpen = false }
        return isOpen
    }

    var localPort: Int? {
        if knownPort == nil, verifyOpen() { knownPort = Self.localPort(of: socket) }
        return knownPort
    }

    private static func localPort(of socket: Int32) -> Int? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) == 0 }
        }
        guard isKnown else { return nil }
        // The port is at the same offset in both address families.
        let port = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { Int(UInt16(bigEndian: $0.pointee.sin_port)) }
        }
        return port == 0 ? nil : port
    }

    /// Whether several transfers can share the connection (HTTP/2).
    var isMultiplexed: Bool { isKnownMultiplexed || tls?.isHTTP2 == true }

    func recordResponse() { responses += 1 }

    /// Records that the server processes no stream above `last`. A later frame can only decrease the number.
    func recordGoAway(last: Int) { lastProcessedStream = min(lastProcessedStream ?? last, last) }

    /// Whether a transfer left the connection although the server neither announced nor performed its end. One of the
    /// streams may have received data that violates the rules of HTTP/2.
    private(set) var isSuspect = false

    /// Records that a transfer stopped using the connection without a response.
    fileprivate func recordLeaving() {
        if lastProcessedStream == nil, isOpen ? !isAtEnd : wasEndedHere { isSuspect = true }
    }

    /// Records that a transfer is repeated over this connection after `origin`. Returns `false` if another transfer of
    /// that connection was already repeated here.
    func admit(from origin: Connection) -> Bool { origins.insert(origin.number).inserted }

    fileprivate func keep(isMultiplexed: Bool) {
        isReusable = true
        if isMultiplexed { isKnownMultiplexed = true }
    }

    /// Whether the server will send no more data.
    var isAtEnd: Bool {
        guard isOpen, tls?.hasEnded != true else { return true }
        let count = peek()
        return count == 0 || (count < 0 && errno != EAGAIN)
    }

    /// Data that was received while the connection was idle would be mistaken for the response.
    fileprivate var isSilent: Bool { isMultiplexed || (peek() < 0 && errno == EAGAIN) }

    /// Peeks at one byte. This call also consumes a pending error of the socket, after which libcurl sees the end of
    /// the connection.
    fileprivate func peek() -> Int {
        guard verifyOpen() else { return 0 }
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
    }

    /// The time since data was received, in milliseconds, or `nil` if it's unknown.
    var idleMilliseconds: Int64? {
        guard verifyOpen() else { return nil }
        let time = wi_socket_idle_milliseconds(socket)
        return time < 0 ? nil : Int64(time)
    }
}

/// A registry of libcurl's connections, which are examined before they're reused. Only the network thread uses it.
///
/// libcurl considers an idle connection alive if a check finds data or an error. Without the registry, stray data from
/// a faulty server would be mistaken for the next response, and requests over reset connections would fail.
final class IdleConnectionChecker {
    private var open: [Int32: Connection] = [:]
    private var groups: [String: [Connection]] = [:]
    private var pass = 1
    private(set) var opened = 0
    /// The number of connections that their openers began to use.
    private(set) var established = 0
    /// The HTTP/2 connections that a transfer left without a response in this pass.
    private var left: [Connection] = []

    func open(_ socket: Int32, group: String, opener: UInt64) -> Connection {
        opened += 1
        let connection = Connection(socket, group: group, opener: opener, number: opened)
        open[socket] = connection
        groups[group, default: []].append(connection)
        return connection
    }

    func close(_ socket: Int32) {
        guard let connection = open.removeValue(forKey: socket) else { return }
        // After libcurl closed the socket, nothing would show which side ended the connection.
        let count = connection.peek()
        connection.wasEndedHere = count > 0 || (count < 0 && errno == EAGAIN)
        connection.isOpen = false
        let rest = groups[connection.group]?.filter { $0 !== connection } ?? []
        groups[connection.group] = rest.isEmpty ? nil : rest
    }

    /// `tls` is the information from the handshake if the transfer opened the connection.
    func begin(port: Int, group: String, user: UInt64, tls: TLSFacts?) -> Connection? {
        // libcurl 7.88 has no identifiers for connections (`CURLINFO_CONN_ID` needs 8.2), so the local port identifies
        // them.
        guard let connection = groups[group]?.first(where: { $0.localPort == port && $0.verifyOpen() }) else {
            return nil
        }
        connection.users += 1
        if !connection.isEstablished { established += 1 }
        connection.isEstablished = true
        if connection.opener == user, connection.tls == nil { connection.tls = tls }
        return connection
    }

    func isOpening(_ group: String) -> Bool {
        groups[group]?.contains { !$0.isEstablished && $0.verifyOpen() } ?? false
    }

    func end(_ connection: Connection) { connection.users -= 1 }

    /// Records that a transfer stopped using `connection` without a response. Other streams may be affected.
    func leave(_ connection: Connection) {
        guard connection.isMultiplexed, !connection.isSpoiled else { return }
        connection.recordLeaving()
        left.append(connection)
    }

    /// Whether ``takeLeft()`` returns connections.
    var hasLeft: Bool { !left.isEmpty }

    func takeLeft() -> [Connection] {
        defer { left = [] }
        return left
    }

    /// Records that a complete response was received over `connection`, which other transfers may then reuse.
    func keep(_ connection: Connection, isMultiplexed: Bool) {
        if connection.isOpen { connection.keep(isMultiplexed: isMultiplexed) }
    }

    /// `hasUnread` indicates whether TLS already buffers received data.
    func isUsable(_ connection: Connection, user: UInt64, hasUnread: Bool) -> Bool {
        guard !connection.isSpoiled else { return false }
        // A connection that was opened for the request was never idle. HTTP/2 connections receive frames such as PING
        // and SETTINGS while they are idle.
        guard connection.opener != user, !connection.isMultiplexed else { return true }
        // The sweep that preceded the start of the transfer may have just examined the connection.
        let wasSilent = connection.silentPass == pass
        connection.silentPass = 0
        return !hasUnread && (wasSilent || connection.isSilent)
    }

    /// Removes the sockets that were opened for a finished transfer and that libcurl closed without a report.
    func removeClosed(openedFor opener: UInt64, group: String) {
        func isClosed(_ connection: Connection) -> Bool { connection.opener == opener && !connection.verifyOpen() }
        guard let connections = groups[group], connections.contains(where: isClosed) else { return }
        let closed = connections.filter(isClosed)
        for connection in closed where open[connection.socket] === connection { open[connection.socket] = nil }
        let rest = connections.filter(\.isOpen)
        groups[group] = rest.isEmpty ? nil : rest
    }

    var count: Int { groups.values.reduce(0) { $0 + $1.count } }

    func spoil(_ connection: Connection) { connection.isSpoiled = true }

    /// Shuts down `connection`. The server is notified immediately, and libcurl closes the connection.
    func shutDown(_ connection: Connection) {
        connection.isSpoiled = true
        guard connection.verifyOpen() else { return }
        // libcurl considers a socket with unread data alive.
        drain(connection.socket)
        shutdown(connection.socket, Int32(SHUT_RDWR))
    }

    /// Begins a new pass. Connections may have changed because libcurl ran.
    func beginPass() { pass += 1 }

    /// Examines each reusable connection that no transfer uses once per pass, and shuts down those with stray data.
    ///
    /// The check consumes a pending error, after which libcurl sees the end and closes the connection.
    func sweep(_ group: String) {
        for connection in groups[group] ?? [] {
            guard connection.isReusable, connection.users == 0, connection.pass != pass else { continue }
            connection.pass = pass
            let count = connection.peek()
            if count < 0, errno == EAGAIN { connection.silentPass = pass }
            // An HTTP/2 connection may receive frames at any time, so data on it isn't stray data.
            if count > 0, !connection.isMultiplexed { shutDown(connection) }
        }
    }

    private func drain(_ socket: Int32) {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            // Limit the number of reads, so a server that sends data endlessly can't block the network thread.
            for _ in 0..<256 where recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) <= 0 {
                return
            }
        }
    }
}
