// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestSupport

@testable import WebImagePrograms

@Suite("Patterns with **")
struct RecursivePatternTests {
    private static let files = [
        "a.png", "notes.txt", ".hidden.png", "one/b.png", "one/two/c.png", "one/two/d.jpg", "one/.git/e.png",
        "one/x[1]/f.png", "three/one/g.png",
    ]

    /// Creates the files in a new directory, and passes the directory with a slash at the end.
    private func inTree<Result>(_ body: (String) throws -> Result) throws -> Result {
        let tree = FileManager.default.temporaryDirectory.appending(path: "webimage-tests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: tree) }
        for name in Self.files {
            let file = tree.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: file)
        }
        // A link to its own parent would lead to an endless path.
        try FileManager.default.createSymbolicLink(
            atPath: tree.appending(path: "one/loop").path, withDestinationPath: "..")
        try FileManager.default.createSymbolicLink(
            atPath: tree.appending(path: "link").path, withDestinationPath: "three")
        return try body(tree.path(percentEncoded: false) + "/")
    }

    @Test(
        "The pattern stands for a directory and its subdirectories, without hidden ones and links",
        arguments: [
            ("**/*.png", ["a.png", "one/b.png", "one/two/c.png", "one/x[1]/f.png", "three/one/g.png"]),
            ("one/**/*.png", ["one/b.png", "one/two/c.png", "one/x[1]/f.png"]),
            ("**/one/*.png", ["one/b.png", "three/one/g.png"]),
            ("**/one/**/*.png", ["one/b.png", "one/two/c.png", "one/x[1]/f.png", "three/one/g.png"]),
            ("**/**/c.*", ["one/two/c.png"]), ("o*/**/d.jpg", ["one/two/d.jpg"]),
            ("one/two/**", ["one/two/c.png", "one/two/d.jpg"]),
            // A directory doesn't match, because its files also do.
            ("three/**/*", ["three/one/g.png"]),
            // A link before the pattern is followed, as in bash.
            ("link/**/*.png", ["link/one/g.png"]), ("**/none", []), ("none/**", []), ("a.png/**", []),
        ])
    func files(_ pattern: String, _ expected: [String]) throws {
        try inTree { tree in
            let found = try #require(RecursivePattern(tree + pattern, limit: 100))
            #expect(found.paths == expected.map { tree + $0 } && !found.isIncomplete)
        }
    }

    @Test("The results are those of bash with the option globstar")
    func bash() async throws {
        for pattern in ["**/*.png", "one/**/*.png", "link/**/*.png", "**/**/c.*"] {
            let (expected, found) = try inTree { tree in
                let script = "shopt -s globstar nullglob; LC_ALL=C; printf '%s\\n' \"$0\"\(pattern)"
                let output = try ChildProcess.run("/bin/bash", ["-c", script, tree]).output
                let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
                // Bash lists a path several times if a pattern matches it in several ways, and it lists files in links to
                // directories, but not in subdirectories of these.
                return (
                    Set(lines.filter { !$0.contains("/loop/") }).sorted(),
                    RecursivePattern(tree + pattern, limit: 100)?.paths
                )
            }
            #expect(!expected.isEmpty && found == expected, "\(pattern)")
        }
    }

    @Test("Other patterns aren't recursive", arguments: ["*.png", "a**/b", "**.png", "a", ""])
    func others(_ pattern: String) {
        #expect(RecursivePattern(pattern, limit: 100) == nil)
    }

    @Test("The number of files and of directories is limited")
    func limits() throws {
        try inTree { tree in
            let files = try #require(RecursivePattern("\(tree)one/two/**", limit: 1))
            #expect(files.paths.count == 1 && files.isIncomplete)
            // Without any match, the number of directories is limited.
            let directories = try #require(RecursivePattern("\(tree)**/none", limit: 2))
            #expect(directories.paths.isEmpty && directories.isIncomplete)
            let list = InputList(["\(tree)**/*.png"])
            #expect(list.inputs.count == 5 && list.notes.isEmpty && !list.isSingle)
        }
    }
}
