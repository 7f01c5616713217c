// SPDX-License-Identifier: MIT

import WebImageCore

/// The description of a command-line option.
package struct OptionSpec: Sendable, Hashable {
    /// The kind of the argument, for the completion of shells.
    package enum ValueKind: Sendable, Hashable {
        /// Any text.
        case text
        /// The path of a file.
        case file
        /// The path of a directory.
        case directory
        /// One of these words.
        case words([String])
        /// The transformers of `--transform`, separated by commas.
        case transformers
    }

    /// The long name, without dashes.
    package let name: String
    /// The short name, which is an ASCII letter, or `nil` if there's none.
    package let letter: Character?
    /// The placeholder for the argument in the help text, or `nil` if the option has no argument.
    package let placeholder: String?
    /// Whether the argument can be omitted. Otherwise, it follows the long name after an equals sign.
    package let isValueOptional: Bool
    /// The kind of the argument. It has no meaning if the option has no argument.
    package let valueKind: ValueKind
    /// The help text, in one or two sentences.
    package let help: String
    /// Further long names with the same meaning, without dashes. The help text doesn't list them.
    package let aliases: [String]

    /// Creates an option.
    ///
    /// - Parameters:
    ///   - name: The long name, without dashes.
    ///   - letter: The short name. The default is `nil`, which means that there's none.
    ///   - placeholder: The placeholder for the argument. A list such as `auto|never` also defines the allowed words.
    ///     `FILE` and `DIR` stand for paths. The default is `nil`, which means that the option has no argument.
    ///   - isValueOptional: Whether the argument can be omitted. The default is `false`.
    ///   - words: The allowed words if the placeholder doesn't list them. The default is an empty array.
    ///   - kind: The kind of the argument. The default is `nil`, which means that `placeholder` and `words` determine it.
    ///   - aliases: Further long names. The default is an empty array.
    ///   - help: The help text.
    package init(
        _ name: String, letter: Character? = nil, value placeholder: String? = nil,
        isValueOptional: Bool = false, words: [String] = [], kind: ValueKind? = nil,
        aliases: [String] = [], help: String
    ) {
        self.isValueOptional = isValueOptional
        self.aliases = aliases
        self.name = name
        self.letter = letter
        self.placeholder = placeholder
        self.help = help
        let choices = (placeholder ?? "").split(separator: "|").map(String.init)
        valueKind =
            if let kind {
                kind
            } else if !words.isEmpty {
                .words(words)
            } else if choices.contains("FILE") || choices.contains("OUT") {
                .file
            } else if choices.contains("DIR") {
                .directory
            } else if choices.count > 1 {
                .words(choices)
            } else {
                .text
            }
    }

    /// The placeholder with the characters that separate it from the long name, such as ` N` or `[=N]`, or empty text.
    var valueText: String {
        guard let placeholder else { return "" }
        return isValueOptional ? "[=\(placeholder)]" : " \(placeholder)"
    }

    /// The option `--json` of every command that prints data.
    package static let json = OptionSpec("json", help: "Print JSON, one object per line.")
    /// The option `--help` of every command.
    package static let help = OptionSpec("help", letter: "h", help: "Print this help.")
    /// The options of every command except `serve`, whose program only has ``help``.
    package static let general = [
        OptionSpec("quiet", letter: "q", help: "Print only errors and requested data, such as JSON."),
        OptionSpec(
            "verbose", letter: "v",
            help: "Log every step of loading to standard error, also the heads of requests and responses, redirects, "
                + "and retries."),
        OptionSpec(
            "color", value: "auto|always|never",
            help: "Use colors. With auto (default), only on a terminal, and not if NO_COLOR is set."),
        OptionSpec.help,
    ]
    /// The option `--cache-dir` of the commands that always use the disk cache.
    package static let cacheDirectory = OptionSpec("cache-dir", value: "DIR", help: "Directory of the disk cache.")
    /// The option `--encryption-key-file` of the commands that use an encrypted disk cache.
    package static let encryptionKeyFile = OptionSpec(
        "encryption-key-file", value: "FILE",
        help: "Encrypt the disk cache with the key in this file: 32 bytes or 64 hexadecimal digits, with mode 0600.")
    /// The option `--cache-dir` of the commands that use the disk cache only on request.
    package static let optionalCacheDirectory = OptionSpec(
        "cache-dir", value: "DIR", help: "Use the disk cache in this directory. By default, no disk cache is used.")
    /// The names of the cache policies. The first one is the default.
    package static let cachePolicies = ["http", "cache-first", "refresh", "reload", "cache-only"]
    /// The option `--cache-policy` of the commands that use the disk cache.
    package static let cachePolicy = OptionSpec(
        "cache-policy", letter: "p", value: "POLICY", words: cachePolicies,
        help: "Cache policy: \(cachePolicies[0]) (default), \(cachePolicies.dropFirst().joined(separator: ", ")).")
    /// The option `--size` of every command that decodes images.
    package static let size = OptionSpec(
        "size", letter: "s", value: "GEOMETRY",
        help: "Size in pixels: 320x240 fits into the box, and 320 (or 320x) and x240 limit one side. These never "
            + "enlarge. 320x240^ fills the box and crops, and 320x240! ignores the aspect ratio. 50% and 50%x25% are "
            + "percentages of the natural size.")
    /// The names of the kernels in the option `--filter`.
    static let kernels = ValueNames<ResamplingFilter.Kernel>.kebabCase
    /// The options of the commands that write images of a specified size.
    package static let resampling = [
        OptionSpec(
            "filter", value: "KERNEL", words: kernels.list,
            help: "Kernel for --size: \(kernels.list.joined(separator: ", ")) (lanczos3 by default)."),
        OptionSpec(
            "light", value: "linear|encoded", words: ResamplingFilter.Light.allCases.map(\.rawValue),
            help: "Reduce to --size by averaging intensities of light (linear, default) or the stored values (encoded)."
        ),
    ]
    /// The option `--format` of every command that encodes images.
    package static let format = OptionSpec(
        "format", letter: "f", value: "FORMAT", words: ["jpg", "pnm"] + ImageFormatName.all,
        help: "Output format: \(ImageFormatName.all.joined(separator: ", ")). jpg is the same as jpeg, "
            + "and pnm is the same as ppm.")
    /// The option `--frames` of every command that decodes images.
    package static let frames = OptionSpec(
        "frames", value: "LIST", help: "Use only these frames, counted from 0, such as 3, 0-9, or 2,5,8-.")
    /// The option `--input-file` of every command that accepts a list of images.
    package static let inputFile = OptionSpec(
        "input-file", letter: "i", value: "FILE",
        help: "Read URLs and paths from this file, one per line (- for standard input).")
    /// The option `--recursive` of every command that reads directories.
    package static let recursive = OptionSpec(
        "recursive", letter: "r", help: "Include the images in subdirectories of directories.")
    /// The option `--jobs` of every command that processes several images.
    package static let jobs = OptionSpec(
        "jobs", letter: "j", value: "N",
        help: "Maximum number of images to process at the same time, from 1 to 1000.")
    /// The options of every command that reads any number of images.
    package static let inputs = [recursive, inputFile, jobs]
    /// The options of every command that writes images.
    package static let outputs = [
        OptionSpec(
            "output", letter: "o", value: "OUT",
            help: "Output: a file for one image, a directory, a name with placeholders such as {name}, or - for "
                + "standard output."),
        OptionSpec("output-dir", letter: "d", value: "DIR", help: "Write the images to this directory."),
        OptionSpec("overwrite", letter: "y", help: "Overwrite existing files. By default, they’re errors."),
        OptionSpec("no-clobber", letter: "n", help: "Skip images whose output file exists."),
    ]
    /// The option `--transform` of every command that writes images.
    package static let transform = OptionSpec(
        "transform", letter: "t", value: "LIST", kind: .transformers,
        help: "Apply these transformers, such as resize=200x200,blur=8,circle. “webimage help transforms” lists them.")
}

