// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestSupport

/// Checks the articles SDWebImageNames.md and YYWebImageNames.md against the lists of their tests in
/// `Tests/Fixtures/migration`, the sources of the tests, and the list of public symbols.
@Suite("Articles with the names of other libraries")
struct MigrationNameTests {
    /// A row of an article or of a list.
    private struct Name: Hashable, CustomStringConvertible {
        var section: String
        var text: String
        var description: String { "\(section): \(text)" }
    }

    private static let tests = Fixtures.directory.deletingLastPathComponent()

    private static func lines(of path: String) throws -> [String] {
        let root = tests.deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8).components(separatedBy: "\n")
    }

    /// Returns the rows of the tables whose first column has the given title, and the text of their second column.
    private static func rows(of article: String, title: String) throws -> [(name: Name, replacement: String)] {
        var section = ""
        var isInTable = false
        var rows: [(name: Name, replacement: String)] = []
        for line in try lines(of: "Documentation/WebImage.docc/Articles/\(article).md") {
            if line.hasPrefix("## ") { section = String(line.dropFirst(3)) }
            if line == "| \(title) | WebImage |" { isInTable = true }
            isInTable = isInTable && line.hasPrefix("|")
            guard isInTable, line.hasPrefix("| `") else { continue }
            let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            guard cells.count == 2 else { throw CocoaError(.fileReadCorruptFile) }
            rows.append((Name(section: section, text: cells[0].filter { $0 != "`" }), cells[1]))
        }
        return rows
    }

    /// Returns the tests of each name. A test is the path of a file and the name of a function.
    private static func list(_ name: String) throws -> [Name: [String]] {
        var section = ""
        var list: [Name: [String]] = [:]
        for line in try lines(of: "Tests/Fixtures/migration/\(name).txt") {
            if line.hasPrefix("## ") { section = String(line.dropFirst(3)) }
            let cells = line.components(separatedBy: "\t")
            if cells.count > 1 { list[Name(section: section, text: cells[0])] = Array(cells.dropFirst()) }
        }
        return list
    }

    /// Returns the identifiers in the code of a text.
    private static func identifiers(in text: String) -> [String] {
        text.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
            .flatMap { $0.element.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init) }
            .filter { $0.first?.isNumber == false }
    }

    private static let articles = [
        ("SDWebImageNames", "SDWebImage name", 870), ("YYWebImageNames", "YYWebImage name", 360),
    ]

    @Test("Each name has a test or a reason, and no name occurs twice in a section", arguments: articles)
    func rows(article: String, title: String, count: Int) throws {
        let rows = try Self.rows(of: article, title: title)
        let list = try Self.list(article)
        #expect(rows.count >= count)
        #expect(Set(rows.map(\.name)).count == rows.count)
        for row in rows {
            let reason = row.replacement.hasPrefix("Not applicable: ") ? row.replacement.dropFirst(16) : ""
            let tests = list[row.name] ?? []
            #expect(tests.isEmpty == (reason.count > 20), "\(row.name)")
            #expect(!row.replacement.lowercased().contains("missing"), "\(row.name)")
        }
        let unknown = Set(list.keys).subtracting(rows.map(\.name))
        #expect(unknown.isEmpty, "names that aren't in the article: \(unknown)")
    }

    @Test("Each listed test exists", arguments: articles)
    func tests(article: String, title: String, count: Int) throws {
        var sources: [String: String] = [:]
        for test in Set(try Self.list(article).values.joined()) {
            let parts = test.components(separatedBy: " ")
            let (file, function) = (try #require(parts.first), try #require(parts.last))
            let source = try sources[file] ?? String(contentsOf: Self.tests.appending(path: file), encoding: .utf8)
            sources[file] = source
            let before = source.components(separatedBy: "func \(function)(")
            #expect(before.count > 1, "\(file) has no function \(function)")
            // The functions of XCTest begin with “test”, and others follow the attribute.
            let isTest =
                function.hasPrefix("test")
                || before.dropLast().contains { text in
                    guard let attribute = text.range(of: "@Test", options: .backwards) else { return false }
                    return !text[attribute.upperBound...].contains("func ")
                }
            #expect(isTest, "\(function) in \(file) isn't a test")
        }
    }

    /// Words in the code of the articles that aren't public symbols of the library: variables, Swift, and Apple’s names.
    private static let words: Set<String> = [
        "request", "manager", "task", "options", "binder", "view", "configuration", "image", "transformer", "playback",
        "downloader", "in", "true", "false", "nil", "max", "Bundle", "module", "MainActor", "run", "Task", "TaskGroup",
        "await", "miter", "HEIF", "trait", "NSURLSession", "NSURLSessionTask", "CGImage", "CALayer", "NSImage",
        "CIFilter", "CGContext", "CGColorSpace", "NSBitmapImageRep", "MKAnnotationView", "dispatch_async",
    ]

    @Test("The code of each row consists of public symbols", arguments: articles)
    func symbols(article: String, title: String, count: Int) throws {
        let directory = Self.tests.deletingLastPathComponent().appending(path: "Documentation/api")
        var symbols = Self.words
        for file in try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil) {
            for line in try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n") {
                let declaration = line.components(separatedBy: "\t")
                let text = (declaration.first ?? "") + " " + (declaration.count > 2 ? declaration[2] : "")
                symbols.formUnion(text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
            }
        }
        for row in try Self.rows(of: article, title: title) {
            let unknown = Self.identifiers(in: row.replacement).filter { !symbols.contains($0) }
            #expect(unknown.isEmpty, "\(row.name) contains \(unknown)")
        }
    }
}
