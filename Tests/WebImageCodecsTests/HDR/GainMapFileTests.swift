// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

@Suite("Positions and color spaces of gain maps in files")
struct GainMapFileTests {
    /// An image whose gains differ between the channels and apply to the primaries of a code point, or to those of the base
    /// image.
    private static func sample(_ primaries: Int?) throws -> DecodedImage {
        let image = try GainMapTests.sample()
        var map = try #require(image.gainMap)
        var metadata = map.metadata
        metadata.gainMax = SIMD3(3, 2, 1)
        metadata.usesBaseColorSpace = primaries == nil
        metadata.alternatePrimaries = primaries
        map = GainMap(pixels: map.pixels, metadata: metadata)
        return image.with(gainMap: map)
    }

    private static let encoding = ImageEncoding(format: .jpeg, quality: 100).with(\.chromaSubsampling, .yuv444)

    @Test("The profile of the gain map in a JPEG file describes the primaries of the gains", arguments: [1, 9, 12, 22])
    func primaries(_ primaries: Int) throws {
        let image = try Self.sample(primaries)
        let data = try image.encoded(as: Self.encoding)
        let read = try HDRFiles.image(data)
        #expect(read.gainMap?.metadata == image.gainMap?.metadata)
        let light = HDRMath.light(try read.rendered(headroom: 4))
        #expect(HDRMath.psnr(light, HDRMath.light(try image.rendered(headroom: 4))) > 45)
        // Gains for wider primaries have another effect on the blue of a bright pixel.
        let other = HDRMath.light(try Self.sample(nil).rendered(headroom: 4))
        let blue = (28 * 128 + 52) * 3 + 2
        #expect([9, 12].contains(primaries) == (abs(light[blue] / other[blue] - 1) > 0.05))
    }

