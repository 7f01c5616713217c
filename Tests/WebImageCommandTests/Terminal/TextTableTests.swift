// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@testable import WebImageCommand

@Suite("Tables")
struct TextTableTests {
    private var rows: [FetchRow] {
        var picture = FetchRow(label: "example.org/holiday/beach-at-sunset.jpg", input: "https://example.org/…")
        picture.format = "jpeg"
        picture.width = 1_920
        picture.height = 1_080
        picture.source = "network"
        picture.bytes = 345_678
        picture.timings = [
            ("disk", 0.0004), ("load", 0.0213), ("decode", 0.012), ("transform", 0), ("total", 0.0341),
        ]
        var broken = FetchRow(label: "example.org/x.png", input: "https://example.org/x.png")
        broken.error = .network(
            ImageError.NetworkFailure(
                .unacceptableStatusCode, url: URL(filePath: "/x.png"), phase: .waitingForResponse, statusCode: 404))
        return [picture, broken]
    }

    @Test("Columns are aligned, and failures show their reason")
    func plain() {
        #expect(
            FetchRow.table(rows).lines(.plain) == [
                "image                                    format  pixels     source      size  disk  load  decode  "
                    + "transform  total",
                "example.org/holiday/beach-at-sunset.jpg  jpeg    1920×1080  network  338 KiB  0.40    21      12  "
                    + "        –     34",
                "example.org/x.png                        failed (2007): the server responded with status 404",
            ])
        #expect(FetchRow.summary(rows) == "2 images: 1 from the network, 1 failed · 338 KiB · times in ms")
    }

    @Test("A narrow terminal truncates names in the middle and then omits less important columns")
    func narrow() {
        func lines(_ columns: Int) -> [String] {
            FetchRow.table(rows).lines(TerminalStyle(isTerminal: true, hasColor: false, columns: columns, rows: 24))
        }
        #expect(lines(100)[1].hasPrefix("example.org/…t-sunset.jpg  jpeg    1920×1080  network"))
        #expect(
            lines(80)[1] == "example.org…sunset.jpg  jpeg    1920×1080  network  338 KiB    21      12     34")
        #expect(lines(44)[1] == "example.o…unset.jpg  network  338 KiB     34")
        for columns in 40...120 {
            #expect(lines(columns).allSatisfy { DisplayText.width($0) <= columns })
        }
    }

    @Test("Colors don't change the alignment of columns")
    func colored() {
        let style = TerminalStyle(isTerminal: true, hasColor: true, columns: 200, rows: 24)
        let stripped = FetchRow.table(rows).lines(style).map {
            $0.replacing("\u{1B}[0m", with: "").replacing("\u{1B}[2m", with: "").replacing("\u{1B}[31m", with: "")
                .replacing("\u{1B}[36m", with: "")
        }
        #expect(stripped == FetchRow.table(rows).lines(.plain))
    }

    @Test("Each loaded image is described in one line")
    func plainLine() {
        #expect(
            rows[0].plainLine
                == "example.org/holiday/beach-at-sunset.jpg: jpeg 1920×1080, network, 338 KiB, 34 ms")
    }
}
