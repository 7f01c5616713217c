// SPDX-License-Identifier: MIT

import Glibc

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

    /// Parses an address as written in the host of a URL. Returns `nil` for host names.
    ///
    /// The address is IPv6 with or without brackets, or IPv4 in any form that `inet_aton` and the system's resolver
    /// accept: dotted, octal, hexadecimal, or a single number.
    init?(host: String) {
        var text = host
        if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
        // Remove the zone, which doesn't affect the class of the address.
        if let percent = text.firstIndex(of: "%") { text = String(text[..<percent]) }
        var four = in_addr()
        var six = in6_addr()
        if inet_aton(text, &four) != 0 {
            bytes = withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = withUnsafeBytes(of: six) { Array($0) }
        } else {
            return nil
        }
    }

    /// Returns whether the first `length` bits equal those of `prefix`.
    func hasPrefix(_ prefix: [UInt8], _ length: Int) -> Bool {
        for bit in 0..<length {
            let mask: UInt8 = 0x80 >> UInt8(bit % 8)
            let wanted = bit / 8 < prefix.count ? prefix[bit / 8] : 0
            if (bytes[bit / 8] ^ wanted) & mask != 0 { return false }
        }
        return true
    }
}
