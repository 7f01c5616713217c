// SPDX-License-Identifier: MIT

import WebImageCore

/// The manual pages in roff, generated from the descriptions of the commands.
package struct ManualPage: Sendable {
    /// The name of the file, such as `webimage-fetch.1`.
    package let fileName: String
    /// The page.
    package let text: String

    private init(_ name: String, _ text: String) {
        fileName = "\(name).1"
        self.text = text
    }

    /// Returns all pages: an overview, and a page for each command and each topic. `version` is the version of the tool.
    package static func all(version: String) -> [ManualPage] {
        [overview(version)] + Commands.all.map { page($0, version) }
            + HelpTopic.all.map { page($0, version: version) }
    }

    /// Returns the page of a topic.
    package static func page(_ topic: HelpTopic, version: String) -> ManualPage {
        let name = "webimage-\(topic.name)"
        var text = Roff(title: name, version: version, summary: lowercased(topic.summary))
        text.section("Synopsis")
        text.lines(["\\fBwebimage help \(Roff.escaped(topic.name))\\fR"])
        text.section("Description")
        for paragraph in topic.details { text.paragraph(paragraph) }
        for section in topic.sections {
            text.section(section.title)
            for item in section.items { text.item("\\fB\(Roff.escaped(item.term))\\fR", item.meaning) }
        }
        text.section("Examples")
        for example in topic.examples { text.example(example) }
        text.seeAlso(["webimage", "webimage-convert", "webimage-fetch", "webimage-thumbnail"])
        return ManualPage(name, text.text)
    }

    /// Returns the page of a command, or the overview if `command` is `nil`.
    package static func page(_ command: CommandSpec?, version: String) -> ManualPage {
        command.map { page($0, version) } ?? overview(version)
    }

    private static func overview(_ version: String) -> ManualPage {
        var text = Roff(title: "webimage", version: version, summary: "fetch, inspect, and convert web images")
        text.section("Synopsis")
        text.lines(["\\fBwebimage\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR...]", ".br"])
        text.lines([
            "\\fBwebimage help\\fR [\\fICOMMAND\\fR | \\fITOPIC\\fR | \\-\\-man [\\fICOMMAND\\fR | \\fITOPIC\\fR]]",
            ".br",
        ])
        text.lines(["\\fBwebimage \\-\\-version\\fR"])
        text.section("Description")
        text.paragraph(
            "webimage loads images from URLs and files through a cache that follows HTTP. It displays, inspects, "
                + "decodes, converts, animates, and compares images, and it manages the disk cache.")
        text.paragraph(
            "Long options can be abbreviated while they are unique. “--” ends the options. Sizes are geometries as in "
                + "ImageMagick. The network options have the names and letters of curl.")
        text.section("Commands")
        for command in Commands.all {
            text.item("\\fBwebimage\\-\(Roff.escaped(command.name))\\fR(1)", command.summary)
        }
        text.section("Topics")
        for topic in HelpTopic.all {
            text.item("\\fBwebimage\\-\(Roff.escaped(topic.name))\\fR(1)", topic.summary)
        }
        text.section("General options")
        for option in OptionSpec.general { text.option(option) }
        text.section("JSON output")
        text.paragraph(
            "With --json, commands print one object per line, also for failed inputs. The keys are stable: later "
                + "versions can add keys, but they don’t remove or rename keys. The objects of all commands that "
                + "process images have these members. The pages of the commands list further ones.")
        for field in JSONField.common { text.item(field) }
        text.section("Exit status")
        for status in HelpText.exitStatuses { text.item("\\fB\(status.status)\\fR", status.meaning) }
        text.section("Environment")
        for variable in environment { text.item("\\fB\(Roff.escaped(variable.name))\\fR", variable.meaning) }
        text.section("Files")
        text.item(
            "\\fI~/.cache/webimage/webimage\\fR", "The default disk cache. “webimage cache path” prints its path.")
        text.section("Examples")
        for example in HelpText.examples { text.example(example) }
        let pages = Commands.all.map(\.name) + HelpTopic.all.map(\.name)
        text.seeAlso(pages.map { "webimage-\($0)" } + ["curl", "vipsthumbnail"])
        return ManualPage("webimage", text.text)
    }

    private static func page(_ command: CommandSpec, _ version: String) -> ManualPage {
        let name = "webimage-\(command.name)"
        var text = Roff(title: name, version: version, summary: lowercased(command.summary))
        text.section("Synopsis")
        let operands = command.operands.isEmpty ? "" : " \\fI\(Roff.escaped(command.operands))\\fR"
        text.lines(["\\fBwebimage \(Roff.escaped(command.name))\\fR\(operands) [\\fIOPTION\\fR...]"])
        text.section("Description")
        for paragraph in [command.summary] + command.details { text.paragraph(paragraph) }
        for section in command.sections {
            text.section(section.title)
            for option in section.options { text.option(option) }
        }
        if !command.fields.isEmpty {
            text.section("JSON output")
            text.paragraph("With --json, the command prints one object per line, with these members:")
            for field in command.fields { text.item(field) }
        }
        text.section("Exit status")
        for status in HelpText.exitStatuses { text.item("\\fB\(status.status)\\fR", status.meaning) }
        text.section("Examples")
        for example in command.examples { text.example(example) }
        let hasTransformers = command.options.contains(.transform)
        text.seeAlso(["webimage"] + (hasTransformers ? ["webimage-\(HelpTopic.transforms.name)"] : []))
        return ManualPage(name, text.text)
    }

    /// Returns a summary in the form of the section NAME, without its period.
    private static func lowercased(_ summary: String) -> String {
        summary.prefix(1).lowercased() + summary.dropFirst().dropLast()
    }

    /// The environment variables that affect the tool.
    private static let environment: [(name: String, meaning: String)] = [
        ("NO_COLOR", "If this variable is not empty, colors are disabled unless --color is always."),
        ("TERM", "With the value dumb, the output contains no control sequences."),
        (
            "http_proxy, HTTPS_PROXY, ALL_PROXY, NO_PROXY",
            "The proxy, unless --proxy, --noproxy, or --public-only is specified."
        ),
        ("XDG_CACHE_HOME", "The parent directory of the default disk cache. The default is ~/.cache."),
        ("WEBIMAGE_ALBUM", "The directory of the album that demo and gallery use instead of the bundled one."),
    ]
}

