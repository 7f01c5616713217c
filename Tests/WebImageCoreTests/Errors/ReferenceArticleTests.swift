// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

/// Checks the tables of the articles Errors.md and Limits.md against the library.
@Suite("Articles about errors and limits")
struct ReferenceArticleTests {
    private static func article(_ name: String) throws -> String {
        let directory = URL(filePath: #filePath).deletingLastPathComponent()
        let root = directory.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try String(
            contentsOf: root.appending(path: "Documentation/WebImage.docc/Articles/\(name).md"), encoding: .utf8)
    }

    /// One error of each kind whose family has no list of all kinds, and its name in the article.
    private static let samples: [(error: ImageError, name: String)] = [
        (.cancelled, ".cancelled"),
        (.request(.invalidURL("")), ".request(.invalidURL)"),
        (.request(.unsupportedScheme("")), ".request(.unsupportedScheme)"),
        (.request(.invalidSize("")), ".request(.invalidSize)"),
        (.request(.invalidDataURL("")), ".request(.invalidDataURL)"),
        (.request(.fileNotFound(path: "")), ".request(.fileNotFound)"),
        (.request(.fileUnreadable(path: "", errno: 1)), ".request(.fileUnreadable)"),
        (.request(.frameNotFound(index: 1, frameCount: 1)), ".request(.frameNotFound)"),
        (.request(.invalidOption(name: "", value: "")), ".request(.invalidOption)"),
        (.request(.managerShutDown), ".request(.managerShutDown)"),
        (.request(.rejected(reason: "")), ".request(.rejected)"),
        (.request(.sourceFailed(reason: "")), ".request(.sourceFailed)"),
        (.request(.noOriginalData), ".request(.noOriginalData)"),
        (.cache(.notInCache), ".cache(.notInCache)"),
        (.cache(.unsafeDirectory(path: "", reason: "")), ".cache(.unsafeDirectory)"),
        (.cache(.systemCallFailed(operation: "", path: "", errno: 1)), ".cache(.systemCallFailed)"),
        (.cache(.corruptEntry(reason: "")), ".cache(.corruptEntry)"),
        (.cache(.indexFailed(code: 1, message: "")), ".cache(.indexFailed)"),
        (.cache(.writesSuspended(reason: "")), ".cache(.writesSuspended)"),
        (.cache(.invalidEncryptionKey(reason: "")), ".cache(.invalidEncryptionKey)"),
        (.cache(.exportNotDecrypted), ".cache(.exportNotDecrypted)"),
        (.decoding(ImageError.DecodingFailure(.noData)), "noData"),
        (.decoding(ImageError.DecodingFailure(.unknownFormat)), "unknownFormat"),
        (.decoding(ImageError.DecodingFailure(.notAnImage)), "notAnImage"),
        (.decoding(ImageError.DecodingFailure(.noDecoder)), "noDecoder"),
        (.decoding(ImageError.DecodingFailure(.truncated(receivedBytes: 1, expectedBytes: nil))), "truncated"),
        (.decoding(ImageError.DecodingFailure(.corrupted(""))), "corrupted"),
        (.decoding(ImageError.DecodingFailure(.unsupportedFeature(""))), "unsupportedFeature"),
        (.decoding(ImageError.DecodingFailure(.allDecodersFailed([]))), "allDecodersFailed"),
        (.decoding(ImageError.DecodingFailure(.contradictsHeader(""))), "contradictsHeader"),
        (.decoding(ImageError.DecodingFailure(.outOfMemory(byteCount: 1))), "outOfMemory"),
        (
            .decoding(ImageError.DecodingFailure(.decoderSuspended(crashCount: 5, seconds: 60))),
            "decoderSuspended"
        ),
        (
            .processing(.invalidParameter(transformer: "", parameter: "", value: "")),
            ".processing(.invalidParameter)"
        ),
        (.processing(.regionOutsideImage(transformer: "")), ".processing(.regionOutsideImage)"),
        (.processing(.transformerFailed(transformer: "", reason: "")), ".processing(.transformerFailed)"),
        (.processing(.noEncoder(.png)), ".processing(.noEncoder)"),
        (.processing(.encodingFailed(format: .png, reason: "")), ".processing(.encodingFailed)"),
    ]

    @Test("Every error has a row with its code and its name")
    func errors() throws {
        let article = try Self.article("Errors")
        var rows: [(code: Int, name: String)] = Self.samples.map { (code: $0.error.code, name: $0.name) }
        for reason in ImageError.NetworkFailure.Reason.allCases {
            rows.append((code: reason.rawValue, name: "\(reason)"))
        }
        for kind in ImageError.LimitFailure.Kind.allCases { rows.append((code: kind.rawValue, name: "\(kind)")) }
        #expect(Set(rows.map(\.code)).count == rows.count)
        for (code, name) in rows {
            let hasRow = article.contains("\n| \(code) | `\(name)` | ")
            #expect(hasRow, "no row of \(code) \(name)")
        }
    }

    @Test("The table of limits contains the values of the presets")
    func limits() throws {
        let lines = try Self.article("Limits").components(separatedBy: "\n")
        let properties: [(name: String, value: (ImageLimits) -> Int)] = [
            ("maxEncodedBytes", { $0.maxEncodedBytes }),
            ("maxPixels", { $0.maxPixels }),
            ("maxSourcePixels", { $0.maxSourcePixels }),
            ("maxDimension", { $0.maxDimension }),
            ("maxFrames", { $0.maxFrames }),
            ("maxAnimationPixels", { $0.maxAnimationPixels }),
            ("maxDecodedBytes", { $0.maxDecodedBytes }),
        ]
        for (name, value) in properties {
            let row = try #require(lines.first { $0.hasPrefix("| `\(name)` | ") })
            let cells = row.components(separatedBy: " | ")
            try #require(cells.count == 7)
            for (cell, preset) in zip(cells[2...4], [ImageLimits.desktop, .server, .icon]) {
                let digits = cell.filter { $0 != "," }.prefix { $0.isNumber }
                #expect(Int(digits) == value(preset), "\(name): \(cell)")
            }
        }
    }
}
