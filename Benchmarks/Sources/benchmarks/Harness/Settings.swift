// SPDX-License-Identifier: MIT

import Foundation

/// The settings from the command line.
struct Settings {
    /// The suites to run. If it's empty, all suites run.
    var suites: [String] = []
    /// The text that the names of cases must contain, or `nil` for all cases.
    var filter: String?
    var rounds = 5
    /// The number of entries in the large disk cache.
    var entries = 20_000
    /// The number of images in the cold load.
    var pictures = 1_000
    /// The number of entries in the largest caches of the suite `scale`.
    var largest = 100_000
    var wantsJSON = false
    var wantsHelp = false
    /// The directory for files. It isn't emptied between rounds. On ext4, creating files is slow right after many were
    /// deleted, which would distort the measurements of the cache.
    var folder = FileManager.default.currentDirectoryPath + "/.build/benchmark-files/\(getpid())"

    /// The directory of recorded request traces. By default, it’s in the directory that contains the repository, like the conformance images.
    var traces = FileManager.default.currentDirectoryPath + "/../../shared/traces"
    /// The directory of plots.
    var report = FileManager.default.currentDirectoryPath + "/report"

    struct Unusable: Error { let reason: String }

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        func number(_ name: String) throws -> Int {
            guard let text = rest.popFirst(), let value = Int(text), value > 0 else {
                throw Unusable(reason: "\(name): the value must be a number greater than 0")
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
            case "--largest": largest = try number(word)
            case "--folder":
                guard let path = rest.popFirst(), path.hasPrefix("/") else {
                    throw Unusable(reason: "--folder: the value must be an absolute path")
                }
                folder = path + "/\(getpid())"
            case "--traces":
                guard let path = rest.popFirst() else { throw Unusable(reason: "--traces: a path is missing") }
                traces = path
            case "--report":
                guard let path = rest.popFirst() else { throw Unusable(reason: "--report: a path is missing") }
                report = path
            case "--case": filter = rest.popFirst()
            default:
                guard allSuites.contains(where: { $0.name == word }) else {
                    throw Unusable(reason: "unknown suite or option “\(word)”")
                }
                suites.append(word)
            }
        }
    }

    static var help: String {
        let lines = allSuites.map { "  \($0.name.padding(toLength: 12, withPad: " ", startingAt: 0))\($0.summary)" }
        return """
            usage: benchmarks [suite …] [--case text] [--rounds n] [--entries n] [--pictures n] [--largest n] [--folder path]
                  [--traces path] [--report path] [--json]

            \(lines.joined(separator: "\n"))
            """
    }

    /// Creates an empty directory and returns its path.
    func makeFolder(_ name: String) throws -> String {
        let path = "\(folder)/\(name)-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return path
    }
}
