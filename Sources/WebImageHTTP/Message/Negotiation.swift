// SPDX-License-Identifier: MIT

import Foundation

/// Fields by which answers are negotiated (RFC 9110 12.5), in a form in which equal wishes are equal texts.
enum Negotiation {
    /// Whose members are alternatives with weights: their order says nothing.
    private static let weighted: Set<String> = ["accept", "accept-charset", "accept-encoding", "accept-language"]

    /// Whether `name`, in lower case, compares without case and blanks.
    static func covers(_ name: String) -> Bool { name.hasPrefix("accept") }

    /// `members` of the field `name`, in lower case: no blanks, the highest weight left out, in one order where order
    /// says nothing.
    static func normalized(_ name: String, _ members: [String]) -> String {
        let plain = members.map { $0.lowercased().filter { $0 != " " && $0 != "\t" } }
        guard weighted.contains(name) else { return plain.joined(separator: ",") }
        return plain.map(withNormalizedWeight).sorted().joined(separator: ",")
    }

    /// `q=1` and none are the same, and so are `q=0.5` and `q=0.500` (RFC 9110 12.4.2).
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
