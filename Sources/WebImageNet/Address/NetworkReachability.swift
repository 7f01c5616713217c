// SPDX-License-Identifier: MIT

import Glibc

/// A check for network connectivity.
enum NetworkReachability {
    /// No data is sent, because connecting a datagram socket only looks up the route. The destinations are
    /// documentation addresses (RFC 5737, RFC 3849).
    static var exist: Bool { reaches("192.0.2.1", AF_INET) || reaches("2001:db8::1", AF_INET6) }

    private static func reaches(_ address: String, _ family: Int32) -> Bool {
        let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        if family == AF_INET {
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = in_port_t(9).bigEndian
            inet_pton(AF_INET, address, &name.sin_addr)
            return connects(descriptor, &name)
        }
        var name = sockaddr_in6()
        name.sin6_family = sa_family_t(AF_INET6)
        name.sin6_port = in_port_t(9).bigEndian
        inet_pton(AF_INET6, address, &name.sin6_addr)
        return connects(descriptor, &name)
    }

    private static func connects<Name>(_ descriptor: Int32, _ name: inout Name) -> Bool {
        withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<Name>.size)) == 0
            }
        }
    }
}
