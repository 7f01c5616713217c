// SPDX-License-Identifier: MIT

import Glibc

/// An IPv4 or IPv6 address in network order.
struct IPAddress: Sendable, Hashable {
    /// 4 or 16 bytes.
    let bytes: [UInt8]

    /// nil for any other number of bytes than 4 and 16.
    init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// The address of a socket name; nil for other families.
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

    /// An address as the host of a URL may spell it: dotted, octal, hexadecimal or as one number (as `inet_aton`
    /// and with it the system's resolver reads them), or IPv6 with or without brackets. nil for names.
    init?(host: String) {
        var text = host
        if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
        // A zone does not change which kind of address it is.
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

    /// Whether the first `length` bits are those of `prefix`.
    func hasPrefix(_ prefix: [UInt8], _ length: Int) -> Bool {
        for bit in 0..<length {
            let mask: UInt8 = 0x80 >> UInt8(bit % 8)
            let wanted = bit / 8 < prefix.count ? prefix[bit / 8] : 0
            if (bytes[bit / 8] ^ wanted) & mask != 0 { return false }
        }
        return true
    }
}
