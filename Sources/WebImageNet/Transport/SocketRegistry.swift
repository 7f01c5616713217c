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
        /// Whether bytes that wait there cannot be anything but stray.
        let isPlain: Bool
    }

    private var idle: [Int32: Idle] = [:]
    private var groups: [String: Set<Int32>] = [:]
    /// Closed sockets whose server still held the connection, until their numbers are used again.
    private var endedHere: Set<Int32> = []

    /// How many kept connections are known.
    var idleCount: Int { idle.count }

    /// Notes that a transfer of `group` is done with `socket`, which may serve others of the group.
    func release(_ socket: Int32, group: String, isPlain: Bool) {
        forget(socket)
        idle[socket] = Idle(group: group, isPlain: isPlain)
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

    /// Looks at every kept connection of `group` that no transfer uses. The look takes a pending error, whereupon
    /// libcurl sees the end and drops the connection; where stray bytes wait they are read off and the connection
    /// is shut down. `busySockets` gives nil where it is not known which are in use: then nothing is read off.
    func sweep(_ group: String, busySockets: () -> Set<Int32>?) {
        guard let sockets = groups[group] else { return }
        let busy = busySockets()
        var byte: UInt8 = 0
        for socket in sockets where busy?.contains(socket) != true {
            let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
            guard count > 0, busy != nil, idle[socket]?.isPlain == true else { continue }
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