/// A page in roff with the macros of man(7).
private struct Roff {
    private(set) var text: String

    /// Creates a page with its heading and its section NAME.
    init(title: String, version: String, summary: String) {
        text = ".\\\" SPDX-License-Identifier: MIT\n"
        text += ".\\\" Generated from the descriptions of the commands.\n"
        text +=
            ".TH \(Self.escaped(title.uppercased())) 1 \(ProductVersion.date) \"webimage \(version)\" \"User Commands\"\n"
        // Long options and lists can’t be hyphenated, so filled lines would have large gaps.
        text += ".ad l\n"
        section("Name")
        lines(["\(Self.escaped(title)) \\- \(Self.escaped(summary))"])
    }

    mutating func lines(_ lines: [String]) { for line in lines { text += line + "\n" } }

    mutating func section(_ title: String) { text += ".SH \(Self.escaped(title.uppercased()))\n" }

    mutating func paragraph(_ paragraph: String) {
        // man(7) ignores the first paragraph macro after a heading, and mandoc warns about it.
        if text.split(separator: "\n").last?.hasPrefix(".SH") == false { text += ".PP\n" }
        text += Self.line(paragraph) + "\n"
    }

    /// Adds a tagged paragraph. `tag` is already escaped.
    mutating func item(_ tag: String, _ meaning: String) { text += ".TP\n\(tag)\n\(Self.line(meaning))\n" }

    mutating func item(_ field: JSONField) {
        item("\\fB\(Self.escaped(field.name))\\fR (\(field.typeText))", field.meaning)
    }

    mutating func option(_ option: OptionSpec) {
        let names = (option.letter.map { ["-\($0)"] } ?? []) + ["--\(option.name)"]
        let value =
            option.placeholder.map { placeholder in
                let value = "\\fI\(Self.escaped(placeholder))\\fR"
                return option.isValueOptional ? "[=\(value)]" : " \(value)"
            } ?? ""
        item(names.map { "\\fB\(Self.escaped($0))\\fR" }.joined(separator: ", ") + value, option.help)
    }

    mutating func example(_ example: CommandSpec.Example) {
        paragraph("\(example.purpose):")
        text += ".PP\n.nf\n.RS\n\(Self.line(example.line))\n.RE\n.fi\n"
    }

    mutating func seeAlso(_ pages: [String]) {
        section("See also")
        for (index, page) in pages.enumerated() {
            text += ".BR \(Self.escaped(page)) (1)" + (index < pages.count - 1 ? ",\n" : "\n")
        }
    }

    /// Returns text as a line of its own. A line must not begin with a control character of roff.
    private static func line(_ text: String) -> String {
        let escaped = escaped(text)
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    /// Returns text in ASCII, in which roff interprets no character.
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\e"
            case "-": "\\-"
            case "'": "\\(aq"
            case "`": "\\(ga"
            case "^": "\\(ha"
            case "~": "\\(ti"
            case "’": "\\(cq"
            case "“": "\\(lq"
            case "”": "\\(rq"
            case "…": "..."
            case _ where scalar.isASCII: String(scalar)
            default: "\\[u\(hexadecimal(scalar))]"
            }
        }.joined()
    }

    /// Returns a hexadecimal number with at least four digits.
    private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
