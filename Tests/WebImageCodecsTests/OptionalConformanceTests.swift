// SPDX-License-Identifier: MIT

import CHash
import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite(
    "Public test files of optional formats and icons",
    .enabled(if: Conformance.directory != nil, "the conformance files aren't available"))
struct OptionalConformanceTests {
    /// The files that WebImage deliberately decodes differently than other decoders, each with the reason.
    static let known: [String: String] = [
        "image-tiff/images/big_g4.tif": "It has 65,537 rows, which exceeds the default limit of a side.",
        "image-tiff/images/minisblack-1c-5b.tiff": "WebImage rounds 5-bit samples, and the digest truncates them.",
        "image-tiff/seq/seq-1c-5b-73098d17.tiff": "WebImage rounds 5-bit samples, and the digest truncates them.",
        "image-tiff/libtiffpic/depth/flower-minisblack-06.tif":
            "WebImage rounds 6-bit samples, and the digest truncates them.",
        "image-tiff/images/miniswhite-1c-3b.tiff": "0 is white, and the digest treats it as black.",
        "image-tiff/seq/seq-1c-5b-miniswhite-73098d17.tiff": "0 is white, and the digest treats it as black.",
        "image-tiff/seq/seq-1c-6b-miniswhite-79cafbb6.tiff": "0 is white, and the digest treats it as black.",
        "image-tiff/seq/seq-1c-7b-miniswhite-9c61ba70.tiff": "0 is white, and the digest treats it as black.",
        "resvg/masking/clipPath/invalid-transform-on-clipPath.svg": "librsvg 2.54 rejects the transform.",
        "resvg/structure/svg/zero-size.svg": "A side of zero pixels shows nothing, so the file isn't an image.",
    ]

    private func decode(_ file: String, limits: ImageLimits = .desktop, partial: Bool = false) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(
            Conformance.data(file), options: ImageDecodingOptions(allowsPartialData: partial),
            context: ImageProcessingContext(limits: limits))
    }

    @Test("Well-formed files match the values of the manifest", arguments: Conformance.optionalFormats)
    func facts(_ format: ImageFormat) throws {
        var rows = 0
        var compared = 0
        var skipped = 0
        for row in try Conformance.rows([format]) where Self.known[row.file] == nil {
            rows += 1
            let image: DecodedImage
            do { image = try decode(row.file) } catch {
                Issue.record("\(row.file): \(error)")
                continue
            }
            if let size = row.size, image.size != size { Issue.record("\(row.file): \(image.size) instead of \(size)") }
            if format == .avif || format == .jxl, let frames = row.frames, image.frameCount != frames {
                Issue.record("\(row.file): \(image.frameCount) frames instead of \(frames)")
            }
            guard let digest = row.digest else { continue }
            guard let bytes = Conformance.comparableBytes(image.pixels) else {
                skipped += 1
                continue
            }
            compared += 1
            if hexDigest(bytes) != digest { Issue.record("\(row.file): unexpected pixels") }
        }
        print(
            "\(format): \(rows) files, \(compared) digests compared, \(skipped) with half transparent pixels left out")
    }

    @Test("Malformed files result in an image or a typed error")
    func malformed() throws {
        for (file, _) in try Conformance.malformed(Set(Conformance.optionalFormats)) {
            for partial in [false, true] {
                do {
                    let image = try decode(file, partial: partial)
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
