// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// A host in its normal form.
///
/// One host has many spellings. The normal form is in lowercase ASCII, percent-decoded, and has no trailing dot.
/// Internationalized names are in Punycode. The normal form of an IPv4 address is dotted decimal, regardless of octal,
/// hexadecimal, and short forms, and the normal form of an IPv4-mapped IPv6 address is the IPv4 address. All
/// comparisons of hosts use this form, and requests are sent to it.
package struct HostName: Sendable, Hashable, CustomStringConvertible {
    /// The host without brackets. The zone of a link-local IPv6 address follows a percent sign.
    package let text: String
    /// The 4 or 16 bytes of an IP address in network byte order, or `nil` for a name.
    package let addressBytes: [UInt8]?

    /// Creates the normal form of a host.
    ///
    /// - Parameter spelling: The host as written in a URL, with or without brackets and percent-encoding, or as
    ///   written by the user.
    /// - Returns: `nil` if the host is empty, contains a character that isn't valid in host names, has an empty label,
    ///   or ends with a number without being an IPv4 address.
    package init?(_ spelling: String) {
        if Self.isPlain(spelling.utf8) {
            self.init(text: spelling, addressBytes: nil)
            return
        }
        if let address = Self.plainAddress4(spelling.utf8) {
            self.init(text: spelling, addressBytes: address)
            return
        }
        var bytes = Array(spelling.utf8)
        let isBracketed = bytes.first == UInt8(ascii: "[") && bytes.last == UInt8(ascii: "]")
        if isBracketed { bytes = Array(bytes.dropFirst().dropLast()) }
        if isBracketed || bytes.contains(UInt8(ascii: ":")) {
            self.init(bytes6: bytes)
        } else {
            self.init(name: bytes)
        }
    }

    /// Creates the normal form of the host of a URL. Returns `nil` if the URL has no valid host.
    package init?(of url: URL) {
        guard let host = url.host() else { return nil }
        self.init(host)
    }

    /// Creates the normal form of the host in the text of a URL. Returns `nil` if the URL has no valid host.
    package init?(ofURL text: String) {
        guard let range = Self.hostRange(text.utf8) else { return nil }
        self.init(String(text[range]))
    }

    private init(text: String, addressBytes: [UInt8]?) {
        self.text = text
        self.addressBytes = addressBytes
    }

    /// The host without brackets.
    package var description: String { text }

    /// The host as written in a URL, with brackets around an IPv6 address.
    package var urlText: String {
        guard addressBytes?.count == 16 else { return text }
        return "[\(text.replacing("%", with: "%25"))]"
    }
}

// MARK: - Names

extension HostName {
    private init?(name spelling: [UInt8]) {
        guard let decoded = Self.percentDecoded(spelling), let ascii = Self.punycode(decoded) else { return nil }
        var bytes = ascii.map(Self.lowercased)
        guard bytes.allSatisfy(Self.isHostByte) else { return nil }
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let last = labels.last, labels.allSatisfy({ !$0.isEmpty }) else { return nil }
        guard Self.isNumber(last) else {
            self.init(text: String(decoding: bytes, as: UTF8.self), addressBytes: nil)
            return
        }
        // Resolvers treat a host that ends with a number as an address, so it's either an address or invalid.
        guard let address = Self.address4(labels) else { return nil }
        self.init(bytes4: address)
    }

    /// Returns whether the spelling is the normal form of a name. This is the case for almost all hosts.
    private static func isPlain(_ spelling: some Sequence<UInt8>) -> Bool {
        var labelStart = UInt8(ascii: ".")
        var isAtStart = true
        for byte in spelling {
            if byte == UInt8(ascii: ".") {
                if isAtStart { return false }
                isAtStart = true
            } else {
                guard isHostByte(byte) else { return false }
                if isAtStart { labelStart = byte }
                isAtStart = false
            }
        }
        return !isAtStart && !isDigit(labelStart)
    }

