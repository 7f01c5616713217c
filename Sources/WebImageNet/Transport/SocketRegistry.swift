// SPDX-License-Identifier: MIT

import Glibc

/// The descriptors of libcurl's connections, so that kept ones can be examined before they serve again.
/// Belongs to the network thread.
///
/// libcurl takes a kept connection for alive where a look at it gives bytes or an error, so that stray bytes of a
/// broken server become the next request's answer, and connections that were reset fail requests.
final class SocketRegistry {
    private struct Idle {
        let group: String
        /// Its port on this machine.
        let port: Int
        /// Whether bytes that wait there cannot be anything but stray.
        var isPlain: Bool
        /// The pass in which it was examined last.
        var pass = 0
    }

    private var idle: [Int32: Idle] = [:]
    private var groups: [String: Set<Int32>] = [:]
    /// Closed sockets whose server still held the connection, until their numbers are used again.
    private var endedHere: Set<Int32> = []
    private var pass = 1
    /// How many transfers use the connections of a port of this machine. Connections to different servers may share a
    /// port; each is busy then where one is.
    private var users: [Int: Int] = [:]

    /// How many kept connections are known.
    var idleCount: Int { idle.count }

    /// Notes that a transfer is about to send its request over the connection with this port.
    func begin(_ port: Int) { users[port, default: 0] += 1 }

    /// Notes that it sends and awaits nothing any more.
    func end(_ port: Int) {
        guard let count = users[port] else { return }
        users[port] = count > 1 ? count - 1 : nil
    }

    /// Notes that a transfer of `group` is done with `socket`, which may serve others of the group.
    func release(_ socket: Int32, port: Int, group: String, isPlain: Bool) {
        if let known = idle[socket], known.group == group, known.port == port {
            idle[socket]?.isPlain = isPlain
            return
        }
        forget(socket)
        idle[socket] = Idle(group: group, port: port, isPlain: isPlain)
        groups[group, default: []].insert(socket)
    }

    /// Notes that libcurl has opened `socket`.
    func open(_ socket: Int32) { endedHere.remove(socket) }

    /// Notes that libcurl is about to close `socket`.
    func close(_ socket: Int32) {
        forget(socket)
        var byte: UInt8 = 0
        let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        if count > 0 || (count < 0 && errno == EAGAIN) { endedHere.insert(socket) }
    }

    /// Whether the last connection of `socket` was closed while the server still held it.
    func wasEndedHere(_ socket: Int32) -> Bool { endedHere.contains(socket) }

    private func forget(_ socket: Int32) {
        guard let known = idle.removeValue(forKey: socket) else { return }
        groups[known.group]?.remove(socket)
        if groups[known.group]?.isEmpty == true { groups[known.group] = nil }
    }

    /// Begins a new pass: libcurl ran, and connections may have changed.
    func beginPass() { pass += 1 }

    /// Looks at every kept connection of `group` that no transfer uses, once in a pass. The look takes a pending error,
    /// whereupon libcurl sees the end and drops the connection; where stray bytes wait they are read off and the
    /// connection is shut down.
    func sweep(_ group: String) {
        guard let sockets = groups[group] else { return }
        var byte: UInt8 = 0
        for socket in sockets {
            guard let known = idle[socket], known.pass != pass, users[known.port] == nil else { continue }
            idle[socket]?.pass = pass
            let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
            guard count > 0, known.isPlain else { continue }
            drain(socket)
            shutdown(socket, Int32(SHUT_RDWR))
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
