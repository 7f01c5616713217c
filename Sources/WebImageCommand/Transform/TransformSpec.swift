// SPDX-License-Identifier: MIT

import WebImageCore

/// The description of a transformer of ``TransformList``: its name, its values, and a function that creates it.
struct TransformSpec: Sendable {
    typealias Make = @Sendable (inout TransformValues) throws(TransformProblem) -> any ImageTransformer

    let name: String
    /// The name with its values. Values in brackets are optional.
    let usage: String
    /// The effect, in one or more sentences.
    let summary: String
    let make: Make

    init(_ usage: String, _ summary: String, _ make: @escaping Make) {
        self.usage = usage
        self.summary = summary
        name = String(usage.prefix { $0.isLetter || $0 == "-" })
        self.make = make
    }

    /// Whether the transformer needs a value.
    var requiresValue: Bool { usage.dropFirst(name.count).hasPrefix("=") }

    /// Whether the first value is the name of a file.
    var takesFile: Bool { usage.dropFirst(name.count).hasPrefix("=FILE") }

    static let all = shapes + effects + colors + imageTransformers
}
