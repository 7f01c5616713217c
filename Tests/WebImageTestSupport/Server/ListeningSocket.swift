// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// A listening socket on a loopback address.
public final class ListeningSocket: Sendable {
    /// The error that is thrown when the socket can't listen.
    public struct Failure: Error, CustomStringConvertible {
        /// The reason, as `strerror` describes it.
        public let description: String
    }

    /// The port of the socket.
    public let port: UInt16
    let descriptor: Int32
    private let fillers: [Int32]

    /// Creates a socket that listens on 127.0.0.1.
    ///
    /// - Parameters:
    ///   - port: The port, or 0 for a free port.
    ///   - isIPv6: A Boolean value that indicates whether the socket listens on ::1 instead.
    ///   - isFull: A Boolean value that indicates whether the connection queue is full and connections are never
    ///     accepted, so clients that connect must wait.
    public init(port: UInt16 = 0, isIPv6: Bool = false, isFull: Bool = false) throws {
        let socketType = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, socketType, 0)
        let bound = isIPv6 ? Self.bindIPv6(descriptor, port) : Self.bindIPv4(descriptor, port)
        guard let bound, listen(descriptor, isFull ? 0 : 128) == 0 else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw Failure(description: reason)
        }
        self.port = bound
        var fillers: [Int32] = []
        for _ in 0..<(isFull ? 4 : 0) {
            let filler = socket(isIPv6 ? AF_INET6 : AF_INET, socketType | Int32(SOCK_NONBLOCK.rawValue), 0)
            if isIPv6 { Self.connectIPv6(filler, bound) } else { Self.connectIPv4(filler, bound) }
            fillers.append(filler)
        }
        self.fillers = fillers
    }

    deinit { for socket in fillers + [descriptor] { close(socket) } }

    private static func ipv4(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    private static func ipv6(_ port: UInt16) -> sockaddr_in6 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        address.sin6_port = port.bigEndian
        return address
    }

    private static func withName<Address, Result>(
        _ address: inout Address, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    private static func bindIPv4(_ socket: Int32, _ port: UInt16) -> UInt16? {
        var address = ipv4(port)
        let isBound = withName(&address) { name, length in
            var length = length
            return bind(socket, name, length) == 0 && getsockname(socket, name, &length) == 0
        }
        return isBound ? UInt16(bigEndian: address.sin_port) : nil
    }

    private static func bindIPv6(_ socket: Int32, _ port: UInt16) -> UInt16? {
        var only: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &only, socklen_t(MemoryLayout<Int32>.size))
        var address = ipv6(port)
        let isBound = withName(&address) { name, length in
            var length = length
            return bind(socket, name, length) == 0 && getsockname(socket, name, &length) == 0
        }
        return isBound ? UInt16(bigEndian: address.sin6_port) : nil
    }

    private static func connectIPv4(_ socket: Int32, _ port: UInt16) {
        var address = ipv4(port)
        _ = withName(&address) { connect(socket, $0, $1) }
    }

    private static func connectIPv6(_ socket: Int32, _ port: UInt16) {
        var address = ipv6(port)
        _ = withName(&address) { connect(socket, $0, $1) }
    }
}

extension ListeningSocket {
    /// Blocks until a client connects, and returns the socket of the connection. The caller must close it.
    public func acceptOne() -> Int32 { accept(descriptor, nil, nil) }

    /// Stops listening. Afterward, ``acceptOne()`` returns -1.
    public func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
