// SPDX-License-Identifier: MIT

/// The properties of an image that its output name can contain.
package struct OutputFacts: Sendable, Hashable {
    /// The name of the input without its extension.
    package var name: String
    /// The directory of the input.
    package var directory: String
    /// The directory of the input below the directory that was specified. It's empty if there's none.
    package var folder: String
    /// The number of the input, from 0.
    package var index: Int
    /// The number of inputs.
    package var count: Int
    /// The size of the output in pixels.
    package var width = 0
    package var height = 0
    /// The extension of the format.
    package var fileExtension = ""

    package init(name: String, directory: String = ".", folder: String = "", index: Int = 0, count: Int = 1) {
        self.name = name
        self.directory = directory
        self.folder = folder
        self.index = index
        self.count = count
    }
}

/// An output name with placeholders, such as `{name}-{width}.{format}`.
package struct OutputTemplate: Sendable, Hashable {
    private enum Part: Hashable {
        case text(String)
        case placeholder(Placeholder)
    }

    private enum Placeholder: String, CaseIterable {
        case name, dir, width, height, format
        case number = "n"
    }

    private var parts: [Part] = []
    /// The text of the template.
    package let text: String

    /// Parses a template. Returns `nil` if `text` contains no braces. Throws a ``UsageError`` if a placeholder is
    /// unknown or a brace has no counterpart.
    package init?(_ text: String) throws(UsageError) {
        guard text.contains(where: { "{}".contains($0) }) else { return nil }
        self.text = text
        var rest = text[...]
        while let brace = rest.firstIndex(where: { "{}".contains($0) }) {
            if brace > rest.startIndex { parts.append(.text(String(rest[..<brace]))) }
            let names = Placeholder.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")
            guard rest[brace] == "{", let end = rest[brace...].firstIndex(of: "}"),
                let placeholder = Placeholder(rawValue: String(rest[rest.index(after: brace)..<end]))
            else { throw UsageError("--output: “\(text)” contains an unknown placeholder (use \(names))") }
            parts.append(.placeholder(placeholder))
            rest = rest[rest.index(after: end)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
    }

    /// Returns the name for an image. Only `{dir}` contains slashes. At the beginning of the template, it's the directory
    /// of the input. After other text, the path of an input can't lead out of the directory that the text names.
    package func path(_ facts: OutputFacts) -> String {
        let digits = String(facts.count).count
        return parts.enumerated().map { index, part in
            switch part {
            case .text(let text): text
            case .placeholder(.name): Self.component(facts.name)
            case .placeholder(.dir): index == 0 ? facts.directory : Self.inside(facts.directory)
            case .placeholder(.width): String(facts.width)
            case .placeholder(.height): String(facts.height)
            case .placeholder(.format): facts.fileExtension
            case .placeholder(.number):
                String(repeating: "0", count: digits - String(facts.index + 1).count) + String(facts.index + 1)
            }
        }.joined()
    }

    /// Whether the names depend on the format.
    package var needsFormat: Bool { parts.contains(.placeholder(.format)) }

    /// Returns a name as a single component of a path.
    private static func component(_ name: String) -> String {
        [".", ".."].contains(name) ? "_" : name.replacing("/", with: "_")
    }

    /// Returns a directory without the parts that lead out of another directory.
    private static func inside(_ directory: String) -> String {
        let parts = directory.split(separator: "/").filter { $0 != "." && $0 != ".." }
        return parts.isEmpty ? "." : parts.joined(separator: "/")
    }
}
