// SPDX-License-Identifier: MIT

import Foundation

/// A normal form for the header fields of content negotiation (RFC 9110 12.5), in which equivalent values are equal
/// strings.
enum NegotiationHeaders {
    /// The header fields whose members are weighted alternatives, so their order has no meaning.
    private static let weighted: Set<String> = ["accept", "accept-charset", "accept-encoding", "accept-language"]

    /// Returns whether the values of the header field `name`, in lowercase, are compared without case and whitespace.
    static func covers(_ name: String) -> Bool { name.hasPrefix("accept") }

    /// The result has no whitespace and omits the weight 1. If the order has no meaning, the members are sorted.
    static func normalized(_ name: String, _ members: [String]) -> String {
        let plain = members.map { $0.lowercased().filter { $0 != " " && $0 != "\t" } }
        guard weighted.contains(name) else { return plain.joined(separator: ",") }
        return plain.map(withNormalizedWeight).sorted().joined(separator: ",")
    }

    /// Returns a member with a normalized weight: `q=1` equals no weight, and `q=0.5` equals `q=0.500` (RFC 9110
    /// 12.4.2).
    private static func withNormalizedWeight(_ member: String) -> String {
        guard let start = member.range(of: ";q=", options: .backwards) else { return member }
        let weight = member[start.upperBound...]
        guard weight.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") }) else { return member }
        var digits = weight
        if digits.contains(".") {
            while digits.last == "0" { digits.removeLast() }
            if digits.last == "." { digits.removeLast() }
        }
        return String(member[..<start.lowerBound]) + (digits == "1" ? "" : ";q=\(digits)")
    }
}
