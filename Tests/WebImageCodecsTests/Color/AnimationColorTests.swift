// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("Colors of animated PNG files")
struct AnimationColorTests {
    /// Returns an animation that shows the still image twice.
    private func animated(_ still: Data, size: PixelSize) throws -> Data {
        var parts = PNGParts(still)
        let first = try #require(parts.offsets(of: "IDAT").first)
        let pixels = parts.offsets(of: "IDAT").flatMap { parts.chunks[$0].body }
        func control(_ sequence: UInt32) -> PNGParts.Chunk {
            let numbers = [sequence, UInt32(size.width), UInt32(size.height), 0, 0].flatMap(PNGParts.big)
            return PNGParts.Chunk(name: "fcTL", body: numbers + [0, 1, 0, 10, 0, 0])
        }
        parts.chunks.removeAll { $0.name == "IDAT" || $0.name == "IEND" }
        parts.chunks.insert(
            contentsOf: [
                PNGParts.Chunk(name: "acTL", body: PNGParts.big(2) + PNGParts.big(0)), control(0),
                PNGParts.Chunk(name: "IDAT", body: pixels), control(1),
                PNGParts.Chunk(name: "fdAT", body: PNGParts.big(2) + pixels), PNGParts.Chunk(name: "IEND", body: []),
            ], at: first)
        return parts.file
    }

    @Test("Frames are converted like the still image", arguments: ColorFixture.all.filter { $0.format == .png })
    func isConverted(_ fixture: ColorFixture) throws {
        let still = try fixture.decode()
        let image = try ImageCoderRegistry.standard.decode(
            animated(fixture.data(), size: still.size), context: ImageProcessingContext())
        let animation = try #require(image.animation)
        #expect(image.format == .apng && image.frameCount == 2)
        #expect(image.metadata.iccProfile == still.metadata.iccProfile)
        #expect(image.metadata.codePoints == still.metadata.codePoints)
        for place in 0..<2 {
            #expect(try animation.frame(at: place).packedBytes() == still.pixels.packedBytes())
        }
        #expect(image.pixels.packedBytes() == still.pixels.packedBytes())
    }

    @Test("Frames keep their colors if the options request the source colors")
    func isKept() throws {
        let fixture = try ColorFixture.named("p3-8.png")
        let still = try fixture.decode(ImageDecodingOptions(color: .source))
        let image = try ImageCoderRegistry.standard.decode(
            animated(fixture.data(), size: still.size), options: ImageDecodingOptions(color: .source),
            context: ImageProcessingContext())
        #expect(try image.animation?.frame(at: 1).packedBytes() == still.pixels.packedBytes())
    }
}
