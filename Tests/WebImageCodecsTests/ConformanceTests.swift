// SPDX-License-Identifier: MIT

import CHash
import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Public test files", .enabled(if: Conformance.directory != nil, "the conformance files aren't available"))
struct ConformanceTests {
    /// The files that WebImage deliberately decodes differently than other decoders, each with the reason.
    static let known: [String: String] = [
        "pygif-test-suite/image-zero-size.gif":
            "The file ends inside its only frame, so the decoder reports truncated data.",
        "pygif-test-suite/image-zero-height.gif":
            "The file ends inside its only frame, so the decoder reports truncated data.",
        "pillow/ultrahdr.jpg": "The file has a header and no pixels.",
        "apng-suite/spec-058.png": "Half of the rows of the still image are missing.",
        "libavif/circle-trns-before-plte.png": "libpng ignores transparency that precedes the palette.",
        "bmpsuite/q/rgb24jpeg.bmp": "The bitmap wraps a JPEG file, as in data for printers.",
        "bmpsuite/q/rgb24png.bmp": "The bitmap wraps a PNG file, as in data for printers.",
    ]

    private func decode(_ file: String, _ format: ImageFormat, _ probe: ImageInfo?, partial: Bool = false)
        throws -> DecodedImage
    {
        try coder(for: format).decode(
            Conformance.data(file), info: probe, options: ImageDecodingOptions(allowsPartialData: partial),
            context: ImageProcessingContext())
    }

    /// Decodes the image that viewers without support for animations show.
    private func decodeStill(_ file: String, _ probe: ImageInfo?) throws -> DecodedImage {
        try PNGCoder().decode(
            PNGParts(Conformance.data(file)).without("acTL").file, info: probe, options: ImageDecodingOptions(),
            context: ImageProcessingContext())
    }

    @Test("Well-formed files match the values of the manifest", arguments: Conformance.formats)
    func facts(_ format: ImageFormat) throws {
        var compared = 0
        var skipped = 0
        for row in try Conformance.rows([format]) where Self.known[row.file] == nil {
            let probe = row.rawSize.map { ImageInfo(format: format, storedSize: $0, orientation: row.orientation) }
            guard let image = try? decode(row.file, format, probe) else {
                let failure = #expect(throws: ImageError.self) { try decode(row.file, format, probe) }
                Issue.record("\(row.file): \(failure.map { "\($0)" } ?? "")")
                continue
            }
            if let size = row.size { #expect(image.size == size, "\(row.file)") }
            if [.gif, .webp, .apng].contains(format) {
                if let frames = row.frames { #expect(image.frameCount == frames, "\(row.file)") }
                if let loop = row.loop, let animation = image.animation {
                    #expect(animation.timeline.loopCount == loop, "\(row.file)")
                }
            }
            guard let digest = row.digest else { continue }
            // The digest of the collection covers the still image, which isn't necessarily part of the animation.
            let still = format == .apng ? try decodeStill(row.file, probe) : image
            guard let bytes = Conformance.comparableBytes(still.pixels) else {
                skipped += 1
                continue
            }
            compared += 1
            #expect(hexDigest(bytes) == digest, "\(row.file)")
        }
        print("\(format): \(compared) digests compared, \(skipped) with half transparent pixels left out")
    }

    @Test("Animation frames are the same in any order")
    func randomAccess() throws {
        var generator = SeededGenerator(9)
        for row in try Conformance.rows([.gif, .webp, .apng]) where Self.known[row.file] == nil {
            guard let animation = try decode(row.file, row.format, nil).animation else { continue }
            let count = min(animation.timeline.frameCount, 24)
            var digests: [Int: String] = [:]
            for place in 0..<count { digests[place] = hexDigest(try animation.frame(at: place).packedBytes()) }
            for place in (0..<count).shuffled(using: &generator).prefix(10) {
                #expect(
                    hexDigest(try animation.frame(at: place).packedBytes()) == digests[place], "\(row.file) \(place)")
            }
        }
    }

    @Test("Malformed files result in an image or a typed error")
    func malformed() throws {
        for (file, format) in try Conformance.malformed() {
            for partial in [false, true] {
                do {
                    let image = try decode(file, format, nil, partial: partial)
                    for place in 0..<min(4, image.frameCount) { _ = try image.animation?.frame(at: place) }
                } catch {
                    #expect(error is ImageError, "\(file)")
                }
            }
        }
    }

    private func hexDigest(_ bytes: [UInt8]) -> String {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        _ = SHA256(bytes, bytes.count, &digest)
        return digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
