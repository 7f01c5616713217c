// SPDX-License-Identifier: MIT

/// The values of the input options.
package struct InputArguments: Sendable {
    /// The operands: URLs, paths, patterns, `@FILE`, and `-`.
    package let operands: [String]
    /// The paths of lists of further inputs, where `-` means standard input.
    package let lists: [String]
    /// Whether subdirectories are included.
    package let isRecursive: Bool
    /// The maximum number of concurrent images, or `nil` for the default of the command.
    package let jobs: Int?

    /// Creates the values for the operands that are inputs, or for all operands. Throws a ``UsageError`` if there's no
    /// input, or if standard input is used twice.
    package init(_ arguments: Arguments, operands: [String]? = nil) throws(UsageError) {
        self.operands = operands ?? arguments.operands
        lists = arguments.values["input-file"] ?? []
        isRecursive = arguments.has("recursive")
        jobs = try arguments.integer("jobs", in: 1...1_000)
        if self.operands.isEmpty, lists.isEmpty { throw UsageError("missing INPUT (use a URL or a path)") }
        let uses = self.operands.filter { $0 == "-" || $0 == "@-" }.count + lists.filter { $0 == "-" }.count
        if uses > 1 { throw UsageError("standard input can be used only once") }
    }
}
