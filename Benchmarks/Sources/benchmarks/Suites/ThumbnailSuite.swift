// SPDX-License-Identifier: MIT

import CLimits
import Foundation
import WebImage

/// Decoding to fit 256 × 256, with the quality that comes out.
enum ThumbnailSuite: Suite {
    static let name = "thumbnail"
    static let summary = "decoding to fit 256 x 256: time and quality (PSNR against full decode and Lanczos-3)"

    private static let side = 256

    static func cases(_ settings: Settings) throws -> [Case] {
        let large = (4_000, 3_000)
        let middle = (1_152, 864)
        return [
            try jpeg(
                "JPEG 12 MP", large, .jpeg(quality: 85), [.ratio(.cpu, to: "smallest DCT scale + Lanczos", atMost: 1.4)]
            ),
            try jpeg("JPEG 12 MP of odd sides", (3_999, 2_725), .jpeg(quality: 85), []),
            try jpeg(
                "JPEG 12 MP progressive", large, .jpeg(quality: 85, progressive: true),
                [.ratio(.cpu, to: "smallest DCT scale + Lanczos", atMost: 1.08)]),
            try jpeg(
                "JPEG 1 MP", middle, .jpeg(quality: 85), [.ratio(.cpu, to: "smallest DCT scale + Lanczos", atMost: 1.6)]
            ),
            try webp("WebP 12 MP", large, atMost: 1.1), try webp("WebP 1 MP", middle, atMost: 1.25),
            try png("PNG 4 MP", (2_304, 1_728)),
        ]
    }

    private static func jpeg(
        _ name: String, _ size: (Int, Int), _ encoding: ImageEncoding, _ goals: [Goal]
    ) throws -> Case {
        let bytes = try Photograph.encoded(size.0, size.1, as: encoding)
        let twice = "DCT scale of twice the target + Lanczos"
        return Case(
            name: name,
            contenders: [
                try ours(bytes, size), limit(twice, bytes, size, factor: 2),
                limit("smallest DCT scale + Lanczos", bytes, size, factor: 1),
            ], goals: goals + [.ratio(.cpu, to: twice, atMost: 1.05), .atLeast(45, .psnr)])
    }

    private static func limit(_ name: String, _ bytes: Data, _ size: (Int, Int), factor: Int32) -> Contender {
        let input = [UInt8](bytes)
        let scratch = ScratchMemory(size.0 * size.1 * 4)
        let output = ScratchMemory(side * side * 4)
        return repeated(name, size) {
            var result = wi_limit_size()
            return wi_limit_jpeg_thumbnail(
                input, input.count, Int32(side), factor, scratch.bytes, scratch.count, output.bytes, &result) == 0
        }
    }

    private static func webp(_ name: String, _ size: (Int, Int), atMost bound: Double) throws -> Case {
        let bytes = try Photograph.encoded(size.0, size.1, as: .webp(quality: 80))
        let input = [UInt8](bytes)
        let output = ScratchMemory(size.0 * size.1 * 4)
        let rival = repeated("libwebp's own scaler", size) {
            var result = wi_limit_size()
            return wi_limit_webp(input, input.count, Int32(side), output.bytes, output.count, &result) == 0
        }
        return Case(
            name: name, contenders: [try ours(bytes, size), rival],
            goals: [.ratio(.cpu, to: "libwebp's own scaler", atMost: bound), .atLeast(44, .psnr)])
    }

    private static func png(_ name: String, _ size: (Int, Int)) throws -> Case {
        let bytes = try Photograph.encoded(size.0, size.1, as: .png(effort: 6))
        let input = [UInt8](bytes)
        let scratch = ScratchMemory(size.0 * size.1 * 4)
        let output = ScratchMemory(side * side * 4)
        let rival = repeated("libpng + Lanczos", size) {
            var full = wi_limit_size()
            guard wi_limit_png(input, input.count, scratch.bytes, scratch.count, &full) == 0 else { return false }
            let target = wi_limit_size(width: Int32(side), height: Int32(side * size.1 / size.0))
            return wi_limit_lanczos(
                scratch.bytes, full, Double(full.width), Double(full.height), output.bytes, target) == 0
        }
        return Case(
            name: name, contenders: [try ours(bytes, size), rival],
            goals: [.ratio(.cpu, to: "libpng + Lanczos", atMost: 0.5), .atLeast(45, .psnr)])
    }

    private static func repeated(_ name: String, _ size: (Int, Int), _ work: @escaping () -> Bool) -> Contender {
        let count = repetitions(size)
        return Contender(name) { _ in
            try timed(count) {
                for _ in 0..<count where !work() { throw Skipped(reason: "\(name) refused the picture") }
            }
        }
    }

    private static func repetitions(_ size: (Int, Int)) -> Int { max(1, 4_000_000 / (size.0 * size.1)) }

    private static func ours(_ bytes: Data, _ size: (Int, Int)) throws -> Contender {
        let options = DecodeOptions(size: .fit(width: Double(side), height: Double(side)))
        let quality = try quality(bytes, options)
        let count = repetitions(size)
        return Contender("WebImage") { _ in
            var sample = try timed(count) {
                for _ in 0..<count { consume(try decode(bytes, options)) }
            }
            sample[.psnr] = quality
            return sample
        }
    }

    private static func decode(_ bytes: Data, _ options: DecodeOptions) throws -> Image {
        try CoderRegistry.standard.decode(bytes, options: options, context: CodingContext(limits: Photograph.roomy))
    }

    /// Decibels between the thumbnail and the whole picture reduced by the limit's Lanczos-3.
    private static func quality(_ bytes: Data, _ options: DecodeOptions) throws -> Double {
        let full = try decode(bytes, DecodeOptions())
        let small = try decode(bytes, options)
        let reference = ScratchMemory(small.size.width * small.size.height * 4)
        let code = wi_limit_lanczos(
            full.pixels.packedBytes(), wi_limit_size(width: Int32(full.size.width), height: Int32(full.size.height)),
            Double(full.size.width), Double(full.size.height), reference.bytes,
            wi_limit_size(width: Int32(small.size.width), height: Int32(small.size.height)))
        guard code == 0 else { throw Skipped(reason: "no memory for the reference") }
        var squares = 0.0
        let pixels = small.pixels.packedBytes()
        for index in pixels.indices where index % 4 != 3 {
            let difference = Double(pixels[index]) - Double(reference.bytes[index])
            squares += difference * difference
        }
        let mean = squares / Double(pixels.count / 4 * 3)
        return mean > 0 ? 10 * log10(255 * 255 / mean) : 99
    }
}
