// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("Image metadata")
struct ImageMetadataTests {
    private let size = PixelSize(width: 4, height: 3)

    @Test("New metadata describes an upright sRGB image with 8 bits per sample and without embedded blocks")
    func defaults() {
        let metadata = ImageMetadata(storedSize: size)
        #expect(metadata.storedSize == size && metadata.orientation == .up && metadata.bitDepth == 8)
        #expect(!metadata.hasAlpha && !metadata.isPartial && metadata.color == .sRGB)
        #expect(metadata.iccProfile == nil && metadata.exif == nil && metadata.xmp == nil)
        #expect(metadata.colorPrimaries == nil && metadata.transferCharacteristics == nil)
        #expect(metadata.codePoints == nil)
    }

    @Test("If only one of the code points is set, the other one is unspecified")
    func codePoints() {
        var metadata = ImageMetadata(storedSize: size)
        metadata.colorPrimaries = 9
        #expect(metadata.codePoints == ColorCodePoints(primaries: 9, transfer: 2))
        metadata.colorPrimaries = nil
        metadata.transferCharacteristics = 16
        #expect(metadata.codePoints == ColorCodePoints(primaries: 2, transfer: 16))
        metadata.colorPrimaries = 12
        #expect(metadata.codePoints == ColorCodePoints(primaries: 12, transfer: 16))
    }

    @Test("The code points describe the pixels, and those of the file are retained")
    func converted() {
        let points = ColorCodePoints(primaries: 9, transfer: 16)
        var metadata = ImageMetadata(storedSize: size, codePoints: points, color: .sRGB)
        #expect(metadata.codePoints == .sRGB && metadata.sourceCodePoints == points && !metadata.hasHDRSamples)
        metadata.describePixels(in: .displayP3)
        #expect(metadata.codePoints == .displayP3 && metadata.sourceCodePoints == points)
        metadata.describePixels(in: .source)
        #expect(metadata.codePoints == points && metadata.sourceCodePoints == points && metadata.hasHDRSamples)
        // An application describes its own pixels.
        metadata.colorPrimaries = 12
        #expect(metadata.sourceCodePoints == ColorCodePoints(primaries: 12, transfer: 16))
        metadata.describePixels(in: .sRGB)
        #expect(metadata.sourceCodePoints == points)
    }

    @Test("The code points of a custom coder aren't changed, because only the coder knows the file")
    func custom() {
        var metadata = ImageMetadata(storedSize: size)
        metadata.colorPrimaries = 9
        metadata.transferCharacteristics = 18
        metadata.describePixels(in: .source)
        #expect(metadata.codePoints == ColorCodePoints(primaries: 9, transfer: 18) && metadata.hasHDRSamples)
        var plain = ImageMetadata(storedSize: size)
        plain.describePixels(in: .displayP3)
        #expect(plain.codePoints == nil)
    }

    @Test("The embedded EXIF block and XMP packet of a file are returned unmodified")
    func embedded() {
        let exif = Sample.exif(6, bigEndian: true)
        let packet = ByteBuilder().text("<x:xmpmeta/>")
        let chunks = ByteBuilder().riff("VP8L", ByteBuilder().zeros(8)).riff("EXIF", exif).riff("XMP ", packet)
        let found = ImageMetadata.embedded(in: Sample.webp(chunks).data)
        #expect(found.exif == exif.data)
        #expect(found.xmp == packet.data)
        #expect(found.exif.flatMap { ImageOrientation(exif: $0) } == .right)
    }

    @Test("A file without metadata and data that isn't an image have no embedded blocks")
    func noBlocks() {
        for data in [Data(), Data("no image".utf8), Sample.png(3, 2).data] {
            let found = ImageMetadata.embedded(in: data)
            #expect(found.exif == nil && found.xmp == nil)
        }
    }
}
