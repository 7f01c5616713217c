// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The result of loading one image with `fetch`, for the table, the JSON output, and the plain output.
package struct FetchRow: Sendable {
    /// The number of the input, from 0.
    package var index = 0
    /// The display name of the image, which is a file name or a shortened URL.
    package var name: String
    /// The path, or the shortened URL.
    package let label: String
    /// The path, or the URL without credentials and without the values of its query.
    package let input: String
    package var format: String?
    package var width: Int?
    package var height: Int?
    package var frames = 1
    /// The raw value of the source of the image.
    package var source: String?
    package var isStale = false
    package var bytes: Int?
    /// The name of each stage and its duration in seconds, in order.
    package var timings: [(stage: String, seconds: Double)] = []
    /// The file that was written.
    package var outputs: [OutputRecord] = []
    /// The delivered previews, in order, or `nil` if no previews were requested.
    package var previews: [PreviewRow]?
    /// Messages about the output that the user may not expect.
    package var notes: [String] = []
    /// The number of the pass of `demo`, and whether the result is as its album specifies.
    package var pass: (number: Int, isExpected: Bool)?
    package var error: ImageError?

    /// Creates a row. `label` is the path, or the shortened URL. `input` is the path or the URL.
    package init(label: String, input: String) {
        name = URLCredentials.removed(from: label)
        self.label = name
        self.input = InputLabel.redacted(input)
    }

    /// The line for the progress of an image that was loaded.
    package var plainLine: String {
        let total = timings.last.map { ", \(NumberFormatting.milliseconds($0.seconds)) ms" } ?? ""
        let bytes = bytes.map { ", \(NumberFormatting.bytes($0))" } ?? ""
        return "\(DisplayText.safe(name)): \(format ?? "?") \(size), \(source.map(Self.text) ?? "?")\(bytes)\(total)"
            + (previews.map { ", \(NumberFormatting.count($0.count, "preview"))" } ?? "")
    }

    /// The JSON object for the image.
    package var json: JSONValue {
        var record = ImageRecord(input: input)
        (record.index, record.format, record.width, record.height) = (index, format, width, height)
        (record.frames, record.byteCount) = (error == nil ? frames : nil, bytes)
        (record.outputs, record.notes, record.error) = (outputs, notes, error)
        var members: [JSONValue.Member] = [
            .init("source", JSONValue(source)), .init("isStale", .bool(isStale)),
            .init(
                "timings",
                timings.isEmpty
                    ? .null : .object(timings.map { .init($0.stage, .milliseconds($0.seconds)) })),
        ]
        if let pass {
            members.insert(
                contentsOf: [.init("pass", .int(pass.number)), .init("isExpected", .bool(pass.isExpected))], at: 0)
        }
        if let previews { members.append(.init("previews", .array(previews.map(\.json)))) }
        return record.json(members)
    }

    /// The lines that report the output file.
    package var outputLines: [String] {
        var record = ImageRecord(input: input)
        record.outputs = outputs
        return record.lines(label: name)
    }

    private var size: String {
        guard let width, let height else { return "" }
        return "\(width)×\(height)" + (frames > 1 ? " ▶\(frames)" : "")
    }

    /// Returns the table of all rows, with times in milliseconds.
    package static func table(_ rows: [FetchRow]) -> TextTable {
        var table = TextTable([
            .init("image", shrinksTo: 18), .init("format", omissionOrder: 3), .init("pixels", omissionOrder: 6),
            .init("source"),
            .init("size", isNumeric: true), .init("disk", isNumeric: true, omissionOrder: 2),
            .init("load", isNumeric: true, omissionOrder: 5), .init("decode", isNumeric: true, omissionOrder: 4),
            .init("transform", isNumeric: true, omissionOrder: 1), .init("total", isNumeric: true),
        ])
        for row in rows {
            if let error = row.error {
                table.add(.init(row.name), note: .init("failed (\(error.code)): \(error.briefReason)", .red))
                continue
            }
            let source = (row.source.map(text) ?? "") + (row.isStale ? " (stale)" : "")
            let times = row.timings.map { TextTable.Cell(NumberFormatting.milliseconds($0.seconds)) }
            table.add(
                [
                    .init(row.name), .init(row.format ?? ""), .init(row.size),
                    .init(source, row.isStale ? .yellow : emphasis(of: row.source)),
                    .init(row.bytes.map(NumberFormatting.bytes) ?? "–"),
                ] + times)
        }
        return table
    }

    /// Returns a summary such as `5 images: 3 from the network, 1 from disk, 1 failed · 1.2 MiB · times in ms`.
    package static func summary(_ rows: [FetchRow]) -> String {
        let failed = rows.filter { $0.error != nil }.count
        let sources = ["network", "revalidated", "diskCache", "memoryCache", "cacheTier", "local"]
        var parts = sources.compactMap { source -> String? in
            let count = rows.filter { $0.error == nil && $0.source == source }.count
            return count > 0 ? "\(count) \(Self.phrase(source))" : nil
        }
        if failed > 0 { parts.append("\(failed) failed") }
        let previews = rows.compactMap(\.previews)
        if !previews.isEmpty { parts.append(NumberFormatting.count(previews.reduce(0) { $0 + $1.count }, "preview")) }
        let bytes = rows.reduce(0) { $0 + ($1.bytes ?? 0) }
        return
            "\(NumberFormatting.count(rows.count, "image")): \(parts.joined(separator: ", ")) · \(NumberFormatting.bytes(bytes))"
            + " · times in ms"
    }

    /// Returns the words for a source in summaries.
    private static func phrase(_ source: String) -> String {
        switch source {
        case "network": "from the network"
        case "memoryCache": "from memory"
        case "diskCache": "from disk"
        case "cacheTier": "from a cache tier"
        default: source
        }
    }

    /// Returns the word for a source in tables.
    private static func text(_ source: String) -> String {
        switch source {
        case "memoryCache": "memory"
        case "diskCache": "disk"
        case "cacheTier": "tier"
        default: source
        }
    }

    private static func emphasis(of source: String?) -> Emphasis? {
        switch source {
        case "network": .cyan
        case "memoryCache", "diskCache", "revalidated": .green
        default: nil
        }
    }
}