    @Test(
        "The gains apply to the same primaries as in libultrahdr",
        .enabled(if: HDRFiles.hasLibultrahdr, "requires imagecodecs from PyPI"), arguments: [9, 12], [2, 8])
    func agrees(_ primaries: Int, headroom: Int) throws {
        // libultrahdr interpolates smaller maps in another way.
        let sample = try Self.sample(primaries)
        let pixels = try PixelPatterns.make(width: 128, height: 96, isOpaque: true) { x, y in
            (40..<64).contains(x) && (16..<40).contains(y) ? SIMD4(255, 255, 255, 255) : SIMD4(0, 0, 0, 255)
        }
        let map = GainMap(pixels: pixels, metadata: try #require(sample.gainMap).metadata)
        let data = try sample.with(gainMap: map).encoded(as: Self.encoding)
        let image = try HDRFiles.image(data)
        let own = HDRMath.light(
            try image.rendered(headroom: Double(headroom), primaries: HDRFiles.libultrahdrPrimaries(image)))
        let psnr = HDRMath.psnr(own, try HDRFiles.libultrahdr(data, headroom: headroom))
        #expect(psnr > 50, "\(psnr) dB")
    }

    @Test("A JPEG file refers to the base image if the primaries of the gains don’t matter or are unknown")
    func withoutPrimaries() throws {
        var image = try GainMapTests.sample()
        let map = try #require(image.gainMap)
        var metadata = map.metadata
        metadata.usesBaseColorSpace = false
        metadata.alternatePrimaries = 9
        image = image.with(gainMap: GainMap(pixels: map.pixels, metadata: metadata))
        #expect(try HDRFiles.image(try image.encoded(as: .jpeg)).gainMap?.metadata == map.metadata)
        let unknown = try Self.sample(3)
        let read = try #require(try HDRFiles.image(try unknown.encoded(as: .jpeg)).gainMap)
        #expect(read.metadata.usesBaseColorSpace && read.metadata.alternatePrimaries == nil)
    }

    @Test(
        "A JPEG file that is transcoded to JPEG XL keeps its gain map",
        .enabled(if: ImageCoderRegistry.standard.canEncode(.jxl)), arguments: [nil, 1, 9, 12, 22] as [Int?])
    func transcodes(_ primaries: Int?) throws {
        let image = try Self.sample(primaries)
        let file = try image.encoded(as: Self.encoding)
        let source = try HDRFiles.image(file)
        var encoding = ImageEncoding(format: .jxl, isLossless: true)
        let result = try ImageCoderRegistry.standard.encode(source, as: encoding, original: file)
        #expect(result.firstRange(of: Data("jbrd".utf8)) != nil)
        let read = try HDRFiles.image(result)
        let map = try #require(read.gainMap)
        // JPEG XL has no number for these primaries.
        let expected = try #require(try Self.sample(primaries == 22 ? nil : primaries).gainMap).metadata
        #expect(map.metadata == expected)
        let samples = try #require(source.gainMap).pixels
        #expect(similarity(map.pixels, samples) > 45)
        if primaries != 22 {
            let own = HDRMath.light(try source.rendered(headroom: 4))
            #expect(HDRMath.psnr(HDRMath.light(try read.rendered(headroom: 4)), own) > 45)
        }
        encoding.preservesDynamicRange = false
        let standard = try ImageCoderRegistry.standard.encode(source, as: encoding, original: file)
        #expect(try HDRFiles.image(standard).gainMap == nil)
    }

    @Test(
        "A JPEG file with a gain map can be restored from JPEG XL bit by bit",
        .enabled(if: Tools.hasDjxl && ImageCoderRegistry.standard.canEncode(.jxl), "requires libjxl-tools"))
    func restores() throws {
        let file = try Self.sample(9).encoded(as: Self.encoding)
        let encoding = ImageEncoding(format: .jxl, isLossless: true).with(\.metadata, .keep)
        let result = try ImageCoderRegistry.standard.encode(try HDRFiles.image(file), as: encoding, original: file)
        #expect(JXLGainMap.find(in: result) != nil)
        let words = ["/usr/bin/djxl", "picture.jxl", "back.jpg"]
        #expect(try Tools.output("back.jpg", words, result, as: "picture.jxl") == file)
    }

    @Test(
        "Apple’s gain map remains in a file that is transcoded to JPEG XL, in every orientation",
        .enabled(if: ImageCoderRegistry.standard.canEncode(.jxl)),
        arguments: HDRFiles.names("jpg").filter { $0.hasPrefix("apple") },
        [ImageOrientation.up, .right, .left, .upMirrored])
    func transcodesApple(name: String, orientation: ImageOrientation) throws {
        var file = try HDRFiles.data(name)
        // The file contains the orientation in its EXIF block, in big-endian byte order.
        let tag = try #require(file.firstRange(of: Data([1, 0x12, 0, 3, 0, 0, 0, 1, 0])))
        file[tag.upperBound] = UInt8(orientation.rawValue)
        let source = try HDRFiles.image(file)
        try #require(source.metadata.orientation == orientation && source.gainMap?.metadata.kind == .apple)
        let encoding = ImageEncoding(format: .jxl, isLossless: true)
        let result = try ImageCoderRegistry.standard.encode(source, as: encoding, original: file)
        #expect(result.firstRange(of: Data("jbrd".utf8)) != nil)
        let read = try HDRFiles.image(result)
        #expect(read.metadata.orientation == orientation)
        #expect(read.gainMap?.pixels.packedBytes() == source.gainMap?.pixels.packedBytes())
        let own = HDRMath.light(try source.rendered(headroom: 4), step: 4)
        #expect(HDRMath.psnr(HDRMath.light(try read.rendered(headroom: 4), step: 4), own) > 45)
    }

    @Test("The inverse orientation reverts an orientation", arguments: ImageOrientation.allCases)
    func inverse(_ orientation: ImageOrientation) throws {
        let pixels = try PixelPatterns.noise(width: 5, height: 3)
        let context = ImageProcessingContext()
        let upright = try OrientationTransform.upright(pixels, orientation, context: context)
        let stored = try OrientationTransform.upright(upright, orientation.inverse, context: context)
        #expect(stored.packedBytes() == pixels.packedBytes())
    }

    // MARK: - Ultra HDR without a list of images

    /// The image and the gain map of a sample as separate files.
    private struct Parts {
        let base: Data
        let map: Data
        let metadata: GainMapMetadata

        init() throws {
            let data = try GainMapTests.sample().encoded(as: .jpeg)
            let found = try #require(JPEGGainMap.find(in: data))
            map = data.subdata(in: found.range)
            metadata = found.metadata
            var standard = ImageEncoding(format: .jpeg)
            standard.preservesDynamicRange = false
            base = try GainMapTests.sample().encoded(as: standard)
        }

        /// Returns a file whose XMP packet has the items, with other data after the base image.
        func file(_ items: [String], _ rest: Data) -> Data {
            let list = items.map { #"<rdf:li rdf:parseType="Resource">\#($0)</rdf:li>"# }.joined()
            let packet = """
                <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
                <rdf:Description xmlns:C="http://ns.google.com/photos/1.0/container/" \
                xmlns:I="http://ns.google.com/photos/1.0/container/item/"><C:Directory><rdf:Seq>\(list)\
                </rdf:Seq></C:Directory></rdf:Description></rdf:RDF></x:xmpmeta>
                """
            let content = Data("http://ns.adobe.com/xap/1.0/\0\(packet)".utf8)
            let length = content.count + 2
            let marker: [UInt8] = [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)]
            var file = base
            file.insert(contentsOf: Data(marker) + content, at: 2)
            return file + rest
        }
    }

    private static let primary = #"<C:Item I:Semantic="Primary" I:Mime="image/jpeg"/>"#

    @Test("Without a list of images, the XMP packet locates the gain map")
    func container() throws {
        let parts = try Parts()
        let video = Data(repeating: 7, count: 100)
        let size = parts.map.count
        let files = [
            parts.file(
                [Self.primary, #"<C:Item I:Semantic="GainMap" I:Mime="image/jpeg" I:Length="\#(size)"/>"#], parts.map),
            parts.file(
                [
                    #"<C:Item I:Semantic="Primary" I:Mime="image/jpeg" I:Length="0" I:Padding="9"/>"#,
                    #"<C:Item I:Padding="3" I:Length="\#(size)" I:Mime="image/jpeg" I:Semantic="GainMap"/>"#,
                    #"<C:Item I:Semantic="MotionPhoto" I:Mime="video/mp4" I:Length="100"/>"#,
                ], Data(count: 9) + parts.map + Data(count: 3) + video),
            parts.file(
                [
                    "<C:Item><I:Semantic>Primary</I:Semantic></C:Item>",
                    "<C:Item><I:Semantic>GainMap</I:Semantic><I:Length> \(size) </I:Length></C:Item>",
                ], parts.map),
        ]
        for (index, file) in files.enumerated() {
            let found = try #require(JPEGGainMap.find(in: file), "\(index)")
            #expect(file.subdata(in: found.range) == parts.map && found.metadata == parts.metadata)
            let image = try HDRFiles.image(file)
            #expect(image.gainMap?.size == PixelSize(width: 64, height: 48))
            #expect(ImageInfo.hasHighDynamicRange(file))
        }
    }

    @Test(
        "Items with wrong sizes aren’t gain maps",
        arguments: ["", "0", "-5", "x", "3", "99999999", "9223372036854775807", "1e3", "18446744073709551616"])
    func wrongContainer(_ length: String) throws {
        let parts = try Parts()
        let item = #"<C:Item I:Semantic="GainMap" I:Mime="image/jpeg" I:Length="\#(length)"/>"#
        #expect(JPEGGainMap.find(in: parts.file([Self.primary, item], parts.map)) == nil)
        let valid = #"<C:Item I:Semantic="GainMap" I:Length="\#(parts.map.count)" I:Padding="\#(length)"/>"#
        let padded = parts.file([Self.primary, valid], parts.map)
        #expect(length == "0" || JPEGGainMap.find(in: padded) == nil)
        // A gain map that begins elsewhere has no start marker.
        let moved = #"<C:Item I:Semantic="GainMap" I:Length="\#(parts.map.count - 1)"/>"#
        #expect(JPEGGainMap.find(in: parts.file([Self.primary, moved], parts.map)) == nil)
        #expect(JPEGGainMap.find(in: parts.file([Self.primary], parts.map)) == nil)
    }

    /// Returns a file whose box `jhgm` is compressed in a box `brob`, after a change of the compressed data.
    private static func compressing(
        _ file: Data, _ change: (inout Data) -> Void = { _ in }, box: (Data) -> Data = { $0 }
    ) throws -> Data {
        let name = try #require(file.range(of: Data("jhgm".utf8), options: .backwards))
        var packed = CodedBody.brotli.encode(box(Data(file[name.upperBound...])))
        change(&packed)
        let size = PNGParts.big(UInt32(packed.count + 12))
        return file[..<(name.lowerBound - 4)] + Data(size) + Data("brobjhgm".utf8) + packed
    }

    @Test(
        "A gain map in a compressed box of a JPEG XL file is the same as in an ordinary box",
        .enabled(if: ImageCoderRegistry.standard.canEncode(.jxl)))
    func compressedBox() throws {
        let jpeg = try Self.sample(9).encoded(as: Self.encoding)
        let encoding = ImageEncoding(format: .jxl, isLossless: true)
        let file = try ImageCoderRegistry.standard.encode(try HDRFiles.image(jpeg), as: encoding, original: jpeg)
        let packed = try Self.compressing(file)
        let (read, expected) = (try HDRFiles.image(packed), try HDRFiles.image(file))
        #expect(read.gainMap?.metadata == expected.gainMap?.metadata && read.gainMap != nil)
        #expect(read.gainMap?.pixels.packedBytes() == expected.gainMap?.pixels.packedBytes())
        #expect(GainMapInfo.read(packed, format: .jxl) == GainMapInfo.read(file, format: .jxl))
        #expect(GainMapInfo.exists(in: packed, format: .jxl))
        // Invalid data leaves the image.
        for count in [0, 1, 40] {
            let damaged = try Self.compressing(file, { $0 = $0.prefix(count) })
            #expect(try HDRFiles.image(damaged).gainMap == nil, "\(count)")
        }
        for place in [0, 5, 60] {
            let damaged = try Self.compressing(file, { $0[$0.startIndex + place] ^= 0xFF })
            #expect(try HDRFiles.image(damaged).size == expected.size, "\(place)")
        }
        // Data that becomes much larger is rejected.
        let bomb = try Self.compressing(file, box: { $0 + Data(count: 8 << 20) })
        #expect(bomb.count < file.count + 4_096)
        #expect(JXLGainMap.find(in: bomb)?.codestream(of: bomb) == nil)
        #expect(try HDRFiles.image(bomb).gainMap == nil)
    }
}
