// SPDX-License-Identifier: MIT

import WebImageCore

/// A list of transformers in text form, such as `resize=200x200,blur=8,circle`.
///
/// The values of a transformer follow an equals sign and are separated by colons. Names are case-sensitive and can't be
/// abbreviated. Whitespace isn't allowed.
package struct TransformList: Sendable {
    /// The transformers, in the order in which they're applied.
    package let transformers: [any ImageTransformer]

    /// The maximum number of transformers in a list. A longer list is probably a mistake.
    package static let limit = 64

    /// The names of all transformers.
    package static var names: [String] { TransformSpec.all.map(\.name) }

    /// The words that complete an incomplete name: The name, with an equals sign if a value is necessary.
    static var completions: [String] { TransformSpec.all.map { $0.name + ($0.requiresValue ? "=" : "") } }

    /// Parses a list, which must contain at least one transformer. `readImage` reads the files of overlays and masks
    /// when they're needed.
    package init(_ text: String, readImage: @escaping ImageFileReader) throws(TransformListError) {
        let items = text.split(separator: ",", maxSplits: Self.limit, omittingEmptySubsequences: false)
        var transformers: [any ImageTransformer] = []
        for (index, item) in items.enumerated() {
            do throws(TransformProblem) {
                guard index < Self.limit else { throw .tooMany(limit: Self.limit) }
                transformers.append(try Self.transformer(item, readImage))
            } catch {
                throw TransformListError(position: index + 1, problem: error)
            }
        }
        self.transformers = transformers
    }

    private static func transformer(
        _ item: Substring, _ pictures: @escaping ImageFileReader
    ) throws(TransformProblem) -> any ImageTransformer {
        guard !item.isEmpty else { throw .empty }
        let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let spec = TransformSpec.all.first(where: { $0.name == parts[0] }) else {
            throw .unknown(name: parts[0])
        }
        var values = TransformValues(name: spec.name, text: parts.count > 1 ? parts[1] : nil, readImage: pictures)
        let transformer = try spec.make(&values)
        try values.end()
        return transformer
    }
}
