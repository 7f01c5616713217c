// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImage

/// A range of IP addresses in CIDR notation, or the clients of a Unix socket.
package struct AddressRange: Sendable, Hashable {
    /// The bytes of the first address. They're empty for Unix sockets.
    private let bytes: [UInt8]
    private let bits: Int

    /// Creates a range from text such as `10.0.0.0/8`, `::1`, or `unix`. Returns `nil` if the text isn't valid.
    package init?(_ text: String) {
        if text == "unix" {
            (bytes, bits) = ([], 0)
            return
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let bytes = Self.bytes(of: String(parts[0])) else { return nil }
        let length = parts.count == 2 ? Int(parts[1]) : bytes.count * 8
        guard let length, (0...bytes.count * 8).contains(length) else { return nil }
        (self.bytes, bits) = (bytes, length)
    }

    /// Returns whether the range contains a numeric address, or `unix`.
    package func contains(_ address: String) -> Bool {
        if address == "unix" { return bytes.isEmpty }
        guard let other = Self.bytes(of: address), other.count == bytes.count else { return false }
        return (0..<bits).allSatisfy { bit in
            let mask: UInt8 = 0x80 >> UInt8(bit % 8)
            return bytes[bit / 8] & mask == other[bit / 8] & mask
        }
    }

    /// Returns the 4 or 16 bytes of a numeric address. IPv4 addresses that are mapped to IPv6 have 4 bytes.
    fileprivate static func bytes(of text: String) -> [UInt8]? {
        // The functions would stop at a zero byte.
        guard !text.utf8.contains(0) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes.prefix(4)) }
        guard inet_pton(AF_INET6, text, &bytes) == 1 else { return nil }
        let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return isMapped ? Array(bytes.suffix(4)) : bytes
    }
}

/// The client of a request.
package enum ClientAddress {
    /// Returns the numeric address of the client, or `unix`.
    ///
    /// If the peer is a trusted proxy, the address is the last address of `X-Forwarded-For` that isn't a trusted proxy.
    package static func address(peer: String, headers: HTTPHeaderFields, trusted: [AddressRange]) -> String {
        let isTrusted = { (address: String) in trusted.contains { $0.contains(address) } }
        guard isTrusted(peer) else { return peer }
        let hops = headers.values(for: "X-Forwarded-For").flatMap { $0.split(separator: ",") }
        var client = peer
        for hop in hops.reversed() {
            let address = hop.trimmingCharacters(in: .whitespaces)
            guard AddressRange.bytes(of: address) != nil else { break }
            client = address
            if !isTrusted(address) { break }
        }
        return client
    }

    /// Returns the name under which the requests of a client are counted. An IPv6 client usually has a network of 64
    /// bits, so it could otherwise appear as many clients.
    package static func name(of address: String) -> String {
        guard let bytes = AddressRange.bytes(of: address), bytes.count == 16 else { return address }
        return bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
    }
}
