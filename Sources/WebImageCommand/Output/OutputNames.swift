// SPDX-License-Identifier: MIT

import Foundation

/// Names of files for pictures from URLs: safe (no folder, no hidden file, no control character) and unique among
/// each other, also on file systems that do not tell capitals from small letters.
package struct OutputNames: Sendable {
    private var taken: Set<String> = []

    package init() {}

    /// A name without extension for the picture at `url`. Later ones of the same name are numbered.
    package mutating func claim(for url: URL) -> String {
        let stem = Self.stem(of: url)
        var candidate = stem
        var number = 2
        while !taken.insert(candidate.lowercased()).inserted {
            candidate = "\(stem)-\(number)"
            number += 1
        }
        return candidate
    }

    /// The last part of the path without extension, or the host where there is no path.
    static func stem(of url: URL) -> String {
        // An escaped slash is one like any other by now.
        let parts = url.scheme == "data" ? [] : url.lastPathComponent.split(separator: "/")
        let last = parts.last.map(String.init) ?? ""
        let name = last.isEmpty ? url.host(percentEncoded: false) ?? "" : last
        let dot = name.lastIndex(of: ".").flatMap { $0 > name.startIndex && last == name ? $0 : nil }
        let stem = cleaned(String(dot.map { name[..<$0] } ?? name[...]))
        return stem.isEmpty ? "picture" : stem
    }

    /// Letters, digits and harmless marks stay; at most 120 bytes; no dot, dash or blank at either end.
    private static func cleaned(_ name: String) -> String {
        let kept = name.map { character -> Character in
            let isSafe =
                character.isLetter || character.isNumber || "-_.,+@()= ".contains(character)
            return isSafe ? character : "_"
        }
        var result = String(kept).trimmingCharacters(in: CharacterSet(charactersIn: ".- "))
        while result.utf8.count > 120 { result.removeLast() }
        return result.trimmingCharacters(in: CharacterSet(charactersIn: ".- "))
    }
}
