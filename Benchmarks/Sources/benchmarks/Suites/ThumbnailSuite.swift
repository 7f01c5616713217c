// SPDX-License-Identifier: MIT

import CLimits
import Foundation
import WebImage

/// A suite that measures decoding to fit 256 × 256 and the quality of the result.
enum ThumbnailSuite: Suite {
    static let name = "thumbnail"
    static let summary =
        "decoding to fit 256 x 256, against C, Pillow, and libvips: time and PSNR (against full decode and Lanczos-3)"

    private static let side = 256
    private static let smallest = "smallest DCT scale + Lanczos"

    static func cases(_ settings: Settings) throws -> [Case] {
        let large = (4_000, 3_000)
        let middle = (1_152, 864)
        let peers = PicturePeers([.pillow, .libvips], .thumbnail, of: name, settings)
        let baseline = ImageEncoding.jpeg(quality: 85)
        let progressive = ImageEncoding.jpeg(quality: 85, isProgressive: true)
        return [
            try jpeg("JPEG 12 MP", large, baseline, 1.4, peers, [.pillow: 0.9, .libvips: 0.9]),
            try jpeg("JPEG 12 MP with odd dimensions", (3_999, 2_725), baseline, nil, peers, [:]),
            try jpeg("JPEG 12 MP progressive", large, progressive, 1.08, peers, [.libvips: 0.9]),
            try jpeg("JPEG 1 MP", middle, baseline, 1.1, peers, [.pillow: 0.5, .libvips: 0.55]),
            try webp("WebP 12 MP", large, 1.1, 44, peers, [.pillow: 0.6, .libvips: 1.05]),
            try webp("WebP 1 MP", middle, 1.25, 50, peers, [.pillow: 0.55, .libvips: 0.9]),
            try png("PNG 4 MP", (2_304, 1_728), peers, [.pillow: 0.5, .libvips: 0.5]),
            try kernel("pixels of 16 MP to 852, RGB", isOpaque: true),
            try kernel("pixels of 16 MP to 852, RGBA", isOpaque: false),
        ]
    }

    /// Returns a case that reduces pixels in memory in linear light, against averages of stored values.
    ///
    /// fast_image_resize reduces an image of the same size with Lanczos-3 in 13 ms (RGB) and 22 ms (RGBA) on one core of a
    /// desktop computer. It averages stored values.
    private static func kernel(_ name: String, isOpaque: Bool) throws -> Case {
        let size = (4_928, 3_279)
        let opaque = try decode(
            try Photograph.encoded(size.0, size.1, as: .jpeg(quality: 90)), ImageDecodingOptions())
        let context = ImageProcessingContext(limits: Photograph.roomy)
        // The corners are transparent, and their edges are partly transparent.
        let corners = StandardTransformer.roundedCorners(radius: 1_600)
        let image = isOpaque ? opaque : try corners.apply(to: opaque, context: context)
        func contender(_ name: String, _ light: ResamplingFilter.Light) -> Contender {
            let transformer = StandardTransformer.resize(width: 852, filter: .lanczos3(light: light))
            return Contender(name) { _ in
                try timed(4) { for _ in 0..<4 { consume(try transformer.apply(to: image, context: context)) } }
            }
        }
        return Case(
            name: name, contenders: [contender("WebImage", .linear), contender("stored values", .encoded)], goals: [])
    }

