// SPDX-License-Identifier: MIT

import Glibc
import WebImageCore

/// An IPv4 or IPv6 address in network byte order.
struct IPAddress: Sendable, Hashable {
    /// The 4 or 16 bytes of the address.
    let bytes: [UInt8]

    /// Creates an address. Returns `nil` unless there are 4 or 16 bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Creates the address of a socket name. Returns `nil` for other address families.
    init?(_ name: UnsafePointer<sockaddr>) {
        switch Int32(name.pointee.sa_family) {
        case AF_INET:
            let address = UnsafeRawPointer(name).load(as: sockaddr_in.self)
            bytes = withUnsafeBytes(of: address.sin_addr) { Array($0) }
        case AF_INET6:
            let address = UnsafeRawPointer(name).load(as: sockaddr_in6.self)
            bytes = withUnsafeBytes(of: address.sin6_addr) { Array($0) }
        default:
            return nil
        }
    }

    /// Creates the address of a host. Returns `nil` for names.
    init?(_ host: HostName) {
        guard let bytes = host.addressBytes else { return nil }
        self.init(bytes: bytes)
    }

    /// Parses an address in any spelling that ``HostName`` accepts. Returns `nil` for names and for invalid hosts.
    init?(host: String) {
        guard let host = HostName(host) else { return nil }
        self.init(host)
    }

    /// Returns whether the first `length` bits equal those of `prefix`.
    func hasPrefix(_ prefix: [UInt8], _ length: Int) -> Bool {
        for bit in 0..<length {
            let mask: UInt8 = 0x80 >> UInt8(bit % 8)
            // The tables of prefixes omit zero bytes at the end.
            let wanted = bit / 8 < prefix.count ? prefix[bit / 8] : 0
            if (bytes[bit / 8] ^ wanted) & mask != 0 { return false }
        }
        return true
    }
}
