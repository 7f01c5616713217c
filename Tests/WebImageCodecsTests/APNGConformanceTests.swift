// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite(
    "Public animated PNG files",
    .enabled(if: Conformance.directory != nil, "the conformance files aren't available"))
struct APNGConformanceTests {
    private func decode(_ file: String) throws -> DecodedImage {
        try PNGCoder().decode(
            Conformance.data(file), info: nil, options: ImageDecodingOptions(), context: ImageProcessingContext())
    }

    private func lastFrame(_ file: String) throws -> PixelBuffer {
        let image = try decode(file)
        return try image.animation?.frame(at: image.frameCount - 1) ?? image.pixels
    }

    /// Returns the premultiplied color of an image that has only one color, or `nil`.
    private func onlyColor(_ pixels: PixelBuffer) -> [UInt8]? {
        let bytes = pixels.packedBytes()
        let first = Array(bytes.prefix(4))
        return stride(from: 0, to: bytes.count, by: 4).allSatisfy { Array(bytes[$0..<$0 + 4]) == first } ? first : nil
    }

    @Test("The files of the APNG suite end with the image that the suite documents")
    func suite() throws {
        let table = String(decoding: try Conformance.data("apng-suite/expected.csv"), as: UTF8.self)
        var compared = 0
        for line in table.split(whereSeparator: \.isNewline).dropFirst() {
            let file = "apng-suite/" + line.prefix { $0 != "," }
            let wanted: [UInt8]
            if line.contains("solid green") {
                wanted = [0, 255, 0, 255]
            } else if line.hasSuffix("be transparent.") {
                wanted = [0, 0, 0, 0]
            } else {
                continue
            }
            compared += 1
            guard let frame = try? lastFrame(file) else {
                #expect(line.contains("or an error"), "\(file)")
                continue
            }
            #expect(onlyColor(frame) == wanted, "\(file)")
        }
        #expect(compared == 20)
    }

    @Test(
        "Frames match independent references",
        arguments: [
            ("apng-suite/blend_op_source_transparent.png", "wpt/fcTL-blend-source-transparent.png"),
            ("image-png/animated/basic_f20.png", "ball.png"),
            (
                "image-rs-image/images/png/apng/wpt/dispose-background-blend-source.png",
                "wpt/dispose-background-blend-source.png"
            ),
        ])
    func references(_ file: String, _ reference: String) throws {
        let image = try decode(file)
        let animation = try #require(image.animation)
        for place in 0..<image.frameCount {
            let number = place + 1 < 10 ? "0\(place + 1)" : "\(place + 1)"
            let expected = try decode("image-rs-image/reference/png/apng/\(reference).anim_\(number).png")
            let distance = difference(try animation.frame(at: place).packedBytes(), expected.pixels.packedBytes())
            #expect(distance <= 0.05, "frame \(place)")
        }
    }
}
