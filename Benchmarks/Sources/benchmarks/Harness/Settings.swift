// SPDX-License-Identifier: MIT

import Foundation

/// What the command line asked for.
struct Settings {
    /// Suites to run; empty for all.
    var suites: [String] = []
    /// Only cases whose name contains this; nil for all.
    var filter: String?
    var rounds = 5
    /// Entries of the large disk cache.
    var entries = 20_000
    /// Pictures of the cold load.
    var pictures = 1_000
    var wantsJSON = false
    var wantsHelp = false
    /// Where files are made. Never emptied between rounds: creating files right after many were deleted is slow on
    /// ext4 and would be measured instead of the cache.
    var folder = FileManager.default.currentDirectoryPath + "/.build/benchmark-files/\(getpid())"

    struct Unusable: Error { let reason: String }

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        func number(_ name: String) throws -> Int {
            guard let text = rest.popFirst(), let value = Int(text), value > 0 else {
                throw Unusable(reason: "\(name) needs a number above zero")
            }
            return value
        }
        while let word = rest.popFirst() {
            switch word {
            case "--json": wantsJSON = true
            case "--help", "-h": wantsHelp = true
            case "--rounds": rounds = try number(word)
            case "--entries": entries = try number(word)
            case "--pictures": pictures = try number(word)
            case "--folder":
                guard let path = rest.popFirst(), path.hasPrefix("/") else {
                    throw Unusable(reason: "--folder needs an absolute path")
                }
                folder = path + "/\(getpid())"
            case "--case": filter = rest.popFirst()
            default:
                guard allSuites.contains(where: { $0.name == word }) else {
                    throw Unusable(reason: "there is no suite or option \(word)")
                }
                suites.append(word)
            }
        }
    }

    static var help: String {
        let lines = allSuites.map { "  \($0.name.padding(toLength: 12, withPad: " ", startingAt: 0))\($0.summary)" }
        return """
            usage: benchmarks [suite …] [--case text] [--rounds n] [--entries n] [--pictures n] [--folder path] [--json]

            \(lines.joined(separator: "\n"))
            """
    }

    /// A new empty folder.
    func makeFolder(_ name: String) throws -> String {
        let path = "\(folder)/\(name)-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return path
    }
}
