// SPDX-License-Identifier: MIT

import WebImageCore

/// Transformers as a person writes them: `resize=200x200,blur=8,circle`. Values of one stand behind an equals sign
/// with colons between them; nothing is case-insensitive, nothing is abbreviated, no blanks.
package struct TransformList: Sendable {
    /// In the order in which they are to be applied.
    package let transformers: [any ImageTransformer]

    /// More would be a mistake.
    package static let limit = 64

    /// The names there are.
    package static var names: [String] { TransformSpec.all.map(\.name) }

    /// All names with their values, for help.
    package static var usage: String { TransformSpec.all.map(\.usage).joined(separator: ", ") }

    /// Reads a list; at least one transformer. `pictures` reads the files of overlays and masks, when they are needed.
    package init(_ text: String, pictures: @escaping PictureReading) throws(TransformListError) {
        let items = text.split(separator: ",", maxSplits: Self.limit, omittingEmptySubsequences: false)
        var transformers: [any ImageTransformer] = []
        for (index, item) in items.enumerated() {
            do throws(TransformProblem) {
                guard index < Self.limit else { throw .tooMany(limit: Self.limit) }
                transformers.append(try Self.transformer(item, pictures))
            } catch {
                throw TransformListError(position: index + 1, problem: error)
            }
        }
        self.transformers = transformers
    }

    private static func transformer(
        _ item: Substring, _ pictures: @escaping PictureReading
    ) throws(TransformProblem) -> any ImageTransformer {
        guard !item.isEmpty else { throw .empty }
        let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let spec = TransformSpec.all.first(where: { $0.name == parts[0] }) else {
            throw .unknown(name: parts[0])
        }
        var values = TransformValues(name: spec.name, text: parts.count > 1 ? parts[1] : nil, pictures: pictures)
        let transformer = try spec.make(&values)
        try values.end()
        return transformer
    }
}
