// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

@Suite("The number of images in files with a grid of tiles")
struct HEIFGridTests {
    private func size(of data: Data, index: Int) throws -> PixelSize {
        try ImageCoderRegistry.standard.decode(data, options: ImageDecodingOptions(frames: .index(index))).size
    }

    #if HEIF
        @Test(
            "A HEIF grid is one image, also if its tiles aren't hidden",
            .enabled(if: ImageCoderRegistry.standard.canEncode(.heif), "libheif has no HEVC encoder"),
            arguments: [true, false])
        func heif(hidesTiles: Bool) throws {
            let tile = try PixelPatterns.encode(
                PixelPatterns.photo(width: 128, height: 64), as: ImageEncoding(format: .heif))
            var grid = try #require(HEIFGrid(tile: tile, width: 128, height: 64))
            grid.hidesTiles = hidesTiles
            #expect(try ImageInfo(data: grid.bytes).frameCount == 1)
            #expect(throws: ImageError.request(.frameNotFound(index: 1, frameCount: 1))) {
                try size(of: grid.bytes, index: 1)
            }
            grid.hasAnotherImage = true
            #expect(try ImageInfo(data: grid.bytes).frameCount == 2)
            #expect(try size(of: grid.bytes, index: 0) == PixelSize(width: 256, height: 128))
            #expect(try size(of: grid.bytes, index: 1) == PixelSize(width: 128, height: 64))
            #expect(throws: ImageError.request(.frameNotFound(index: 2, frameCount: 2))) {
                try size(of: grid.bytes, index: 2)
            }
        }
    #endif

    #if AVIF
        @Test("An AVIF grid is one image, also if its tiles aren't hidden")
        func avif() throws {
            let original = try Fixture.named("grid.avif").data()
            var data = original
            var start = data.startIndex
            var entries = 0
            while let name = data[start...].range(of: Data("infe".utf8)) {
                // The flags follow the name and the version. The lowest bit means that the item is hidden.
                data[name.upperBound + 3] &= 0xFE
                start = name.upperBound
                entries += 1
            }
            #expect(entries > 2)
            for file in [original, data] {
                let info = try ImageInfo(data: file)
                #expect(info.frameCount == 1 && info.frameCountIsExact)
                #expect(try ImageCoderRegistry.standard.decode(file).frameCount == 1)
                #expect(throws: ImageError.request(.frameNotFound(index: 1, frameCount: 1))) {
                    try size(of: file, index: 1)
                }
            }
            let pixels = try ImageCoderRegistry.standard.decode(data).pixels
            #expect(try ImageCoderRegistry.standard.decode(original).pixels.hasSamePixels(as: pixels))
        }
    #endif
}
