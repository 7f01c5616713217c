// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// Ports of 127.0.0.1 for servers that tests start.
enum LocalPorts {
    /// Ports that were free a moment ago, all different.
    static func free(_ count: Int) -> [UInt16] {
        var sockets: [Int32] = []
        defer { for descriptor in sockets { close(descriptor) } }
        return (0..<count).compactMap { _ in
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            sockets.append(descriptor)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            var address = loopback(port: 0)
            let isNamed = withName(&address) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
            return isNamed ? UInt16(bigEndian: address.sin_port) : nil
        }
    }

    /// Whether somebody listens on a port of 127.0.0.1.
    static func answers(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(port: port)
        return withName(&address) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    private static func withName<Result>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
    }
}
