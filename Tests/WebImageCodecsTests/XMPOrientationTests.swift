// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

/// Browsers apply the orientation of EXIF only. In Chromium 156, an orientation in XMP changes no format.
@Suite("Orientation in XMP")
struct XMPOrientationTests {
    private static let packet = Data(
        """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
        <rdf:Description rdf:about="" xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6"/></rdf:RDF>\
        </x:xmpmeta>
        """.utf8)

    /// Returns a file of 6 × 4 pixels with an XMP packet.
    private func file(_ format: ImageFormat) throws -> Data {
        let pixels = try PixelBuffer.filled(
            with: PixelColor(red: 255, green: 0, blue: 0), size: PixelSize(width: 6, height: 4))
        var metadata = ImageMetadata(storedSize: pixels.size)
        metadata.xmp = Self.packet
        var encoding = ImageEncoding(format: format)
        encoding.metadata = .keep
        return try DecodedImage(pixels: pixels, metadata: metadata).encoded(as: encoding)
    }

    @Test("An orientation in XMP is ignored, as in browsers", arguments: [ImageFormat.jpeg, .png, .webp])
    func isIgnored(_ format: ImageFormat) throws {
        let data = try file(format)
        #expect(ImageMetadata.embedded(in: data).xmp != nil)
        #expect(try ImageInfo(data: data).orientation == .up)
        #expect(try ImageCoderRegistry.standard.decode(data).size == PixelSize(width: 6, height: 4))
    }
}
