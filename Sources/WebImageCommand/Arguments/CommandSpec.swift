// SPDX-License-Identifier: MIT

/// The description of a command-line option.
package struct OptionSpec: Sendable, Hashable {
    /// The long name, without dashes.
    package let name: String
    /// The short name, which is an ASCII letter, or `nil` if there's none.
    package let letter: Character?
    /// The placeholder for the argument in the help text, or `nil` if the option has no argument.
    package let placeholder: String?
    /// The help text, in one or two sentences.
    package let help: String

    package init(_ name: String, letter: Character? = nil, value placeholder: String? = nil, help: String) {
        self.name = name
        self.letter = letter
        self.placeholder = placeholder
        self.help = help
    }

    /// The option `--json` of every command that prints data.
    package static let json = OptionSpec("json", help: "Print JSON, one object per line.")
    /// The option `--help` of every command.
    package static let help = OptionSpec("help", letter: "h", help: "Print this help.")
    /// The option `--cache` of every command that uses the disk cache.
    package static let cache = OptionSpec("cache", value: "DIR", help: "Directory of the disk cache.")
    /// The option `--size` of every command that decodes images.
    package static let size = OptionSpec(
        "size", letter: "s", value: "WxH", help: "Maximum size in pixels. One side can be omitted.")
    /// The option `--transform` of every command that writes images.
    package static let transform = OptionSpec(
        "transform", letter: "t", value: "LIST",
        help: "Apply these transformers, such as resize=200x200,blur=8,circle.")
}

/// The description of a command.
package struct CommandSpec: Sendable {
    /// The name of the command, which is the first word after `webimage`.
    package let name: String
    /// The operands that follow the name.
    package let operands: String
    /// The summary, in one sentence.
    package let summary: String
    /// The paragraphs of the command's help text.
    package let details: [String]
    /// The options of the command, including ``OptionSpec/help``.
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
