// SPDX-License-Identifier: MIT

import Foundation

/// The conformance images, which aren't part of the repository.
enum Conformance {
    /// A row of one of the tables, by column name.
    typealias Row = [String: String]

    /// The directory of the conformance images, or `nil` if it doesn't exist.
    static let directory: URL? = {
        var candidates: [URL] = []
        if let path = ProcessInfo.processInfo.environment["WEBIMAGE_CONFORMANCE"] {
            candidates.append(URL(filePath: path))
        }
        var root = URL(filePath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        candidates.append(root.deletingLastPathComponent().appending(path: "shared/conformance"))
        return candidates.first { FileManager.default.fileExists(atPath: $0.appending(path: "manifest.csv").path) }
    }()

    /// Returns the rows of a table, split at commas. Columns after the first ones may contain commas.
    static func rows(of table: String) throws -> [Row] {
        guard let directory else { return [] }
        let lines = try String(contentsOf: directory.appending(path: table), encoding: .utf8)
            .split(whereSeparator: \.isNewline)
        guard let header = lines.first?.split(separator: ",") else { return [] }
        return lines.dropFirst().map { line in
            let cells = line.split(separator: ",", omittingEmptySubsequences: false)
            return Row(uniqueKeysWithValues: zip(header, cells).map { (String($0), String($1)) })
        }
    }

    /// Returns the contents of one of the files.
    static func data(_ file: String) throws -> Data {
        guard let directory else { return Data() }
        return try Data(contentsOf: directory.appending(path: file))
    }
}
