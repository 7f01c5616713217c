// SPDX-License-Identifier: MIT

import CLimits
import Foundation
import WebImage

/// Cases that decode large images on two threads. Their goals need two idle processor cores.
extension DecodeSuite {
    /// A function of CLimits that decodes a file.
    private typealias Decode = (
        UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<wi_limit_size>
    ) -> Int32

    static func threads() throws -> [Case] {
        let (width, height) = (2_304, 1_728)
        let output = ScratchMemory(width * height * 4)
        let plain = try Photograph.encoded(width, height, as: .png(effort: 6))
        let strips = try strips(width, height)
        let libpng = { bytes in Self.limit("libpng", bytes, output) { wi_limit_png($0, $1, $2, $3, $4) } }
        let bound = limit("decompression alone", plain, output) { wi_limit_png_inflate($0, $1, $2, $3, $4) }
        let goals = [Goal.ratio(.wall, to: "libpng", atMost: 0.3), .ratio(.wall, to: "one thread", atMost: 0.9)]
        return try [
            Case(
                name: "PNG 4 MP RGB, two threads",
                contenders: [ours(plain, threads: 2), ours(plain, threads: 1), libpng(plain), bound], goals: goals),
            Case(
                name: "PNG 4 MP RGB with iDOT, two threads",
                contenders: [ours(strips, threads: 2), ours(strips, threads: 1), libpng(strips)], goals: goals),
        ] + libraries()
    }

    /// Returns cases for the libraries of the traits, which start threads themselves.
    private static func libraries() throws -> [Case] {
        try [
            ("AVIF 12 MP", ImageFormat.avif, 4_000, 3_000), ("JXL 4 MP", .jxl, 2_304, 1_728),
            ("JXL 12 MP", .jxl, 4_000, 3_000),
        ].filter { ImageCoderRegistry.standard.canEncode($0.1) }.map { label, format, width, height in
            let bytes = try Photograph.encoded(width, height, as: ImageEncoding(format: format))
            return Case(
                name: "\(label), two threads", contenders: [ours(bytes, threads: 2), ours(bytes, threads: 1)],
                goals: [.ratio(.wall, to: "one thread", atMost: 0.6)])
        }
    }

    private static func ours(_ bytes: Data, threads: Int) -> Contender {
        Contender(threads == 1 ? "one thread" : "WebImage") { _ in
            try timed(2) {
                for _ in 0..<2 {
                    consume(
                        try ImageCoderRegistry.standard.decode(
                            bytes, context: ImageProcessingContext(limits: Photograph.roomy, threadCount: threads)))
                }
            }
        }
    }

    private static func limit(
        _ name: String, _ bytes: Data, _ output: ScratchMemory, _ decode: @escaping Decode
    ) -> Contender {
        let input = [UInt8](bytes)
        return Contender(name) { _ in
            try timed(2) {
                for _ in 0..<2 {
                    var size = wi_limit_size()
                    guard decode(input, input.count, output.bytes, output.count, &size) == 0 else {
                        throw Skipped(reason: "\(name) can’t decode the image")
                    }
                }
            }
        }
    }

    /// Returns a PNG with two strips.
    private static func strips(_ width: Int, _ height: Int) throws -> Data {
        var count = 0
        let pixels = try Photograph.make(width, height).pixels.packedBytes()
        guard let made = wi_limit_make_strips(pixels, Int32(width), Int32(height), &count) else {
            throw Skipped(reason: "zlib can’t encode the image")
        }
        defer { free(made) }
        return Data(bytes: made, count: count)
    }
}
