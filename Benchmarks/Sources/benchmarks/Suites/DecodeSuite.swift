// SPDX-License-Identifier: MIT

import CLimits
import Foundation
import WebImage

/// A suite that decodes at full size and compares with the C libraries, Pillow, and OpenCV.
enum DecodeSuite: Suite {
    static let name = "decode"
    static let summary =
        "decoding at full size: JPEG, PNG, and WebP, against the C libraries, Pillow, and OpenCV, and on two threads"

    static func cases(_ settings: Settings) throws -> [Case] {
        let peers = PicturePeers([.pillow, .openCV], .decode, of: name, settings)
        return try jpegs(peers) + pngs(peers) + webps(peers) + threads()
    }

    private static func jpegs(_ peers: PicturePeers) throws -> [Case] {
        var cases: [Case] = []
        for (label, width, height, bound) in [
            ("0.1 MP", 360, 270, 1.08), ("1 MP", 1_152, 864, 1.05), ("12 MP", 4_000, 3_000, 1.05),
        ] {
            for isProgressive in [false, true] {
                let bytes = try Photograph.encoded(width, height, as: .jpeg(quality: 85, isProgressive: isProgressive))
                let kind = isProgressive ? "progressive" : "baseline"
                let limit = Limit(name: "libjpeg-turbo", bound: bound) { wi_limit_jpeg($0, $1, 8, $2, $3, $4) }
                cases.append(
                    try item(
                        "JPEG \(label) \(kind)", bytes, width, height, limit, peers, [.pillow: 0.9, .openCV: 0.9]))
            }
        }
        return cases
    }

    private static func pngs(_ peers: PicturePeers) throws -> [Case] {
        var cases: [Case] = []
        func add(_ label: String, _ bytes: Data, _ width: Int, _ height: Int, bound: Double) throws {
            let limit = Limit(name: "libpng", bound: bound) { wi_limit_png($0, $1, $2, $3, $4) }
            cases.append(try item("PNG \(label)", bytes, width, height, limit, peers, [.pillow: 0.45]))
        }
        for (label, width, height, hasAlpha) in [
            ("1 MP RGB", 1_152, 864, false), ("4 MP RGB", 2_304, 1_728, false), ("1 MP RGBA", 1_152, 864, true),
        ] {
            let bytes = try Photograph.encoded(width, height, as: .png(effort: 6), hasAlpha: hasAlpha)
            try add(label, bytes, width, height, bound: 0.5)
        }
        for (label, isGrey) in [("1 MP gray", true), ("1 MP palette", false)] {
            try add(label, try indexed(1_152, 864, isGrey: isGrey), 1_152, 864, bound: 1.05)
        }
        return cases
    }

    private static func webps(_ peers: PicturePeers) throws -> [Case] {
        try [("1 MP", 1_152, 864), ("12 MP", 4_000, 3_000)].map { label, width, height in
            let bytes = try Photograph.encoded(width, height, as: .webp(quality: 80))
            let limit = Limit(name: "libwebp", bound: 1.05) { wi_limit_webp($0, $1, 0, $2, $3, $4) }
            var bounds: [PeerLibrary: Double] = [.openCV: 1.05]
            if label == "12 MP" { bounds[.pillow] = 0.6 }
            return try item("WebP \(label)", bytes, width, height, limit, peers, bounds)
        }
    }

    /// Returns a PNG with one byte per pixel.
    private static func indexed(_ width: Int, _ height: Int, isGrey: Bool) throws -> Data {
        var count = 0
        let pixels = try Photograph.make(width, height).pixels.packedBytes()
        guard let made = wi_limit_make_png(pixels, Int32(width), Int32(height), isGrey ? 1 : 0, &count) else {
            throw Skipped(reason: "libpng can’t encode the image")
        }
        defer { free(made) }
        return Data(bytes: made, count: count)
    }

    /// A C library as a contender.
    private struct Limit {
        let name: String
        /// The goal for the ratio of processor time.
        let bound: Double
        let decode:
            (
                UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<wi_limit_size>
            ) -> Int32
    }

    private static func item(
        _ name: String, _ bytes: Data, _ width: Int, _ height: Int, _ limit: Limit, _ peers: PicturePeers,
        _ peerBounds: [PeerLibrary: Double]
    ) throws -> Case {
        // Repeat the decoding until a round is long enough for the resolution of the clock.
        let count = max(1, 3_000_000 / (width * height))
        let input = [UInt8](bytes)
        let output = ScratchMemory(width * height * 4)
        let ours = Contender("WebImage") { _ in
            try timed(count) {
                for _ in 0..<count {
                    consume(
                        try ImageCoderRegistry.standard.decode(
                            bytes, context: ImageProcessingContext(limits: Photograph.roomy)))
                }
            }
        }
        let theirs = Contender(limit.name) { _ in
            try timed(count) {
                for _ in 0..<count {
                    var size = wi_limit_size()
                    guard limit.decode(input, input.count, output.bytes, output.count, &size) == 0 else {
                        throw Skipped(reason: "\(limit.name) can’t decode the image")
                    }
                }
            }
        }
        let bits = decimal(Double(bytes.count) * 8 / Double(width * height), 1)
        let item = Case(
            name: "\(name), \(bits) bits per pixel", contenders: [ours, theirs],
            goals: [.ratio(.cpu, to: limit.name, atMost: limit.bound)])
        return item.against(try peers.rivals(bytes, count: max(3, count), atMost: peerBounds))
    }
}

/// Memory into which the C libraries decode. It's allocated and touched only once.
final class ScratchMemory {
    let bytes: UnsafeMutablePointer<UInt8>
    let count: Int

    init(_ count: Int) {
        self.count = count
        bytes = .allocate(capacity: count)
        bytes.initialize(repeating: 1, count: count)
    }

    deinit { bytes.deallocate() }
}
