// SPDX-License-Identifier: MIT

import CTerminal
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// An error that describes an invalid command line.
package struct UsageError: Error, Hashable, Sendable {
    /// The message for the user, without a period.
    package let message: String

    package init(_ message: String) { self.message = message }
}

/// The options and operands of a command line, parsed with getopt_long(3).
package struct Arguments: Sendable, Equatable {
    /// The values of each option by its long name, in order. A flag and an omitted value are empty.
    package private(set) var values: [String: [String]] = [:]
    /// The operands, in order.
    package private(set) var operands: [String] = []

    // getopt stores its state in global variables, so serialize access to it.
    private static let turn = Lock(())

    /// Parses the words after the name of a command.
    package init(_ words: [String], for command: CommandSpec) throws(UsageError) {
        var reader = Reader(options: command.options)
        let result = Self.turn.withLock { _ in
            Result { () throws(UsageError) in try reader.read(words) }
        }
        try result.get()
        values = reader.values
        operands = reader.operands
        try checkText(command)
    }

    /// The options whose values can contain any bytes, because they're names of files that the tool itself opens.
    private static let optionsForNames: Set<String> = [
        "output", "output-dir", "input-file", "preview-dir", "trace", "encryption-key-file",
    ]
    /// The commands whose operands are text or paths for a library.
    private static let commandsForText = [Commands.cache, Commands.completion, Commands.doctor, Commands.demo]

    /// Throws an error if a value that must be text isn't valid UTF-8.
    private func checkText(_ command: CommandSpec) throws(UsageError) {
        for (option, texts) in values.sorted(by: { $0.key < $1.key })
        where !Self.optionsForNames.contains(option) && texts.contains(where: FileNameText.hasEscapes) {
            throw UsageError("--\(option): the value isn’t valid UTF-8")
        }
        guard Self.commandsForText.contains(where: { $0.name == command.name }) else { return }
        if let operand = operands.first(where: FileNameText.hasEscapes) {
            throw UsageError("the argument “\(operand)” isn’t valid UTF-8")
        }
    }

    /// Returns whether an option was specified.
    package func has(_ option: String) -> Bool { values[option] != nil }

    /// Returns arguments in which an option has a single value, which is empty for a flag.
    func setting(_ option: String, to value: String) -> Arguments {
        var result = self
        result.values[option] = [value]
        return result
    }

    /// Returns the last value of an option.
    package func last(_ option: String) -> String? { values[option]?.last }
}

/// A parser that calls the C functions for one command line.
private struct Reader {
    let options: [OptionSpec]
    var values: [String: [String]] = [:]
    var operands: [String] = []

    /// Options without a letter have numbers above those of all letters.
    private func number(_ index: Int) -> Int32 {
        options[index].letter?.asciiValue.map(Int32.init) ?? Int32(256 + index)
    }

    mutating func read(_ words: [String]) throws(UsageError) {
        let spellings = options.indices.flatMap { index in
            ([options[index].name] + options[index].aliases).map { (name: $0, index: index) }
        }
        let names = spellings.map { strdup($0.name) }
        var vector = (["webimage"] + words).map { strdup($0) } + [nil]
        let copies = vector
        defer { for copy in names + copies { free(copy) } }
        let table = zip(names, spellings).map { name, spelling in
            wi_option(
                name: UnsafePointer(name), value: number(spelling.index),
                takes_argument: options[spelling.index].placeholder != nil,
                argument_is_optional: options[spelling.index].isValueOptional)
        }
        let count = Int32(words.count + 1)
        var restart = true
        while true {
            let step = vector.withUnsafeMutableBufferPointer {
                wi_next_option(count, $0.baseAddress, table, table.count, restart)
            }
            restart = false
            if step.found == -1 { break }
            let word =
                vector.indices.contains(Int(step.word)) ? vector[Int(step.word)].map { String(cString: $0) } : nil
            try handle(step, word: word ?? "")
        }
        operands = vector.dropLast().dropFirst(Int(wi_first_operand())).compactMap { $0.map { String(cString: $0) } }
    }

    private mutating func handle(_ step: wi_option_step, word: String) throws(UsageError) {
        if let index = options.indices.first(where: { number($0) == step.found }) {
            values[options[index].name, default: []].append(step.argument.map { String(cString: $0) } ?? "")
            return
        }
        let culprit = options.indices.first { number($0) == step.culprit }.map { options[$0] }
        if step.found == Int32(UInt8(ascii: ":")), let culprit {
            throw UsageError(
                "--\(culprit.name): the value is missing (use --\(culprit.name) \(culprit.placeholder ?? ""))")
        }
        if let culprit { throw UsageError("--\(culprit.name): this option doesn’t take a value") }
        if step.culprit > 0, let letter = UInt8(exactly: step.culprit) {
            throw UsageError("unknown option -\(Unicode.Scalar(letter))")
        }
        let name = word.prefix { $0 != "=" }
        let meant = options.filter { "--\($0.name)".hasPrefix(name) }.map { "--\($0.name)" }
        if meant.count > 1 {
            throw UsageError("\(name): the option is ambiguous (use \(meant.joined(separator: " or ")))")
        }
        let names = options.flatMap { [$0.name] + $0.aliases }
        let nearest = SpellingSuggestion.nearest(to: String(name.dropFirst(2)), in: names)
        throw UsageError("unknown option \(name)" + (nearest.map { " (did you mean --\($0)?)" } ?? ""))
    }
}
