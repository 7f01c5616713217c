// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

@Suite("Decoding on several threads", .serialized)
struct DecodingThreadTests {
    /// The formats whose libraries use threads. Each file has several parts: tiles in AVIF files, because no tile is
    /// wider than 4,096 pixels, and groups of 256 × 256 pixels in JPEG XL files.
    private static let formats = [ImageFormat.avif, .jxl, .heif, .png].filter(ImageCoderRegistry.standard.canEncode)

    private func decode(_ data: Data, threads: Int, _ limits: ImageLimits = .desktop) throws -> PixelBuffer {
        let context = ImageProcessingContext(limits: limits, threadCount: threads)
        return try ImageCoderRegistry.standard.decode(data, context: context).pixels
    }

    /// The files by the names of their formats and by alpha.
    private static let files = SharedValues<String, Data>()

    private func file(_ format: ImageFormat, hasAlpha: Bool = false) throws -> Data {
        try Self.files.value(for: "\(format) \(hasAlpha)") {
            let pixels = try PixelPatterns.photo(width: 4_224, height: 136, hasAlpha: hasAlpha)
            return try ImageCoderRegistry.standard.encode(
                DecodedImage(pixels: pixels), as: ImageEncoding(format: format, quality: 80, effort: 0),
                context: ImageProcessingContext(limits: .unlimited))
        }
    }

    @Test("The number of threads doesn't change the pixels", arguments: formats, [false, true])
    func samePixels(_ format: ImageFormat, hasAlpha: Bool) throws {
        let data = try file(format, hasAlpha: hasAlpha)
        let expected = try decode(data, threads: 1)
        for threads in [2, 3, 8] {
            let isSame = try decode(data, threads: threads).hasSamePixels(as: expected)
            #expect(isSame, "\(threads) threads")
        }
    }

    @Test(
        "The tiles of a HEIF grid are the same on any number of threads",
        .enabled(if: ImageCoderRegistry.standard.canEncode(.heif), "requires the trait HEIF and an encoder"))
    func heifGrid() throws {
        let tile = try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: PixelPatterns.photo(width: 128, height: 64)), as: ImageEncoding(format: .heif))
        let grid = try #require(HEIFGrid(tile: tile, width: 128, height: 64)).bytes
        let expected = try decode(grid, threads: 1)
        #expect(expected.size == PixelSize(width: 256, height: 128))
        for threads in [2, 4, 8] {
            let isSame = try decode(grid, threads: threads).hasSamePixels(as: expected)
            #expect(isSame, "\(threads) threads")
        }
    }

    private enum Outcome: Equatable {
        case pixels(Data)
        case failure(String)
    }

    private func outcome(of data: Data, threads: Int) -> Outcome {
        do {
            return .pixels(Data(try decode(data, threads: threads).packedBytes()))
        } catch {
            return .failure("\(error)")
        }
    }

    @Test("Truncated and corrupt data fails in the same way with any number of threads", arguments: formats)
    func failures(_ format: ImageFormat) throws {
        let data = try file(format)
        var changed = data
        for at in stride(from: data.count / 2, to: data.count, by: 61) { changed[at] ^= 0x55 }
        for damaged in [data.prefix(data.count * 2 / 3), changed] {
            let isSame = outcome(of: Data(damaged), threads: 1) == outcome(of: Data(damaged), threads: 2)
            #expect(isSame)
        }
    }

    @Test("The threads of a decoder end with the decode, also after a failure", arguments: formats)
    func noLeaks(_ format: ImageFormat) async throws {
        let data = try file(format)
        _ = try decode(data, threads: 4)
        let before = Self.threadCount
        for _ in 0..<32 {
            _ = try decode(data, threads: 4)
            _ = try? decode(Data(data.prefix(data.count / 2)), threads: 4)
        }
        // Other tests start a few threads at the same time. The decodes would have left at least 96.
        #expect(Self.threadCount < before + 64)
    }

    @Test("The processor time of the threads counts toward the timeout", arguments: [ImageFormat.avif, .jxl])
    func timeout(_ format: ImageFormat) throws {
        guard Self.formats.contains(format) else { return }
        let data = try file(format)
        var limits = ImageLimits.desktop
        limits.maxDecodingTime = .microseconds(1)
        #expect(throws: ImageError.self) { try decode(data, threads: 2, limits) }
    }

    /// The number of threads of this process.
    private static var threadCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
    }
}
