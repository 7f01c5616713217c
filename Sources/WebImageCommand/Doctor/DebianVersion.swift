// SPDX-License-Identifier: MIT

/// The version of a Debian package, ordered as deb-version(7) specifies.
package struct DebianVersion: Sendable, Comparable, CustomStringConvertible {
    package let description: String
    private let epoch: [UInt8]
    private let upstream: [UInt8]
    private let revision: [UInt8]

    /// Creates a version from a text such as `1:1.2.13.dfsg-1`.
    package init(_ text: String) {
        description = text
        var rest = Substring(text)
        if let colon = rest.firstIndex(of: ":") {
            epoch = Array(rest[..<colon].utf8)
            rest = rest[rest.index(after: colon)...]
        } else {
            epoch = []
        }
        if let dash = rest.lastIndex(of: "-") {
            upstream = Array(rest[..<dash].utf8)
            revision = Array(rest[rest.index(after: dash)...].utf8)
        } else {
            upstream = Array(rest.utf8)
            revision = []
        }
    }

    /// The version of the library, without the suffix of a repackaged source, such as `+dfsg`.
    package var upstreamVersion: UpstreamVersion? {
        // `UpstreamVersion` ends at “.dfsg” and “+ds”, too.
        UpstreamVersion(String(decoding: upstream, as: UTF8.self))
    }

    /// Returns whether both versions package the same version of the library.
    package func hasSameUpstream(as other: DebianVersion) -> Bool { upstreamVersion == other.upstreamVersion }

    package static func < (left: DebianVersion, right: DebianVersion) -> Bool { order(left, right) < 0 }
    package static func == (left: DebianVersion, right: DebianVersion) -> Bool { order(left, right) == 0 }

    private static func order(_ left: DebianVersion, _ right: DebianVersion) -> Int {
        for (a, b) in [(left.epoch, right.epoch), (left.upstream, right.upstream), (left.revision, right.revision)] {
            let order = compare(a[...], b[...])
            if order != 0 { return order }
        }
        return 0
    }

    /// Compares alternating parts without digits and with digits.
    private static func compare(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Int {
        var (a, b) = (left, right)
        while !a.isEmpty || !b.isEmpty {
            let (textA, textB) = (a.prefix { !isDigit($0) }, b.prefix { !isDigit($0) })
            for offset in 0..<max(textA.count, textB.count) {
                let difference = weight(textA, offset) - weight(textB, offset)
                if difference != 0 { return difference }
            }
            (a, b) = (a.dropFirst(textA.count), b.dropFirst(textB.count))
            let (digitsA, digitsB) = (a.prefix(while: isDigit), b.prefix(while: isDigit))
            // Compare without converting to an integer, because a number can have any length.
            let (numberA, numberB) = (digitsA.drop { $0 == 48 }, digitsB.drop { $0 == 48 })
            if numberA.count != numberB.count { return numberA.count - numberB.count }
            if numberA.elementsEqual(numberB) == false { return numberA.lexicographicallyPrecedes(numberB) ? -1 : 1 }
            (a, b) = (a.dropFirst(digitsA.count), b.dropFirst(digitsB.count))
        }
        return 0
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    /// Returns the order of a character: a tilde precedes the end, which precedes letters, which precede the rest.
    private static func weight(_ text: ArraySlice<UInt8>, _ offset: Int) -> Int {
        guard offset < text.count else { return 0 }
        let byte = text[text.startIndex + offset]
        switch byte {
        case 126: return -1
        case 65...90, 97...122: return Int(byte)
        default: return Int(byte) + 256
        }
    }
}
