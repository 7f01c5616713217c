// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

/// The number of allocations of each case that fail. To let all of them fail, set WEBIMAGE_SOAK_ALLOCATIONS=100000000.
private let samples = ProcessInfo.processInfo.environment["WEBIMAGE_SOAK_ALLOCATIONS"].flatMap(Int.init) ?? 24

@Suite("Failing allocations of C libraries and shims")
struct AllocationFailureTests {
    /// An operation on fixtures.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let files: [String]
        let format: ImageFormat
        /// A Boolean value that indicates whether the library of the format ends the process if an allocation fails.
        /// Such libraries belong into helper processes.
        let aborts: Bool

        init(_ name: String, _ format: ImageFormat, _ files: String..., aborts: Bool = false) {
            (self.name, self.format, self.files, self.aborts) = (name, format, files, aborts)
        }

        var testDescription: String { "\(name) \(format)" }
    }

    private static let cases = [
        Case("decode", .jpeg, "codecs/420-progressive.jpg", "codecs/cmyk.jpg"),
        Case("decode", .png, "codecs/gray8.png", "codecs/gray8-interlaced.png", "codecs/gray16.png"),
        Case("decode", .webp, "codecs/lossy-80.webp", "codecs/lossy-alpha-raw.webp"),
        // libwebp 1.2.4 frees an invalid address if it can't allocate the tables of a lossless image.
        Case("decode", .webp, "codecs/lossless-alpha.webp", aborts: true),
        Case("decode", .gif, "codecs/interlaced.gif"),
        Case("decode", .bmp, "codecs/ffmpeg.bmp"),
        Case("decode", .ico, "formats/png.ico", "formats/bmp32.ico"),
        Case("decode", .qoi, "codecs/rgb.qoi"),
        Case("decode", .pgm, "codecs/text16.pgm"), Case("decode", .pam, "codecs/rgba16.pam"),
        Case("decode", .tiff, "formats/lzw.tiff", aborts: true),
        Case("decode", .jpeg2000, "jpeg2000/alpha.jp2", aborts: true),
        Case("decode", .avif, "formats/420.avif", aborts: true),
        Case("decode", .heif, "formats/420.heic", aborts: true),
        Case("decode", .jxl, "formats/lossless.jxl", aborts: true),
        Case("decode", .icns, "../../Fuzz/Corpora/decode-icns/argb.icns", "../../Fuzz/Corpora/decode-icns/png.icns"),
        Case("decode", .svg, "formats/sized.svg", aborts: true),
        Case("decode", .pdf, "formats/page.pdf", aborts: true),
        Case("thumbnail", .jpeg, "codecs/420-progressive.jpg", "codecs/cmyk.jpg"),
        Case("thumbnail", .webp, "codecs/lossy-80.webp"),
        Case("preview", .jpeg, "codecs/420-progressive.jpg", "codecs/420.jpg"),
        Case("preview", .png, "codecs/gray8-interlaced.png"),
        Case("preview", .webp, "codecs/lossy-80.webp"),
        Case("preview", .jxl, "formats/progressive.jxl", aborts: true),
        Case("animation", .gif, "codecs/ffmpeg.gif"),
        Case("animation", .png, "codecs/animated.png"),
        Case("animation", .webp, "codecs/animated.webp", aborts: true),
        Case("animation", .jxl, "formats/animated.jxl", aborts: true),
        Case("metadata", .jpeg, "codecs/420.jpg"),
        Case("encode-jpeg", .jpeg, "codecs/420.jpg"),
        Case("encode-png", .png, "codecs/420.jpg"),
        Case("encode-gif", .gif, "codecs/420.jpg"),
        Case("encode-webp", .webp, "codecs/420.jpg"),
        Case("encode-bmp", .bmp, "codecs/420.jpg"),
        Case("encode-ico", .ico, "codecs/420.jpg"),
        Case("encode-qoi", .qoi, "codecs/420.jpg"), Case("encode-pam", .pam, "codecs/420.jpg"),
        Case("encode-tiff", .tiff, "codecs/420.jpg", aborts: true),
        Case("encode-avif", .avif, "codecs/420.jpg", aborts: true),
        Case("encode-heif", .heif, "codecs/420.jpg", aborts: true),
        Case("encode-jxl", .jxl, "codecs/420.jpg", aborts: true),
    ].filter { item in
        item.name.hasPrefix("encode")
            ? ImageCoderRegistry.standard.canEncode(item.format) : ImageCoderRegistry.standard.canDecode(item.format)
    }

    private static let probe: String? = [
        Bundle.main.bundleURL, Bundle.main.bundleURL.deletingLastPathComponent(),
        URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent(),
    ].map { $0.appending(path: "allocation-probe").path }.first { FileManager.default.isExecutableFile(atPath: $0) }

    @Test(
        "An operation whose allocation fails ends with a typed error, and its shims leak nothing",
        .enabled(if: probe != nil, "allocation-probe isn't built"), arguments: cases)
    func failures(_ item: Case) throws {
        let (total, outcomes) = try Self.run("all", item)
        #expect(total == 0 || !outcomes.isEmpty)
        for outcome in outcomes {
            let isAllowed =
                outcome[0] == "error" || outcome[0] == "success" || outcome[0] == "signal" && item.aborts
            #expect(isAllowed, "\(outcome.joined(separator: " ")) of \(total) allocations")
        }
    }

    @Test(
        "If an allocation of this package fails, no coder ends the process, whether its library would do so or not",
        .enabled(if: probe != nil, "allocation-probe isn't built"), arguments: cases)
    func ownFailures(_ item: Case) throws {
        let (total, outcomes) = try Self.run("own", item)
        for outcome in outcomes {
            #expect(
                ["error", "success"].contains(outcome[0]), "\(outcome.joined(separator: " ")) of \(total) allocations")
        }
    }

    /// Runs a case, and returns the number of allocations and the words of each outcome.
    private static func run(_ allocations: String, _ item: Case) throws -> (total: Int, outcomes: [[String]]) {
        let files = item.files.map { Fixtures.directory.appending(path: $0).path }
        // A backtrace of each crash would take most of the time.
        let environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        let (status, output) = try ChildProcess.run(
            try #require(probe), [allocations, item.name, String(samples)] + files, environment: environment,
            error: .file("/dev/null"))
        try #require(status == 0, "the probe failed")
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map {
            $0.split(separator: " ").map(String.init)
        }
        if ProcessInfo.processInfo.environment["WEBIMAGE_PRINT_ALLOCATIONS"] != nil { print(allocations, item, lines) }
        let total = try #require(lines.first?.last.flatMap(Int.init))
        return (total, Array(lines.dropFirst()))
    }
}
