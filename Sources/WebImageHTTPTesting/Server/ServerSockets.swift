// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImageCore
import WebImageHTTP

/// The file descriptors of the loopback server: the listening socket, the wake-up pipe, and the connections.
///
/// Except for ``wake(_:)``, this value is confined to the server's thread.
struct ServerSockets {
    enum Event {
        case listener
        case wake
        case connection(Int, readable: Bool)
    }

    let port: UInt16
    let waker: Int32
    private let listener: Int32
    private let wakeReader: Int32
    private var connections: [(number: Int, poll: pollfd)] = []
    private var positions: [Int: Int] = [:]

    init() throws(ImageError) {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard listener >= 0 else { throw Self.failure("socket") }
        var pipe: [Int32] = [-1, -1]
        guard Glibc.pipe(&pipe) == 0 else { throw Self.failure("pipe") }
        wakeReader = pipe[0]
        waker = pipe[1]
        guard let port = Self.listen(on: listener) else { throw Self.failure("bind, listen") }
        self.port = port
        for descriptor in [listener, wakeReader, waker] { Self.prepare(descriptor) }
    }

    private static func failure(_ operation: String) -> ImageError {
        .cache(.systemCallFailed(operation: operation, path: "127.0.0.1", errno: errno))
    }

    private static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    private static func listen(on listener: Int32) -> UInt16? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isNamed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(listener, name, length) == 0 && Glibc.listen(listener, 1024) == 0
                    && getsockname(listener, name, &length) == 0
            }
        }
        return isNamed ? UInt16(bigEndian: address.sin_port) : nil
    }

    /// Ends the current or next call of ``wait(milliseconds:)``. You can call this method from any thread.
    static func wake(_ waker: Int32) {
        var one: UInt8 = 1
        _ = write(waker, &one, 1)
    }

    func wait(milliseconds: Int32) -> [Event] {
        var polls = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
        polls.append(pollfd(fd: wakeReader, events: Int16(POLLIN), revents: 0))
        polls.append(contentsOf: connections.lazy.map(\.poll))
        guard poll(&polls, nfds_t(polls.count), milliseconds) > 0 else { return [] }
        var events: [Event] = []
        if polls[1].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 256)
            while read(wakeReader, &bytes, bytes.count) == bytes.count {}
            events.append(.wake)
        }
        if polls[0].revents != 0 { events.append(.listener) }
        for (index, connection) in connections.enumerated() where polls[index + 2].revents != 0 {
            let readable = polls[index + 2].revents & ~Int16(POLLOUT) != 0
            events.append(.connection(connection.number, readable: readable))
        }
        return events
    }

    func accept() -> Int32? {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return nil }
        Self.prepare(descriptor)
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }

    mutating func add(_ descriptor: Int32, number: Int) {
        positions[number] = connections.count
        connections.append((number, pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)))
    }

    mutating func watch(number: Int, writable: Bool) {
        guard let position = positions[number] else { return }
        connections[position].poll.events = Int16(POLLIN | (writable ? POLLOUT : 0))
    }

    mutating func close(number: Int, resetting: Bool) {
        guard let position = positions.removeValue(forKey: number) else { return }
        let descriptor = connections[position].poll.fd
        connections.swapAt(position, connections.count - 1)
        connections.removeLast()
        if position < connections.count { positions[connections[position].number] = position }
        if resetting {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        Glibc.close(descriptor)
    }

    /// Closes the wake-up pipe. Call this method only when no thread can call ``wake(_:)``.
    func closeAll() {
        for descriptor in [wakeReader, waker] { Glibc.close(descriptor) }
    }

    /// Closes the listening socket so that the server accepts no further connections.
    func closeListener() { Glibc.close(listener) }
}
