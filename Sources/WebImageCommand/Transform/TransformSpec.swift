// SPDX-License-Identifier: MIT

import WebImageCore

/// One name of ``TransformList`` and how its values become a transformer.
struct TransformSpec: Sendable {
    typealias Make = @Sendable (inout TransformValues) throws(TransformProblem) -> any ImageTransformer

    let name: String
    /// The name with its values; those in brackets may be left out.
    let usage: String
    let make: Make

    init(_ usage: String, _ make: @escaping Make) {
        self.usage = usage
        name = String(usage.prefix { $0.isLetter })
        self.make = make
    }

    static let all = shapes + effects + colors + pictures
}
