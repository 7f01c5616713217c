// SPDX-License-Identifier: MIT

/// The help text, wrapped to the width of the terminal.
package struct HelpText: Sendable {
    /// The number of columns, from 40 to 100.
    package let width: Int

    package init(width: Int) { self.width = min(max(width, 40), 100) }

    /// The output of `webimage --help`.
    package var overview: String {
        var text = "webimage — fetch, inspect, and convert web images\n\n\(Self.exampleList(Self.examples))\nUsage:\n"
        for command in Commands.all { text += "  \(Self.usage(command))\n" }
        text += "\nCommands:\n"
        text += list(Commands.all.map { ($0.name, $0.summary) } + [("help", "Print the help of a command or a topic.")])
        text += "\nTopics:\n"
        text += list(HelpTopic.all.map { ("help \($0.name)", $0.summary) })
        text += "\nOptions:\n"
        text += list([
            ("-h, --help", "Print this help or the help of a command."),
            ("-V, --version", "Print the version, the formats, and the versions of libraries."),
        ])
        text += "\nOptions of every command except serve:\n"
        text += list(OptionSpec.general.map { (Self.label($0), $0.help) })
        text += "\nMan page: webimage help --man [COMMAND|TOPIC] | man -l -\n\nExit status:\n"
        text += list(Self.exitStatuses.map { ("\($0.status)", $0.meaning) })
        return text
    }

    /// The exit statuses of the tool and their meanings.
    package static let exitStatuses: [(status: Int, meaning: String)] = [
        (0, "Success."), (1, "At least one image or operation failed, or a check found something unsafe."),
        (64, "The command line is invalid."),
        (69, "A program or a display that the command requires isn’t available."),
        (130, "The command was interrupted (SIGINT, Ctrl-C)."), (141, "The reader of standard output closed the pipe."),
        (143, "The command was terminated (SIGTERM)."),
    ]

    /// The examples of the overview.
    package static let examples: [CommandSpec.Example] = [
        .init("Download an image", "webimage fetch https://example.org/photo.jpg -o photo.jpg"),
        .init("Convert an image to another format and size", "webimage convert photo.png photo.webp -s 1600"),
        .init("Create thumbnails of a directory tree", "webimage thumbnail -r photos -s 200 -o thumbnails/"),
    ]

    /// Returns the output of `webimage COMMAND --help`. It begins with the examples.
    package func page(_ command: CommandSpec) -> String {
        var text = "Usage: \(Self.usage(command))\n" + paragraphs([command.summary]) + "\n"
        text += Self.exampleList(command.examples) + paragraphs(command.details)
        for section in command.sections {
            text += "\n\(section.title):\n" + list(section.options.map { (Self.label($0), $0.help) })
        }
        return text
    }

    /// Returns the output of `webimage help TOPIC`.
    package func page(_ topic: HelpTopic) -> String {
        var text = TextWrap.lines(topic.summary, width: width).joined(separator: "\n") + "\n\n"
        text += Self.exampleList(topic.examples) + paragraphs(topic.details)
        for section in topic.sections {
            text += "\n\(section.title):\n"
            for item in section.items {
                let lines = TextWrap.lines(item.meaning, width: width - 6)
                text += "  \(item.term)\n" + lines.map { "      \($0)\n" }.joined()
            }
        }
        return text
    }

    /// Returns paragraphs, each after an empty line.
    private func paragraphs(_ paragraphs: [String]) -> String {
        paragraphs.map { "\n" + TextWrap.lines($0, width: width).joined(separator: "\n") + "\n" }.joined()
    }

    /// Returns examples with a heading. Their lines aren't wrapped, so that they can be copied.
    private static func exampleList(_ examples: [CommandSpec.Example]) -> String {
        "Examples:\n" + examples.map { "  \($0.purpose):\n    \($0.line)\n" }.joined()
    }

    /// Returns the usage line, with the name, the operands, and the options.
    package static func usage(_ command: CommandSpec) -> String {
        let operands = command.operands.isEmpty ? "" : " \(command.operands)"
        return "webimage \(command.name)\(operands) [option…]"
    }

    static func label(_ option: OptionSpec) -> String {
        (option.letter.map { "-\($0), " } ?? "    ") + "--\(option.name)\(option.valueText)"
    }

    private func list(_ rows: [(String, String)]) -> String {
        let indent = (rows.map { DisplayText.width($0.0) }.max() ?? 0) + 4
        return rows.map { label, help in
            let lines = TextWrap.lines(help, width: max(20, width - indent))
            let head = "  " + DisplayText.padded(label, to: indent - 2) + (lines.first ?? "") + "\n"
            return lines.dropFirst().reduce(head) { $0 + String(repeating: " ", count: indent) + $1 + "\n" }
        }.joined()
    }
}

/// A namespace for wrapping text.
enum TextWrap {
    /// Returns `text` in lines of at most `width` columns, wrapped between words. A longer word gets its own line.
    static func lines(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, DisplayText.width(line) + 1 + DisplayText.width(String(word)) > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty ? lines : lines + [line]
    }
}