/// The description of a command.
package struct CommandSpec: Sendable {
    /// A titled list of options in the help text.
    package struct Section: Sendable {
        package let title: String
        package let options: [OptionSpec]
    }

    /// An example for the help text and the man page.
    package struct Example: Sendable, Hashable {
        /// A sentence that describes the purpose, without its period.
        package let purpose: String
        /// The command line.
        package let line: String

        package init(_ purpose: String, _ line: String) {
            self.purpose = purpose
            self.line = line
        }
    }

    /// The name of the command, which is the first word after `webimage`.
    package let name: String
    /// The operands that follow the name.
    package let operands: String
    /// The words that the first operand can be, or an empty array if the operands are files and URLs.
    package let words: [String]
    /// The summary, in one sentence.
    package let summary: String
    /// The paragraphs of the command's help text.
    package let details: [String]
    /// The examples of the help text and of the man page.
    package let examples: [Example]
    /// The members of the objects that `--json` prints, in order. It's empty if the command has no such option.
    package let fields: [JSONField]
    /// The options of the command, including the general ones.
    package let options: [OptionSpec]

    package init(
        _ name: String, operands: String, words: [String] = [], summary: String, details: [String] = [],
        options: [OptionSpec], general: [OptionSpec] = OptionSpec.general, fields: [JSONField] = [],
        examples: [Example] = []
    ) {
        self.name = name
        self.operands = operands
        self.words = words
        self.summary = summary
        self.details = details
        self.options = options + general
        self.fields = fields
        self.examples = examples
    }

    /// The options in the order of the help text. Sections without options are omitted.
    package var sections: [Section] {
        let groups: [(String, [OptionSpec])] = [
            ("Input options", OptionSpec.inputs), ("Output options", OptionSpec.outputs),
            ("Encoding options", OptionSpec.encoding), ("Network options", OptionSpec.network),
            ("Limits", OptionSpec.limits), ("General options", OptionSpec.general),
        ]
        let own = options.filter { option in !groups.contains { $0.1.contains(option) } }
        let rest = groups.map { title, members in
            Section(title: title, options: options.filter(members.contains))
        }
        return ([Section(title: "Options", options: own)] + rest).filter { !$0.options.isEmpty }
    }
}
