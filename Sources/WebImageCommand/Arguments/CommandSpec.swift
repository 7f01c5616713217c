// SPDX-License-Identifier: MIT

/// One option of a command.
package struct OptionSpec: Sendable, Hashable {
    /// The long name without dashes.
    package let name: String
    /// The short form, an ASCII letter; nil for none.
    package let letter: Character?
    /// What stands for its argument in the help; nil for options that take none.
    package let placeholder: String?
    /// One or two sentences.
    package let help: String

    package init(_ name: String, letter: Character? = nil, takes placeholder: String? = nil, help: String) {
        self.name = name
        self.letter = letter
        self.placeholder = placeholder
        self.help = help
    }

    /// `--json`, on every command that prints facts.
    package static let json = OptionSpec("json", help: "Print JSON, one object per line.")
    /// `--help`, on every command.
    package static let help = OptionSpec("help", letter: "h", help: "Print this help.")
    /// `--cache`, on every command that keeps pictures.
    package static let cache = OptionSpec("cache", takes: "DIR", help: "Folder of the disk cache.")
    /// `--size`, on every command that decodes.
    package static let size = OptionSpec(
        "size", letter: "s", takes: "WxH", help: "Fit into this box, in pixels; one side may be left out.")
    /// `--transform`, on every command that writes pictures.
    package static let transform = OptionSpec(
        "transform", letter: "t", takes: "LIST", help: "Apply these, as in resize=200x200,blur=8,circle.")
}

/// What a command is called, takes and does.
package struct CommandSpec: Sendable {
    /// The first word behind `webimage`.
    package let name: String
    /// What follows the name besides options.
    package let operands: String
    /// One sentence.
    package let summary: String
    /// Paragraphs for the command's own help.
    package let details: [String]
    /// Its options; ``OptionSpec/help`` is added.
    package let options: [OptionSpec]

    package init(
        _ name: String, operands: String, summary: String, details: [String] = [], options: [OptionSpec]
    ) {
        self.name = name
        self.operands = operands
        self.summary = summary
        self.details = details
        self.options = options + [.help]
    }
}
