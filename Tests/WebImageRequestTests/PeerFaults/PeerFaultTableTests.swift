// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestSupport

/// Compares the table `Tests/Fixtures/peer-faults.md` with the names of all tests.
@Suite("Table of faults of other libraries")
struct PeerFaultTableTests {
    /// Returns the IDs of the table with the text of their last column.
    private static func table() throws -> [(id: String, check: String)] {
        let text = try String(contentsOf: Fixtures.directory.appending(path: "peer-faults.md"), encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 3, cells[0].wholeMatch(of: /[A-Z]-\d\d/) != nil else { return nil }
            return (cells[0], cells[2])
        }
    }

    /// Returns the IDs in the names of all tests in the sources of the test targets.
    private static func testedIDs() throws -> Set<String> {
        let tests = Fixtures.directory.deletingLastPathComponent()
        let files = try #require(FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil))
        var ids: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let source = try String(contentsOf: file, encoding: .utf8)
            for name in source.matches(of: /@Test\(\s*"([^"]*)"/) {
                // The IDs precede the first colon, possibly after the row of another table.
                for id in name.1.prefix(while: { $0 != ":" }).matches(of: /\b[NKSCGYF]-\d\d\b/) {
                    ids.insert(String(id.0))
                }
            }
            for name in source.matches(of: /func test([NKSCGYF])(\d\d)[A-Z]/) { ids.insert("\(name.1)-\(name.2)") }
        }
        return ids
    }

    @Test("Each fault has a test with its ID or a reason why it can't occur, and no test has an unknown ID")
    func complete() throws {
        let table = try Self.table()
        let tested = try Self.testedIDs()
        #expect(table.count == 132 && Set(table.map(\.id)).count == 132)
        for (id, check) in table {
            if check == "Test" {
                #expect(tested.contains(id), "no test has the ID \(id) in its name")
            } else {
                #expect(check.count > 40 && check.hasSuffix("."), "\(id) has neither a test nor a reason")
            }
        }
        #expect(tested.subtracting(table.map(\.id)).isEmpty)
    }
}
