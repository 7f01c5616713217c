// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// A program in `Benchmarks/Peers` that measures itself, so that the startup time of Python isn't included.
struct PythonPeer {
    private static let python = "/usr/bin/python3"
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Peers").standardizedFileURL.path

    private let script: String

    /// Checks that the program can run.
    ///
    /// - Throws: ``Skipped`` if Python or one of `modules`, which are Python packages or modules in `Benchmarks/Peers`,
    ///   is missing.
    init(_ name: String, modules: [String]) throws {
        script = "\(Self.folder)/\(name)"
        let words = "import " + modules.joined(separator: ", ")
        guard access(Self.python, X_OK) == 0,
            system("cd \(quoted(Self.folder)) && \(Self.python) -B -c '\(words)' 2>/dev/null") == 0
        else {
            throw Skipped(reason: "Python can’t \(words) (Scripts/setup benchmarks)")
        }
    }

    /// Runs the program with the file at `input` as its standard input, and returns its first line of output.
    @discardableResult
    func run(_ arguments: [String], input: String = "/dev/null") throws -> String {
        let words = [Self.python, "-B", script] + arguments
        guard let pipe = popen(words.map(quoted).joined(separator: " ") + " < \(quoted(input))", "r") else {
            throw Skipped(reason: "can’t start \(script)")
        }
        var line = [CChar](repeating: 0, count: 256)
        let text = fgets(&line, 256, pipe).map { String(cString: $0) } ?? ""
        guard pclose(pipe) == 0 else { throw Skipped(reason: "\(words.dropFirst(2)) failed") }
        return text
    }

    /// Runs the program and returns the processor time and the elapsed time per operation that it prints, in seconds.
    func measure(_ arguments: [String], input: String = "/dev/null") throws -> Sample {
        let numbers = try run(arguments, input: input).split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard numbers.count == 2 else { throw Skipped(reason: "\(script) printed no measurements") }
        return [.cpu: numbers[0], .wall: numbers[1]]
    }
}

/// Returns `text` quoted as one shell word.
private func quoted(_ text: String) -> String {
    "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
}
