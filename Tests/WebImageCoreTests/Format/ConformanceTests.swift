// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite(.enabled(if: Conformance.directory != nil, "the conformance files aren't available"))
struct ConformanceTests {
    /// The columns in which a header can't or shouldn't match the values of the decoders, by file.
    private static let exceptions: [String: (columns: Set<String>, reason: String)] = [
        "glide/exifsamples/Landscape_0.jpg": (["orientation"], "0 isn't a valid orientation and is ignored"),
        "image-tiff/geotiff/geo-5b.tif": (["has_alpha"], "a fifth band of unspecified meaning isn't alpha"),
        "pillow/separate_planar_extra_samples.tiff": (
            ["has_alpha"], "the header declares a sample whose plane has no data"
        ),
        "pillow/avif/xmp_tags_orientation.avif": (["orientation"], "only XMP contains it, which AVIF ignores"),
        "resvg/structure/svg/zero-size.svg": (["format"], "an image with a side of zero pixels isn't valid"),
    ]

    @Test("The probe returns the values on which the decoders of the manifest agree")
    func manifest() throws {
        var mismatches: [String] = []
        let rows = try Conformance.rows(of: "manifest.csv")
        #expect(rows.count > 1_000)
        for row in rows {
            let file = row["file"] ?? ""
            let found = try differences(row, ImageInfo.probe(Conformance.data(file), isComplete: true))
            mismatches += found.map { "\(file) \($0)" }
        }
        #expect(mismatches.isEmpty, "\(mismatches.count):\n\(mismatches.joined(separator: "\n"))")
    }

    private func differences(_ row: Conformance.Row, _ outcome: ProbeOutcome) -> [String] {
        let exempt = row["file"].flatMap { Self.exceptions[$0]?.columns } ?? []
        guard case .found(let probe) = outcome else { return exempt.contains("format") ? [] : ["\(outcome)"] }
        var differences: [String] = []
        func compare(_ column: String, _ actual: String) {
            guard let cell = row[column], !cell.isEmpty, cell != actual, !exempt.contains(column) else { return }
            differences.append("\(column) \(actual), not \(cell)")
        }
        compare("format", probe.format.rawValue)
        compare("width", "\(probe.size.width)")
        compare("height", "\(probe.size.height)")
        compare("raw_width", "\(probe.storedSize.width)")
        compare("raw_height", "\(probe.storedSize.height)")
        if probe.frameCountIsExact { compare("frames", "\(probe.frameCount)") }
        compare("has_alpha", probe.hasAlpha ? "yes" : "no")
        // GIF files contain the number of repetitions after the first play.
        let repeats = probe.format == .gif && probe.loopCount > 1
        if row["loop"] != "none" { compare("loop", "\(repeats ? probe.loopCount - 1 : probe.loopCount)") }
        if row["orientation"] != "none" { compare("orientation", "\(probe.orientation.rawValue)") }
        return differences
    }

    @Test("Probing a malformed file always terminates")
    func malformed() throws {
        let rows = try Conformance.rows(of: "malformed.csv")
        #expect(rows.count > 500)
        for row in rows {
            let file = row["file"] ?? ""
            let data = try Conformance.data(file)
            if case .needsMore = ImageInfo.probe(data, isComplete: true) { Issue.record("\(file) requests more data") }
            _ = ImageInfo.probe(data, isComplete: false)
            _ = ImageFormat(sniffing: data)
        }
    }

    @Test("Probing a partial file finds the same values as probing the complete file")
    func pieces() throws {
        for row in try Conformance.rows(of: "manifest.csv") {
            let file = row["file"] ?? ""
            let data = try Conformance.data(file)
            guard case .found(let whole) = ImageInfo.probe(data, isComplete: true) else { continue }
            guard let first = firstInfo(data) else {
                // Only formats without a length in the header, and files that end too early, may wait for the end of
                // the data.
                #expect(["pdf", "ico", "svg", "jpeg"].contains(whole.format.rawValue), "\(file) is never detected")
                continue
            }
            #expect(first.storedSize == whole.storedSize && first.bitDepth == whole.bitDepth, "\(file)")
            #expect(first.hasICCProfile == whole.hasICCProfile, "\(file)")
            #expect(first.format == whole.format && first.loopCount == whole.loopCount, "\(file)")
        }
    }

    /// Returns the probe that results if the data arrives in the requested amounts.
    private func firstInfo(_ data: Data) -> ImageInfo? {
        var count = 0
        while count <= data.count {
            switch ImageInfo.probe(data.prefix(count), isComplete: false) {
            case .found(let probe): return probe
            case .failed: return nil
            case .needsMore(let byteCount):
                #expect(byteCount > count)
                // Advance in steps as large as network packets so that long headers aren't read byte by byte.
                count = max(byteCount, min(data.count, count + 256))
            }
        }
        return nil
    }
}