    /// Returns whether a byte is valid in the normal form of a name. Underscores aren't valid in host names, but they
    /// occur.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Returns the bytes without percent-encoding, or `nil` if an escape is incomplete.
    private static func percentDecoded(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.contains(UInt8(ascii: "%")) else { return bytes }
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] != UInt8(ascii: "%") {
                decoded.append(bytes[index])
                index += 1
            } else {
                guard index + 2 < bytes.count, let high = hexValue(bytes[index + 1]),
                    let low = hexValue(bytes[index + 2])
                else { return nil }
                decoded.append(high << 4 | low)
                index += 3
            }
        }
        return decoded
    }

    /// Returns a name in Punycode (UTS 46), or `nil` if it isn't valid UTF-8 or has no Punycode form.
    private static func punycode(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.contains(where: { $0 >= 128 }) else { return bytes }
        // No ASCII character may end the host of the URL that Foundation parses.
        guard bytes.allSatisfy({ $0 >= 128 || isHostByte(lowercased($0)) }),
            let name = String(validating: bytes, as: UTF8.self),
            let host = URLComponents(string: "http://\(name)/")?.encodedHost
        else { return nil }
        return Array(host.utf8)
    }
}

// MARK: - Addresses

extension HostName {
    private init(bytes4 bytes: [UInt8]) {
        self.init(text: bytes.map(String.init).joined(separator: "."), addressBytes: bytes)
    }

    /// Returns the bytes of an IPv4 address whose spelling is the normal form, or `nil` for all other spellings.
    private static func plainAddress4(_ spelling: some Sequence<UInt8>) -> [UInt8]? {
        var address: UInt32 = 0
        var (number, digits, dots): (UInt32, Int, Int) = (0, 0, 0)
        for byte in spelling {
            if byte == UInt8(ascii: ".") {
                guard digits > 0, dots < 3 else { return nil }
                address = address << 8 | number
                (number, digits, dots) = (0, 0, dots + 1)
            } else {
                // A number that begins with 0 can be octal.
                guard isDigit(byte), digits == 0 || number > 0 else { return nil }
                number = number * 10 + UInt32(byte - UInt8(ascii: "0"))
                guard number <= 255 else { return nil }
                digits += 1
            }
        }
        guard dots == 3, digits > 0 else { return nil }
        address = address << 8 | number
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: address >> $0) }
    }

    /// Creates an IPv6 address, which can have a zone (RFC 4007 11, RFC 6874).
    private init?(bytes6 spelling: [UInt8]) {
        let address = spelling.prefix { $0 != UInt8(ascii: "%") }
        // `inet_pton` would stop at a zero byte.
        guard
            address.allSatisfy({
                Self.hexValue($0) != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            })
        else { return nil }
        var parsed = in6_addr()
        guard inet_pton(AF_INET6, String(decoding: address, as: UTF8.self), &parsed) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: parsed) { Array($0) }
        guard let zone = Self.zone(spelling[address.endIndex...]) else { return nil }
        if bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]) {
            self.init(bytes4: Array(bytes[12...]))
            return
        }
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &parsed, &buffer, socklen_t(buffer.count)) != nil else { return nil }
        let digits = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // A zone has a meaning only for link-local unicast and for multicast addresses.
        let hasZone = (bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80) || bytes[0] == 0xff
        self.init(text: hasZone && !zone.isEmpty ? "\(digits)%\(zone)" : digits, addressBytes: bytes)
    }

    /// Returns the zone after a percent sign, which can itself be percent-encoded. Returns an empty string if there is
    /// no zone, or `nil` if the zone isn't valid.
    private static func zone(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.first == UInt8(ascii: "%") else { return "" }
        var zone = bytes.dropFirst()
        if zone.starts(with: "25".utf8) { zone = zone.dropFirst(2) }
        guard !zone.isEmpty, zone.allSatisfy({ isHostByte(lowercased($0)) }) else { return nil }
        return String(decoding: zone, as: UTF8.self)
    }

    /// Returns whether a label is a decimal, octal, or hexadecimal number.
    private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
        label.allSatisfy(isDigit)
            || (label.starts(with: "0x".utf8) && label.dropFirst(2).allSatisfy { hexValue($0) != nil })
    }

    /// Returns the bytes of an IPv4 address of one to four numbers, as `inet_aton` interprets them: the last number
    /// fills the remaining bytes.
    private static func address4(_ labels: [ArraySlice<UInt8>]) -> [UInt8]? {
        guard (1...4).contains(labels.count) else { return nil }
        let numbers = labels.compactMap(number)
        guard numbers.count == labels.count, let last = numbers.last,
            numbers.dropLast().allSatisfy({ $0 <= 255 }), last >> UInt64(8 * (5 - numbers.count)) == 0
        else { return nil }
        var value = last
        for (index, number) in numbers.dropLast().enumerated() { value |= number << UInt64(24 - 8 * index) }
        return (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt64(24 - 8 * $0)) }
    }

    /// Parses a number with the prefix `0x` (hexadecimal), `0` (octal), or none (decimal).
    private static func number(_ label: ArraySlice<UInt8>) -> UInt64? {
        guard isNumber(label) else { return nil }
        let text = String(decoding: label, as: UTF8.self)
        if text.hasPrefix("0x") { return text.count == 2 ? 0 : UInt64(text.dropFirst(2), radix: 16) }
        return UInt64(text, radix: text.count > 1 && text.hasPrefix("0") ? 8 : 10)
    }
}

