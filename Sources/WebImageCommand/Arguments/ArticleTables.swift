// SPDX-License-Identifier: MIT

/// The tables of the article about the command line, generated from the descriptions of the commands.
package enum ArticleTables {
    /// Returns the text of the article with current tables.
    ///
    /// A line such as `<!-- table: options fetch -->` marks a table. The table follows the mark after an empty line and
    /// ends with the first line that isn't part of a table. The text after it follows after an empty line, because it would
    /// be a row of the table otherwise. Unknown marks remain unchanged.
    package static func updated(_ article: String) -> String {
        var result: [Substring] = []
        var lines = article.split(separator: "\n", omittingEmptySubsequences: false)[...]
        while let line = lines.popFirst() {
            result.append(line)
            guard let mark = line.wholeMatch(of: /<!-- table: (.+) -->/), let table = table(String(mark.1)) else {
                continue
            }
            while lines.first?.isEmpty == true { lines.removeFirst() }
            while lines.first?.hasPrefix("|") == true { lines.removeFirst() }
            result.append("")
            result += table.split(separator: "\n")
            if lines.first?.isEmpty == false { result.append("") }
        }
        return result.joined(separator: "\n")
    }

    /// The names of all tables. The article contains each of them.
    package static var names: [String] {
        Commands.all.filter { !own($0).isEmpty }.map { "options \($0.name)" }
            + Commands.all.filter { !ownFields($0).isEmpty }.map { "json \($0.name)" }
            + groups.map { "options of \($0.name)" } + ["commands", "json", "exit statuses"]
            + HelpTopic.transforms.sections.map { $0.title.lowercased() }
    }

    private static let groups: [(name: String, options: [OptionSpec])] = [
        ("inputs", OptionSpec.inputs), ("outputs", OptionSpec.outputs), ("encodings", OptionSpec.encoding),
        ("the network", OptionSpec.network), ("limits", OptionSpec.limits),
        ("all commands", OptionSpec.general),
    ]

    /// Returns the options of a command that belong to no group.
    private static func own(_ command: CommandSpec) -> [OptionSpec] {
        command.sections.first { $0.title == "Options" }?.options ?? []
    }

    /// Returns the JSON members of a command that not all commands have.
    private static func ownFields(_ command: CommandSpec) -> [JSONField] {
        command.fields.filter { !JSONField.common.contains($0) }
    }

    private static func table(_ name: String) -> String? {
        if let group = groups.first(where: { name == "options of \($0.name)" }) { return options(group.options) }
        switch name {
        case "commands": return rows(["Command", "Purpose"], Commands.all.map { ["`\($0.name)`", $0.summary] })
        case "json": return fields(JSONField.common)
        case "exit statuses":
            return rows(["Status", "Meaning"], HelpText.exitStatuses.map { ["\($0.status)", $0.meaning] })
        default: break
        }
        if let section = HelpTopic.transforms.sections.first(where: { $0.title.lowercased() == name }) {
            return rows(
                [name == "values" ? "Value" : "Transformer", "Meaning"],
                section.items.map { ["`\($0.term)`", $0.meaning] })
        }
        for command in Commands.all {
            if name == "options \(command.name)" { return options(own(command)) }
            if name == "json \(command.name)" {
                return fields(ownFields(command))
            }
        }
        return nil
    }

    private static func options(_ options: [OptionSpec]) -> String {
        rows(
            ["Option", "Meaning"],
            options.map { option in
                [
                    (option.letter.map { "`-\($0)`, " } ?? "") + "`--\(option.name)\(option.valueText)`",
                    code(option.help),
                ]
            })
    }

    private static func fields(_ fields: [JSONField]) -> String {
        rows(["Key", "Type", "Value"], fields.map { ["`\($0.name)`", $0.typeText, code($0.meaning)] })
    }

    /// Sets the options in a text in code voice.
    private static func code(_ text: String) -> String {
        text.replacing(/--[a-z-]+(=[0-9A-Za-z]+)?/) { "`\($0.0)`" }
    }

    private static func rows(_ heading: [String], _ rows: [[String]]) -> String {
        let lines = [heading] + [heading.map { _ in "---" }] + rows
        return lines.enumerated().map { index, cells in
            let cells = cells.map { $0.replacing("|", with: "\\|") }
            return index == 1 ? "|" + cells.joined(separator: "|") + "|" : "| " + cells.joined(separator: " | ") + " |"
        }.joined(separator: "\n")
    }
}
