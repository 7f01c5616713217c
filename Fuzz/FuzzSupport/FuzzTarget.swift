// SPDX-License-Identifier: MIT

import CLibFuzzer
import Foundation

/// A parser or a state machine that libFuzzer calls with arbitrary data.
package struct FuzzTarget: Sendable {
    /// The name on the command line, and of the directories with corpora and findings.
    package let name: String
    /// The maximum size of an input, in bytes.
    package let maxLength: Int
    /// Complete, valid inputs, from which libFuzzer starts.
    package let seeds: @Sendable () -> [Data]
    /// The number of bytes at the end of an input that ``FuzzChoices`` reads. They're appended to each seed and to each
    /// committed input, so that the choices don't truncate it.
    package let choiceCount: Int
    /// Words that occur in valid inputs and that mutations of bits don’t find.
    package let dictionary: [String]
    /// Passes an input to the parser. A trap, a failed precondition, or a report of a sanitizer is a finding.
    package let run: @Sendable (UnsafeRawBufferPointer) -> Void

    /// Creates a target.
    package init(
        _ name: String, maxLength: Int = 4_096, choiceCount: Int = 0,
        seeds: @escaping @Sendable () -> [Data] = { [] }, dictionary: [String] = [],
        run: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) {
        self.name = name
        self.maxLength = maxLength
        self.choiceCount = choiceCount
        self.seeds = seeds
        self.dictionary = dictionary
        self.run = run
    }

    /// Creates a target for a parser of text. Input that isn’t valid UTF-8 is repaired as `String(decoding:as:)` does.
    package init(
        text name: String, maxLength: Int = 1_024, seeds: [String] = [], dictionary: [String] = [],
        run: @escaping @Sendable (String) -> Void
    ) {
        self.init(name, maxLength: maxLength, seeds: { seeds.map { Data($0.utf8) } }, dictionary: dictionary) {
            run(String(decoding: $0, as: UTF8.self))
        }
    }
}

/// The entry point of a fuzzing executable.
package enum FuzzProgram {
    /// Runs the command in the arguments of the process.
    ///
    /// - `PROGRAM --list` prints the names of the targets.
    /// - `PROGRAM --prepare TARGET DIRECTORY` writes the seeds to `DIRECTORY/seeds`, and `DIRECTORY/dictionary`.
    /// - `PROGRAM TARGET …` runs libFuzzer with the remaining arguments.
    package static func main(_ targets: [FuzzTarget]) -> Never {
        let arguments = CommandLine.arguments
        switch arguments.dropFirst().first {
        case "--list":
            for target in targets { print(target.name) }
            exit(0)
        case "--prepare" where arguments.count == 4:
            exit(find(arguments[2], in: targets).prepare(arguments[3]) ? 0 : 1)
        case let name?:
            find(name, in: targets).fuzz(arguments.filter { $0 != name })
        case nil:
            print("usage: \(arguments[0]) --list | --prepare TARGET DIRECTORY | TARGET [libFuzzer option or path …]")
            exit(64)
        }
    }

    private static func find(_ name: String, in targets: [FuzzTarget]) -> FuzzTarget {
        guard let target = targets.first(where: { $0.name == name }) else {
            print("There is no target named \(name).")
            exit(64)
        }
        return target
    }
}

extension FuzzTarget {
    /// Writes the seeds, the committed inputs, and the dictionary, and returns whether that succeeded.
    fileprivate func prepare(_ directory: String) -> Bool {
        let seeds = URL(filePath: directory).appending(path: "seeds")
        do {
            try? FileManager.default.removeItem(at: seeds)
            try FileManager.default.createDirectory(at: seeds, withIntermediateDirectories: true)
            let inputs = self.seeds() + FixtureFiles.corpus(name)
            for (number, input) in inputs.filter({ $0.count + choiceCount <= maxLength }).enumerated() {
                // A choice of 0 is the first alternative, and usually `false`. Most choices of 1 are `true`.
                for choice: UInt8 in choiceCount == 0 ? [0] : [0, 1] {
                    let whole = input + Data(repeating: choice, count: choiceCount)
                    try whole.write(to: seeds.appending(path: "seed-\(number)-\(choice)"))
                }
            }
            let words = dictionary.map { "\"" + Self.escaped($0) + "\"\n" }.joined()
            try Data(words.utf8).write(to: URL(filePath: directory).appending(path: "dictionary"))
            return true
        } catch {
            print("The seeds of \(name) can’t be written: \(error)")
            return false
        }
    }

    private static func escaped(_ word: String) -> String {
        word.utf8.map { byte in
            switch byte {
            case 0x22, 0x5C: "\\" + String(UnicodeScalar(byte))
            case 0x20...0x7E: String(UnicodeScalar(byte))
            default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }.joined()
    }

    fileprivate func fuzz(_ arguments: [String]) -> Never {
        Self.current = run
        // libFuzzer retains the arguments until the process ends, so they’re never released.
        let strings = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: arguments.count + 2)
        for (index, argument) in (arguments + ["-max_len=\(maxLength)"]).enumerated() {
            strings[index] = strdup(argument)
        }
        strings[arguments.count + 1] = nil
        var count = CInt(arguments.count + 1)
        var pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = strings
        exit(
            LLVMFuzzerRunDriver(&count, &pointer) { data, size in
                FuzzTarget.current(UnsafeRawBufferPointer(start: data, count: size))
                return 0
            })
    }

    /// The parser that the callback calls. The callback is a C function, so it can’t capture the target.
    ///
    /// Safe: It’s set once before libFuzzer, which has only one thread, calls the callback.
    nonisolated(unsafe) private static var current: @Sendable (UnsafeRawBufferPointer) -> Void = { _ in }
}
