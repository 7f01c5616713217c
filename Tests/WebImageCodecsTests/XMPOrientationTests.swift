// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

/// Browsers apply the orientation of EXIF only. In Chromium 156, an orientation in XMP changes no format. In AVIF, HEIF, and
/// JPEG XL files, neither EXIF nor XMP contains the orientation, because these formats have their own one.
@Suite("Orientation in XMP")
struct XMPOrientationTests {
    /// The formats whose files can contain EXIF and XMP.
    private static let formats = [ImageFormat.jpeg, .png, .webp, .avif, .heif, .jxl]
        .filter(ImageCoderRegistry.standard.canEncode)

    private static let packet = Data(
        """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
        <rdf:Description rdf:about="" xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6"/></rdf:RDF>\
        </x:xmpmeta>
        """.utf8)

    /// Returns a file of 6 × 4 pixels with an XMP packet.
    private func file(_ format: ImageFormat, exif: [UInt8]? = nil) throws -> Data {
        let pixels = try PixelBuffer.filled(
            with: PixelColor(red: 255, green: 0, blue: 0), size: PixelSize(width: 6, height: 4))
        var metadata = ImageMetadata(storedSize: pixels.size)
        metadata.xmp = Self.packet
        metadata.exif = exif.map { Data($0) }
        var encoding = ImageEncoding(format: format)
        encoding.metadata = .keep
        return try DecodedImage(pixels: pixels, metadata: metadata).encoded(as: encoding)
    }

    /// Returns the file with an orientation in its EXIF data and another one in its XMP packet. Encoders write the
    /// orientation 1 into both.
    private func disagreeingFile(_ format: ImageFormat, exif orientation: UInt8) throws -> Data {
        var data = try file(format, exif: SampleMetadata.exif)
        let entry = try #require(data.range(of: Data([0x12, 0x01, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0])))
        data[entry.lowerBound + 8] = orientation
        let packet = try #require(data.range(of: Data("tiff:Orientation=\"1\"".utf8)))
        data[packet.upperBound - 2] = UInt8(ascii: "6")
        return data
    }

    @Test("An orientation in XMP is ignored, as in browsers", arguments: formats)
    func isIgnored(_ format: ImageFormat) throws {
        var data = try file(format)
        let packet = try #require(data.range(of: Data("tiff:Orientation=\"1\"".utf8)))
        data[packet.upperBound - 2] = UInt8(ascii: "6")
        #expect(ImageMetadata.embedded(in: data).xmp != nil)
        #expect(try ImageInfo(data: data).orientation == .up)
        #expect(try ImageCoderRegistry.standard.decode(data).size == PixelSize(width: 6, height: 4))
    }

    @Test("If EXIF and XMP disagree, EXIF applies, except for formats with their own orientation", arguments: formats)
    func disagreement(_ format: ImageFormat) throws {
        let data = try disagreeingFile(format, exif: 8)
        let hasOwnOrientation = [.avif, .heif, .jxl].contains(format)
        #expect(try ImageInfo(data: data).orientation == (hasOwnOrientation ? .up : .left))
        let size = PixelSize(width: 6, height: 4)
        #expect(try ImageCoderRegistry.standard.decode(data).size == (hasOwnOrientation ? size : size.transposed))
    }
}
