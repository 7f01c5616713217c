// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

@Suite("Chroma subsampling and quality of files")
struct ImageFileDetailsTests {
    private func details(_ file: String) throws -> ImageFileDetails {
        ImageFileDetails(data: try Data(contentsOf: Fixtures.directory.appending(path: file)))
    }

    // ImageMagick stores CMYK as YCCK.
    @Test(
        "JPEG files have the options of their encoder, cjpeg or ImageMagick",
        arguments: [
            ("444", "4:4:4", 90), ("422", "4:2:2", 90), ("420", "4:2:0", 90), ("440", "4:4:0", 90),
            ("411", "4:1:1", 90),
            ("420-progressive", "4:2:0", 90), ("420-arithmetic", "4:2:0", 90), ("gray", nil, 90), ("rgb", nil, 90),
            ("cmyk", "4:4:4", 92), ("odd-3x15", "4:2:0", 85), ("orientation-6", "4:4:4", 95),
        ] as [(String, String?, Int)])
    func options(_ name: String, _ chroma: String?, _ quality: Int) throws {
        let details = try details("codecs/\(name).jpg")
        #expect(details.chromaSubsampling?.description == chroma)
        #expect(details.estimatedQuality == quality)
    }

    @Test("The estimate is exact for every quality of libjpeg, in color and in gray")
    func qualities() throws {
        for quality in 1...100 {
            for isGray in [false, true] {
                let color = PixelColor(red: 120, green: isGray ? 120 : 60, blue: 120)
                let pixels = try PixelBuffer.filled(with: color, size: PixelSize(width: 8, height: 8))
                let data = try DecodedImage(pixels: pixels).encoded(as: .jpeg(quality: quality))
                #expect(ImageFileDetails(data: data).estimatedQuality == quality)
            }
        }
    }

    @Test("Tables of other encoders have the quality of the most similar table")
    func otherTables() throws {
        // ffmpeg uses the tables of MPEG, whose steps are almost minimal with -q:v 2.
        let quality = try #require(try details("codecs/420-ffmpeg.jpg").estimatedQuality)
        #expect((90...99).contains(quality), "\(quality)")
        #expect(try details("codecs/420-ffmpeg.jpg").chromaSubsampling?.description == "4:2:0")
    }

    @Test(
        "AVIF, HEIF, and WebP files have the chroma of their encoder and no quality",
        arguments: [
            ("formats/400.avif", nil), ("formats/420.avif", "4:2:0"), ("formats/422.avif", "4:2:2"),
            ("formats/444.avif", "4:4:4"), ("formats/444-10.avif", "4:4:4"), ("formats/alpha-420.avif", "4:2:0"),
            ("formats/grid.avif", "4:4:4"), ("formats/420.heic", "4:2:0"), ("formats/444.heic", "4:4:4"),
            ("codecs/lossy-80.webp", "4:2:0"), ("codecs/lossy-alpha.webp", "4:2:0"), ("codecs/lossless.webp", nil),
            ("codecs/animated.webp", nil), ("codecs/rgb8.png", nil),
        ] as [(String, String?)])
    func chroma(_ file: String, _ chroma: String?) throws {
        let details = try details(file)
        #expect(details.chromaSubsampling?.description == chroma)
        #expect(details.estimatedQuality == nil)
    }
}
