// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport

@testable import WebImageCommand

@Suite("Comparison of images")
struct ImageComparisonTests {
    /// The program that prints the score of the Python package `ssimulacra2` (pip install ssimulacra2) for two files.
    private static let oracle =
        "from ssimulacra2.ssimulacra2 import compute_ssimulacra2 as f; import sys; print(f(*sys.argv[1:]))"

    private static func python(_ code: String, _ arguments: [String] = []) async throws -> (status: Int32, out: String)
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "webimage-oracle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = try ChildProcess(
            "python3", ["-c", code] + arguments, in: folder, output: .file("out"), error: .file("error"))
        let status = await process.end()
        return (status, String(decoding: try Data(contentsOf: folder.appending(path: "out")), as: UTF8.self))
    }

    /// Returns an image with smooth areas, edges, and texture.
    private func scene(_ width: Int, _ height: Int) throws -> PixelBuffer {
        try pixels(width, height) { x, y in
            let wave = sin(Double(x) / 7) * cos(Double(y) / 11)
            let isInside = (x - width / 2) * (x - width / 2) + (y - height / 2) * (y - height / 2) < width * height / 12
            let red = isInside ? 200 + 40 * wave : Double(x) / Double(width) * 255
            return [UInt8(red), UInt8(Double(y) / Double(height) * 255), UInt8(128 + 100 * wave), 255]
        }
    }

    private func pixels(
        _ width: Int, _ height: Int, isOpaque: Bool = true, _ color: (Int, Int) -> [UInt8]
    ) throws -> PixelBuffer {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
        let stride = canvas.bytesPerRow
        canvas.withUnsafeMutableBytes { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    for (index, value) in color(x, y).enumerated() { bytes[y * stride + x * 4 + index] = value }
                }
            }
        }
        return canvas.finish(isOpaque: isOpaque)
    }

    private func transposed(_ image: PixelBuffer) throws -> PixelBuffer {
        let bytes = image.packedBytes()
        return try pixels(image.size.height, image.size.width) { x, y in
            Array(bytes[((x * image.size.width + y) * 4)...].prefix(4))
        }
    }

    private func encoded(_ image: PixelBuffer, _ encoding: ImageEncoding) throws -> Data {
        try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: image), as: encoding, context: ImageProcessingContext())
    }

    private func distorted(_ image: PixelBuffer, quality: Int) throws -> PixelBuffer {
        try ImageCoderRegistry.standard.decode(
            try encoded(image, ImageEncoding(format: .jpeg, quality: quality)), context: ImageProcessingContext()
        ).pixels
    }

    @Test("Scores agree with the Python package ssimulacra2", arguments: [15, 50, 90])
    func oracle(_ quality: Int) async throws {
        guard try await Self.python("import ssimulacra2.ssimulacra2").status == 0 else {
            try Test.cancel("The Python package ssimulacra2 isn't installed.")
        }
        for (width, height) in [(320, 256), (301, 263)] {
            let original = try scene(width, height)
            let changed = try distorted(original, quality: quality)
            let folder = FileManager.default.temporaryDirectory.appending(path: "webimage-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let files = [folder.appending(path: "a.png"), folder.appending(path: "b.png")]
            try encoded(original, .png).write(to: files[0])
            try encoded(changed, .png).write(to: files[1])
            let printed = try await Self.python(Self.oracle, files.map { $0.path(percentEncoded: false) }).out
            let expected = try #require(Double(printed.trimmingCharacters(in: .whitespacesAndNewlines)))
            // The package processes the transposed image, and mirrors one dimension at its borders.
            let mirrored = try ImageComparison(try transposed(original), try transposed(changed), border: .mirrored)
            #expect(abs(try #require(mirrored.score) - expected) < 0.05, "\(expected)")
            let score = try #require(try ImageComparison(original, changed).score)
            #expect(abs(score - expected) < 8, "\(score) \(expected)")
        }
    }

    @Test("Equal images have a score of 100 and no PSNR")
    func equal() throws {
        let image = try scene(40, 30)
        let comparison = try ImageComparison(image, image)
        #expect(comparison.score == 100 && comparison.psnr == nil && comparison.isEqual)
    }

    @Test("A lower quality has a lower score and a lower PSNR")
    func monotonic() throws {
        let image = try scene(300, 260)
        let results = try [95, 70, 30, 5].map { try ImageComparison(image, try distorted(image, quality: $0)) }
        let scores = results.compactMap(\.score)
        let ratios = results.compactMap(\.psnr)
        #expect(scores.count == 4 && scores == scores.sorted(by: >) && scores[0] > 85 && scores[3] < 30, "\(scores)")
        #expect(ratios.count == 4 && ratios == ratios.sorted(by: >))
    }

    @Test("PSNR is that of its definition")
    func psnr() throws {
        let black = try pixels(10, 10) { _, _ in [0, 0, 0, 255] }
        let gray = try pixels(10, 10) { _, _ in [5, 5, 5, 255] }
        // 20 log10(255 / 5)
        #expect(abs(try #require(try ImageComparison(black, gray).psnr) - 34.1514) < 0.001)
    }

    @Test("A difference on one background counts for transparent images")
    func transparency() throws {
        let clear = try pixels(64, 64, isOpaque: false) { _, _ in [0, 0, 0, 0] }
        // Light gray differs from clear pixels on a dark background only.
        let light = try pixels(64, 64) { x, _ in x % 8 < 4 ? [230, 230, 230, 255] : [229, 229, 229, 255] }
        #expect(try #require(try ImageComparison(clear, light).score) < 30)
    }

    @Test("Tiny images have no score, and different sizes are rejected")
    func limits() throws {
        let small = try pixels(7, 20) { x, _ in [UInt8(x), 0, 0, 255] }
        #expect(try ImageComparison(small, small).score == nil)
        let other = try scene(9, 9)
        #expect(throws: ImageError.self) { try ImageComparison(small, other) }
    }

    @Test("A comparison can be canceled")
    func cancellation() throws {
        let image = try scene(64, 64)
        #expect {
            _ = try ImageComparison(image, image, isCancelled: { true })
        } throws: { ($0 as? ImageError) == .cancelled }
    }

    @Test("The difference image contains the absolute differences times the gain")
    func difference() throws {
        let a = try pixels(2, 1) { x, _ in x == 0 ? [10, 20, 30, 255] : [0, 0, 0, 255] }
        let b = try pixels(2, 1) { x, _ in x == 0 ? [13, 20, 20, 255] : [200, 0, 0, 255] }
        let difference = try ImageComparison.difference(a, b, gain: 4)
        #expect(difference.packedBytes() == [12, 0, 40, 255, 255, 0, 0, 255])
    }
}
