// SPDX-License-Identifier: MIT

import Foundation

/// A generator of file names for images from URLs. The names contain no directories and no control characters, don't
/// hide the file, and are unique, even on file systems that ignore case.
package struct OutputNames: Sendable {
    private var used: Set<String> = []

    package init() {}

    /// Returns a unique name without an extension for the image at `url`. If the name already exists, a number is
    /// appended.
    package mutating func claim(for url: URL) -> String { claim(Self.stem(of: url)) }

    /// Returns `stem`, or a name with a number if the name already exists in `folder`.
    package mutating func claim(_ stem: String, in folder: String = "") -> String {
        var candidate = stem
        var number = 2
        while !used.insert("\(folder)/\(candidate)".lowercased()).inserted {
            candidate = "\(stem)-\(number)"
            number += 1
        }
        return candidate
    }

    /// Returns the last path component without its extension, or the host if the path is empty.
    package static func stem(of url: URL) -> String {
        // `lastPathComponent` has decoded escaped slashes, so split at them, too.
        let parts = url.scheme == "data" ? [] : url.lastPathComponent.split(separator: "/")
        let last = parts.last.map(String.init) ?? ""
        let name = last.isEmpty ? url.host(percentEncoded: false) ?? "" : last
        let dot = name.lastIndex(of: ".").flatMap { $0 > name.startIndex && last == name ? $0 : nil }
        let stem = cleaned(String(dot.map { name[..<$0] } ?? name[...]))
        return stem.isEmpty ? "image" : stem
    }

    /// Returns `name` with unsafe characters replaced, at most 120 bytes long, and without periods, hyphens, and spaces
    /// at both ends.
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
