// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// A program of `Benchmarks/Peers` that measures itself, so that starting Python is not counted.
struct PythonPeer {
    private static let python = "/usr/bin/python3"
    private let script: String

    /// - Throws: ``Skipped`` where Python or one of `modules` is missing.
    init(_ name: String, modules: [String]) throws {
        script =
            URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Peers/\(name)")
            .standardizedFileURL.path
        let words = "import " + modules.joined(separator: ", ")
        guard access(Self.python, X_OK) == 0, system("\(Self.python) -c '\(words)' 2>/dev/null") == 0 else {
            throw Skipped(reason: "Python has not all of \(modules.joined(separator: ", ")) (Scripts/setup benchmarks)")
        }
    }

    /// Runs it with `input` in a file of `folder`; its processor seconds and the seconds that passed, per operation.
    func run(_ input: String, operations: Int, folder: String) throws -> Sample {
        let file = folder + "/input"
        try Data(input.utf8).write(to: URL(filePath: file))
        guard let pipe = popen("\(Self.python) '\(script)' < '\(file)'", "r") else {
            throw Skipped(reason: "\(script) does not start")
        }
        var line = [CChar](repeating: 0, count: 256)
        let text = fgets(&line, 256, pipe).map { String(cString: $0) } ?? ""
        let numbers = text.split(separator: " ").compactMap {
            Double($0.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        guard pclose(pipe) == 0, numbers.count == 2 else { throw Skipped(reason: "\(script) failed") }
        return [.cpu: numbers[0] / Double(operations), .wall: numbers[1] / Double(operations)]
    }
}
