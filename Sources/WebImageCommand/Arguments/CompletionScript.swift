// SPDX-License-Identifier: MIT

/// The completion scripts for shells, generated from the descriptions of the commands.
package enum CompletionScript {
    /// A supported shell.
    package enum Shell: String, Sendable, CaseIterable {
        case bash
        case zsh
        case fish
    }

    /// Returns the script for a shell.
    package static func text(for shell: Shell) -> String {
        switch shell {
        case .bash: bashScript
        case .zsh: zshScript
        case .fish: fishScript
        }
    }

    private static let names = Commands.all.map(\.name)
    private static let topics = HelpTopic.all.map(\.name)

    // MARK: - bash

    private static var bashScript: String {
        var text = "# Completion of webimage for bash\n_webimage() {\n"
        text += "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd=${COMP_WORDS[1]}\n"
        // Bash splits words at equals signs.
        text += "    if [[ $cur == '=' ]]; then cur=\n"
        text += "    elif [[ $prev == '=' ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
        text += "    COMPREPLY=()\n"
        text += "    if [[ $COMP_CWORD -eq 1 ]]; then\n"
        let list = names.joined(separator: " ")
        text += "        COMPREPLY=($(compgen -W '\(list) help --help --version' -- \"$cur\"))\n"
        text += "        return\n    fi\n"
        text += bashTransformers
        text += "    case $cmd in\n"
        text += "    help) COMPREPLY=($(compgen -W '\(list) \(topics.joined(separator: " ")) --man' -- \"$cur\")) ;;\n"
        for command in Commands.all { text += bashPart(command) }
        text += "    esac\n}\ncomplete -o filenames -F _webimage webimage\n"
        return text
    }

    /// The part that completes the last name of a list of transformers. Bash splits the list at equals signs, so the words
    /// are joined again. A completion replaces only the part after the last equals sign.
    private static var bashTransformers: String {
        let names = spellings(.transform)
        let commands = Commands.all.filter { $0.options.contains(.transform) }.map(\.name).joined(separator: "|")
        let files = TransformSpec.all.filter(\.takesFile).map(\.name).joined(separator: "|")
        let words = TransformList.completions.joined(separator: " ")
        return """
                local i=$COMP_CWORD list=${COMP_WORDS[COMP_CWORD]} name
                while [[ $i -gt 2 && ( ${COMP_WORDS[i]} == '=' || ${COMP_WORDS[i-1]} == '=' ) ]]; do
                    i=$((i - 1)) list=${COMP_WORDS[i]}$list
                done
                if [[ $cmd == @(\(commands)) && ( $list == --\(OptionSpec.transform.name)=* \
            || ' \(names.joined(separator: " ")) ' == *" ${COMP_WORDS[i-1]} "* ) ]]; then
                    name=${list#--\(OptionSpec.transform.name)=} name=${name##*,}
                    if [[ $name == @(\(files))=* ]]; then
                        COMPREPLY=($(compgen -f -- "${name#*=}"))
                    elif [[ $name != *=* ]]; then
                        compopt -o nospace 2>/dev/null
                        COMPREPLY=($(compgen -P "${cur%"$name"}" -W '\(words)' -- "$name"))
                    fi
                    return
                fi

            """
    }

    private static func bashPart(_ command: CommandSpec) -> String {
        var text = "    \(command.name))\n        case $prev in\n"
        for option in command.options where option.placeholder != nil && !option.isValueOptional {
            let names = spellings(option).joined(separator: "|")
            switch option.valueKind {
            case .file: text += "        \(names)) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n"
            case .directory: text += "        \(names)) COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n"
            case .words(let words):
                let list = words.joined(separator: " ")
                text += "        \(names)) COMPREPLY=($(compgen -W '\(list)' -- \"$cur\")); return ;;\n"
            // The words of a list are completed before this part.
            case .text, .transformers: text += "        \(names)) return ;;\n"
            }
        }
        text += "        esac\n        if [[ $cur == -* ]]; then\n"
        let options = command.options.flatMap(spellings).joined(separator: " ")
        text += "            COMPREPLY=($(compgen -W '\(options)' -- \"$cur\"))\n        "
        if !command.words.isEmpty {
            text += "elif [[ $COMP_CWORD -eq 2 ]]; then\n"
            let words = command.words.joined(separator: " ")
            text += "            COMPREPLY=($(compgen -W '\(words)' -- \"$cur\"))\n        "
        }
        // The name of a list follows an at sign.
        text += "elif [[ $cur == @* ]]; then\n            COMPREPLY=($(compgen -P @ -f -- \"${cur#@}\"))\n        "
        return text + "else\n            COMPREPLY=($(compgen -f -- \"$cur\"))\n        fi ;;\n"
    }

    // MARK: - zsh

    private static var zshScript: String {
        var text = "#compdef webimage\n# Completion of webimage for zsh\n"
        text += "_webimage_transformers() {\n    _values -s , transformer"
        for spec in TransformSpec.all { text += " \\\n        \(quoted(zshValue(spec)))" }
        text += "\n}\n_webimage() {\n"
        text += "    local -a commands\n    commands=(\n"
        for command in Commands.all { text += "        \(quoted("\(command.name):\(command.summary)"))\n" }
        text += "        'help:Print the help of a command or a topic.'\n    )\n"
        text += "    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
        text += "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in\n"
        let topics = HelpTopic.all.map { quoted("\($0.name):\($0.summary)") }.joined(separator: " ")
        text += "    help) commands+=(\(topics)); _describe command commands ;;\n"
        for command in Commands.all {
            text += "    \(command.name)) _arguments -s -S"
            for option in command.options { text += zshPart(option) }
            if !command.words.isEmpty {
                text += " \\\n        '1:argument:(\(command.words.joined(separator: " ")))'"
            }
            text += " \\\n        '*:file:_files' ;;\n"
        }
        // A file in $fpath is the body of the function. The script can also be read with `source`.
        return text + "    esac\n}\n"
            + "if [[ $funcstack[1] == _webimage ]]; then _webimage \"$@\"; else compdef _webimage webimage; fi\n"
    }

    /// Returns text in which the characters have no special meaning in a description.
    private static func zshEscaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("[", with: "\\[").replacing("]", with: "\\]")
            .replacing(":", with: "\\:")
    }

    /// Returns the description of a transformer with its value, which two colons make optional.
    private static func zshValue(_ spec: TransformSpec) -> String {
        let usage = spec.usage.dropFirst(spec.name.count)
        let colons = usage.isEmpty ? nil : spec.requiresValue ? ":" : "::"
        return "\(spec.name)[\(zshEscaped(spec.summary))]"
            + (colons.map { "\($0)\(zshEscaped(String(usage))):\(spec.takesFile ? "_files" : " ")" } ?? "")
    }

    private static func zshPart(_ option: OptionSpec) -> String {
        let help = zshEscaped(option.help)
        let action: String
        switch option.valueKind {
        case _ where option.placeholder == nil: action = ""
        case .file: action = ":file:_files"
        case .directory: action = ":directory:_files -/"
        case .words(let words):
            let list = words.map { $0.replacing(":", with: "\\:") }.joined(separator: " ")
            action = ":value:(\(list))"
        case .transformers: action = ":transformer:_webimage_transformers"
        case .text: action = ":value: "
        }
        // An asterisk allows the option to be repeated.
        return spellings(option).map { name in
            // An optional value is part of the word, and two colons separate it from the help.
            if option.isValueOptional {
                return " \\\n        \(quoted("*\(name)\(name.hasPrefix("--") ? "=" : "")-[\(help)]:\(action)"))"
            }
            let mark = option.placeholder == nil ? "" : name.hasPrefix("--") ? "=" : "+"
            return " \\\n        \(quoted("*\(name)\(mark)[\(help)]\(action)"))"
        }.joined()
    }

    // MARK: - fish

    private static var fishScript: String {
        var text = "# Completion of webimage for fish\n"
        text += fishTransformers
        text += "complete -c webimage -n __fish_use_subcommand -f\n"
        for command in Commands.all {
            text += "complete -c webimage -n __fish_use_subcommand -a \(command.name) -d \(quoted(command.summary))\n"
        }
        text += "complete -c webimage -n __fish_use_subcommand -a help -d 'Print the help of a command or a topic.'\n"
        let help = "-n 'contains -- help (commandline -opc)[2]'"
        text += "complete -c webimage \(help) -f -a '\((names + topics).joined(separator: " ")) --man'\n"
        text += "complete -c webimage -n __fish_use_subcommand -s V -l version -d 'Print the version.'\n"
        for command in Commands.all {
            // The name of a command can also be a word of another one, such as `webimage cache info`.
            let condition = "-n 'contains -- \(command.name) (commandline -opc)[2]'"
            if !command.words.isEmpty {
                // The word after an action can be a file.
                let first =
                    "-n 'contains -- \(command.name) (commandline -opc)[2]; and test (count (commandline -opc)) -eq 2'"
                text += "complete -c webimage \(first) -f -a '\(command.words.joined(separator: " "))'\n"
            }
            for option in command.options {
                text += "complete -c webimage \(condition)\(option.letter.map { " -s \($0)" } ?? "") -l \(option.name)"
                for alias in option.aliases { text += " -l \(alias)" }
                text += fishArgument(option) + " -d \(quoted(option.help))\n"
            }
        }
        return text
    }

    /// The function that prints the completions of a list of transformers. Fish completes the whole list, so each one begins
    /// with the part before the last name.
    private static var fishTransformers: String {
        """
        function __webimage_transformers
            set -l list (string replace -r '^(--\(OptionSpec.transform.name)=|-[a-zA-Z]+)' '' -- (commandline -ct))
            set -l start (string match -r '^.*,' -- $list)
            printf '%s\\n' "$start"{\(TransformList.completions.joined(separator: ","))}
        end

        """
    }

    private static func fishArgument(_ option: OptionSpec) -> String {
        guard option.placeholder != nil, !option.isValueOptional else { return "" }
        switch option.valueKind {
        case .file: return " -r -F"
        case .directory: return " -x -a '(__fish_complete_directories)'"
        case .words(let words): return " -x -a '\(words.joined(separator: " "))'"
        case .transformers: return " -x -a '(__webimage_transformers)'"
        case .text: return " -x"
        }
    }

    /// Returns the names of an option on the command line, the short one first.
    private static func spellings(_ option: OptionSpec) -> [String] {
        (option.letter.map { ["-\($0)"] } ?? []) + ([option.name] + option.aliases).map { "--\($0)" }
    }

    /// Returns text in single quotes, in which only the quote itself is special.
    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}