    /// Returns a JPEG case. `bound` is the goal for the ratio to the smallest amount of work that produces an image of
    /// that size, or `nil` for no goal.
    private static func jpeg(
        _ name: String, _ size: (Int, Int), _ encoding: ImageEncoding, _ bound: Double?, _ peers: PicturePeers,
        _ peerBounds: [PeerLibrary: Double]
    ) throws -> Case {
        let bytes = try Photograph.encoded(size.0, size.1, as: encoding)
        let twice = "DCT scale of twice the target + Lanczos"
        var goals: [Goal] = [.ratio(.cpu, to: twice, atMost: 1.05), .atLeast(45, .psnr)]
        if let bound { goals.insert(.ratio(.cpu, to: smallest, atMost: bound), at: 0) }
        let limits = [limit(twice, bytes, size, factor: 2), limit(smallest, bytes, size, factor: 1)]
        return try item(name, bytes, size, limits, goals, peers, peerBounds)
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

    /// Returns a WebP case. `bound` is the goal for the ratio to libwebp's scaler, and `quality` is the goal for the
    /// signal-to-noise ratio in decibels.
    private static func webp(
        _ name: String, _ size: (Int, Int), _ bound: Double, _ quality: Double, _ peers: PicturePeers,
        _ peerBounds: [PeerLibrary: Double]
    ) throws -> Case {
        let bytes = try Photograph.encoded(size.0, size.1, as: .webp(quality: 80))
        let input = [UInt8](bytes)
        let output = ScratchMemory(size.0 * size.1 * 4)
        let limit = repeated("libwebp's own scaler", size) {
            var result = wi_limit_size()
            return wi_limit_webp(input, input.count, Int32(side), output.bytes, output.count, &result) == 0
        }
        let goals: [Goal] = [.ratio(.cpu, to: limit.name, atMost: bound), .atLeast(quality, .psnr)]
        return try item(name, bytes, size, [limit], goals, peers, peerBounds)
    }

    private static func png(
        _ name: String, _ size: (Int, Int), _ peers: PicturePeers, _ peerBounds: [PeerLibrary: Double]
    ) throws -> Case {
        let bytes = try Photograph.encoded(size.0, size.1, as: .png(effort: 6))
        let input = [UInt8](bytes)
        let scratch = ScratchMemory(size.0 * size.1 * 4)
        let output = ScratchMemory(side * side * 4)
        let limit = repeated("libpng + Lanczos", size) {
            var full = wi_limit_size()
            guard wi_limit_png(input, input.count, scratch.bytes, scratch.count, &full) == 0 else { return false }
            let target = wi_limit_size(width: Int32(side), height: Int32(side * size.1 / size.0))
            return wi_limit_lanczos(
                scratch.bytes, full, Double(full.width), Double(full.height), output.bytes, target) == 0
        }
        let goals: [Goal] = [.ratio(.cpu, to: limit.name, atMost: 0.5), .atLeast(45, .psnr)]
        return try item(name, bytes, size, [limit], goals, peers, peerBounds)
    }

    /// Returns a case in which the library, the C programs, and the peers decode `bytes`.
    private static func item(
        _ name: String, _ bytes: Data, _ size: (Int, Int), _ limits: [Contender], _ goals: [Goal],
        _ peers: PicturePeers, _ peerBounds: [PeerLibrary: Double]
    ) throws -> Case {
        let options = ImageDecodingOptions(size: .fit(width: Double(side), height: Double(side)))
        let small = try decode(bytes, options)
        let reference = try Reference(bytes, fitting: small.size)
        let quality = reference.quality(small.pixels.packedBytes(), channels: 4)
        let count = repetitions(size)
        let ours = Contender("WebImage") { _ in
            var sample = try timed(count) {
                for _ in 0..<count { consume(try decode(bytes, options)) }
            }
            sample[.psnr] = quality
            return sample
        }
        let rivals = try peers.rivals(bytes, count: max(3, count), atMost: peerBounds) {
            reference.quality($0, channels: 3)
        }
        return Case(name: name, contenders: [ours] + limits, goals: goals).against(rivals)
    }

    private static func repeated(_ name: String, _ size: (Int, Int), _ work: @escaping () -> Bool) -> Contender {
        let count = repetitions(size)
        return Contender(name) { _ in
            try timed(count) {
                for _ in 0..<count where !work() { throw Skipped(reason: "\(name) can’t decode the image") }
            }
        }
    }

    private static func repetitions(_ size: (Int, Int)) -> Int { max(1, 4_000_000 / (size.0 * size.1)) }

    private static func decode(_ bytes: Data, _ options: ImageDecodingOptions) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(
            bytes, options: options, context: ImageProcessingContext(limits: Photograph.roomy))
    }
}
