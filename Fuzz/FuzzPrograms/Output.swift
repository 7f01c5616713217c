// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import WebImage
import WebImagePrograms

@testable import WebImageCommand

/// The targets of output that contains text from files and servers.
enum Output {
    static let targets = [
        FuzzTarget(
            text: "json-output", maxLength: 256, seeds: ["a\"\\\n\u{7F}\u{85}\u{2028}é👩‍👩‍👧"],
            dictionary: ["\"", "\\", "\u{0}", "\u{2028}", "\u{9B}"], run: json),
        FuzzTarget(
            text: "table", maxLength: 256, seeds: ["a.png\n\u{1B}[31mé👩‍👩‍👧\u{202E}"],
            dictionary: ["\u{1B}", "\u{9B}", "\u{202E}", "\u{200D}", "\u{FE0F}", "漢", "\n"], run: table),
        FuzzTarget(
            "exif-tags", maxLength: 2_048,
            seeds: { FixtureFiles.images().compactMap { ImageMetadata.embedded(in: $0).exif } }
        ) { bytes in
            for tag in ExifTags.list(Array(bytes)) { check(tag.name, tag.value) }
        },
        FuzzTarget("icc-description", maxLength: 4_096, seeds: { FixtureFiles.files { $0.hasSuffix(".icc") } }) {
            bytes in
            guard let name = ICCDescription.text(of: Array(bytes)) else { return }
            require(name.count <= 200)
            check(name)
        },
        FuzzTarget(
            "album", maxLength: 1_024,
            seeds: {
                [
                    Data(#"[{"file":"a.png","title":"A","kind":"broken","expect":"decode","aspectRatio":1.5}]"#.utf8)
                ]
            },
            dictionary: ["\"file\":", "\"title\":", "\"kind\":", "\"blurHash\":", "\"aspectRatio\":", "null", "1e999"],
            run: album),
    ]

    /// Checks that text can't control the terminal.
    private static func check(_ texts: String...) {
        for text in texts { require(DisplayText.safe(text) == text, "A text contains control characters.") }
    }

    /// Writes values as JSON, and reads them with Foundation.
    private static func json(_ text: String) {
        var row = FetchRow(label: text, input: text)
        row.timings = [("total", Double(text.utf8.count))]
        row.outputs = [OutputRecord(path: text, format: text)]
        let value: JSONValue = ["text": .string(text), "row": row.json, "list": .array([.null, .double(.nan), 1])]
        let written = value.text
        require(!written.contains("\n"), "A JSON value has several lines.")
        check(written.filter { $0 != "\u{2028}" && $0 != "\u{2029}" && DisplayText.safe(String($0)) == String($0) })
        guard let object = try? JSONSerialization.jsonObject(with: Data(written.utf8)) as? [String: Any] else {
            fatalError("A JSON value isn't valid.")
        }
        require(object["text"] as? String == text, "A string changes.")
    }

    private static func table(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var table = TextTable([.init("a", shrinksTo: 4), .init("b", isNumeric: true, omissionOrder: 1), .init("c")])
        for line in lines { table.add([.init(line), .init(String(line.reversed())), .init("x")]) }
        table.add(.init(text), note: .init(text))
        for columns in [20, 80] {
            let style = TerminalStyle(isTerminal: true, hasColor: false, columns: columns, rows: 24)
            for line in table.lines(style) { check(line) }
            let short = DisplayText.truncated(DisplayText.safe(text), to: columns, inMiddle: columns == 20)
            require(DisplayText.width(short) <= columns, "A truncated text is too wide.")
        }
    }

    private static func album(_ bytes: UnsafeRawBufferPointer) {
        guard let entries = try? JSONDecoder().decode([Album.Entry].self, from: Data(bytes)) else { return }
        for entry in entries { _ = entry.expects(.decoding(.noData)) && entry.isCorrupt }
    }
}
