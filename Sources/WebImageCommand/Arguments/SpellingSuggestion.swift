// SPDX-License-Identifier: MIT

/// A namespace for finding the word that a user probably meant.
package enum SpellingSuggestion {
    /// Returns the candidate that begins with a word, or else the one that is most similar to it. If several candidates
    /// are equally similar, the first one counts. The result is `nil` if more than a third of the characters, or more
    /// than three, differ.
    package static func nearest(to word: String, in candidates: [String]) -> String? {
        let word = Array(word.lowercased())
        // Longer words are no typing errors.
        guard (2...40).contains(word.count) else { return nil }
        if let longer = candidates.first(where: { $0.hasPrefix(String(word)) }) { return longer }
        let limit = max(1, min(3, word.count / 3))
        var nearest: (distance: Int, candidate: String)?
        for candidate in candidates {
            let distance = distance(word, Array(candidate))
            guard distance <= limit, distance < nearest?.distance ?? .max else { continue }
            nearest = (distance, candidate)
        }
        return nearest?.candidate
    }

    /// Returns the number of insertions, deletions, replacements, and exchanges of neighboring characters that turn one
    /// word into the other (optimal string alignment).
    private static func distance(_ first: [Character], _ second: [Character]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...second.count)
        for (row, character) in first.enumerated() {
            var current = [row + 1]
            for (column, other) in second.enumerated() {
                let replaced = previous[column] + (character == other ? 0 : 1)
                var least = min(replaced, previous[column + 1] + 1, current[column] + 1)
                let isExchange =
                    row > 0 && column > 0 && character == second[column - 1] && first[row - 1] == other
                if isExchange { least = min(least, beforePrevious[column - 1] + 1) }
                current.append(least)
            }
            (beforePrevious, previous) = (previous, current)
        }
        return previous[second.count]
    }
}
