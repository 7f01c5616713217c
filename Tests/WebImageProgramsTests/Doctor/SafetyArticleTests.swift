// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCommand
import WebImageStore

@testable import WebImagePrograms

@Suite("The article about safety")
struct SafetyArticleTests {
    private static var root: URL {
        (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    }

    private static func article() throws -> String {
        try String(
            contentsOf: root.appending(path: "Documentation/WebImage.docc/Articles/Safety.md"), encoding: .utf8)
    }

    @Test("The table of limits has the values of the code")
    func limits() throws {
        let lines = try Self.article().split(separator: "\n")
        for check in Doctor.limitChecks + Doctor.downloaderChecks {
            // On machines with little memory, the budget of bodies is smaller.
            if check.id == "maxBodyBytesInFlight", SystemMemory.limit() < 2 << 30 { continue }
            let line = try #require(lines.first { $0.hasPrefix("| `\(check.id)`") }, "\(check.id)")
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(cells.dropFirst().joined(separator: ", ") == check.detail, "\(check.id)")
        }
    }

    @Test("Each test suite that the article names exists")
    func suites() throws {
        let names = try Self.article().matches(of: /`(WebImage[A-Za-z]*Tests)\.([A-Za-z0-9]+)`/)
        #expect(names.count > 50)
        var sources: [Substring: String] = [:]
        for name in names {
            let (target, suite) = (name.output.1, name.output.2)
            if sources[target] == nil { sources[target] = try Self.sources(String(target)) }
            let text = try #require(sources[target])
            let exists = ["struct \(suite) {", "class \(suite) {", "class \(suite):"].contains { text.contains($0) }
            #expect(exists, "\(target).\(suite)")
        }
    }

    @Test("Each fuzzer and each of its targets that the article names exists")
    func fuzzers() throws {
        let names = try Self.article().matches(of: /targets? ([^|]+?) of the fuzzer `(Fuzz[A-Za-z]+)`/)
        #expect(names.count >= 4)
        for name in names {
            let fuzzer = String(name.output.2)
            let text = try Self.sources(in: Self.root.appending(path: "Fuzz/\(fuzzer)"))
            for target in name.output.1.matches(of: /`([^`]+)`/) {
                #expect(text.contains("\"\(target.output.1)\""), "\(fuzzer) \(target.output.1)")
            }
        }
    }

    @Test("SECURITY.md refers to the article")
    func policy() throws {
        let policy = try String(contentsOf: Self.root.appending(path: "SECURITY.md"), encoding: .utf8)
        #expect(policy.contains("Documentation/WebImage.docc/Articles/Safety.md"))
    }

    /// Returns the text of all sources of a test target.
    private static func sources(_ target: String) throws -> String {
        try sources(in: root.appending(path: "Tests/\(target)"))
    }

    /// Returns the text of all sources in a directory.
    private static func sources(in folder: URL) throws -> String {
        let files = FileManager.default.enumerator(atPath: folder.path)
        var text = ""
        while let name = files?.nextObject() as? String {
            guard name.hasSuffix(".swift") else { continue }
            text += try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }
        return text
    }
}