// MARK: - URLs

extension HostName {
    /// Returns the text of a URL with its host in the normal form.
    ///
    /// - Parameter url: The text of a URL, such as `absoluteString`.
    /// - Returns: The text, which is unchanged if it has no authority, or `nil` if the host isn't valid.
    package static func normalizing(url: String) -> String? {
        let bytes = url.utf8
        guard let range = hostRange(bytes) else { return url }
        let spelling = String(url[range])
        guard let host = HostName(spelling) else { return nil }
        return host.urlText == spelling ? url : url.replacingCharacters(in: range, with: host.urlText)
    }

    /// Returns the text of a URL for cache keys.
    ///
    /// The hosts of `http` and `https` URLs are in the normal form. All other texts are unchanged, because the
    /// authority of another scheme isn't necessarily a host.
    package static func keyText(ofURL url: String) -> String {
        // The key of every request is made here, and almost all hosts are in the normal form.
        let isPlain = url.utf8.withContiguousStorageIfAvailable(hasPlainHost) ?? false
        guard !isPlain, isWeb(url.utf8) else { return url }
        return normalizing(url: url) ?? url
    }

    private static func hasPlainHost(_ url: UnsafeBufferPointer<UInt8>) -> Bool {
        guard isWeb(url) else { return true }
        let authority = url.dropFirst("http://".utf8.count).drop { $0 == UInt8(ascii: "/") }
            .prefix { !"/?#".utf8.contains($0) }
        return !authority.contains(UInt8(ascii: "@")) && isPlain(authority.prefix { $0 != UInt8(ascii: ":") })
    }

    /// Returns whether a URL has the scheme `http` or `https` and an authority. Schemes are case-insensitive.
    private static func isWeb(_ url: some Sequence<UInt8>) -> Bool {
        var rest = url.makeIterator()
        for byte in "http".utf8 where rest.next().map({ $0 | 0x20 }) != byte { return false }
        var next = rest.next()
        if next.map({ $0 | 0x20 }) == UInt8(ascii: "s") { next = rest.next() }
        return next == UInt8(ascii: ":") && rest.next() == UInt8(ascii: "/") && rest.next() == UInt8(ascii: "/")
    }

    /// Returns the range of the host in a URL, with its brackets, or `nil` if the URL has no authority (RFC 3986 3.2).
    private static func hostRange(_ bytes: String.UTF8View) -> Range<String.Index>? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return nil
        }
        var authority = bytes[bytes.index(colon, offsetBy: 3)...].prefix { !"/?#".utf8.contains($0) }
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[authority.index(after: at)...] }
        if authority.first == UInt8(ascii: "["), let end = authority.lastIndex(of: UInt8(ascii: "]")) {
            return authority.startIndex..<authority.index(after: end)
        }
        return authority.startIndex..<(authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex)
    }
}
