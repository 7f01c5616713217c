// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

@Suite(
    "HEIF files with gain maps",
    .enabled(if: ImageCoderRegistry.standard.canEncode(.heif), "requires an HEVC encoder for libheif"))
struct HEIFGainMapTests {
    /// The layouts of files, which no encoder on Linux writes.
    enum Layout: String, CaseIterable {
        /// An item of the type `tmap` (ISO 21496-1, annex C).
        case toneMap
        /// A `tmap` item whose gain map is hidden.
        case toneMapWithHiddenMap
        /// An auxiliary image of Apple with an XMP packet.
        case apple
        /// The same for an image that consists of tiles, as phones write it.
        case appleWithTiles

        var isApple: Bool { self == .apple || self == .appleWithTiles }
    }

    /// Returns a HEIC file with the pixels of `image` and a gain map.
    static func file(_ image: DecodedImage, _ layout: Layout) throws -> Data {
        let map = try #require(image.gainMap)
        let encoding = ImageEncoding(format: .heif, quality: 98).with(\.chromaSubsampling, .yuv444)
        let base = try CodedImage(DecodedImage(pixels: image.pixels).encoded(as: encoding), image.size)
        let gain = try CodedImage(DecodedImage(pixels: map.pixels).encoded(as: encoding), map.size)
        var writer = HEIFBoxWriter(properties: [])
        let baseProperties = writer.addProperties(base.properties)
        let gainProperties = writer.addProperties(gain.properties)
        if layout == .appleWithTiles {
            try addTiles(of: image, to: &writer, encoding)
        } else {
            writer.add("hvc1", base.data, properties: baseProperties)
        }
        if layout.isApple {
            let type = "urn:com:apple:photo:2020:aux:hdrgainmap\0"
            let kind = writer.addProperties([HEIFBoxWriter.box("auxC", [0, 0, 0, 0] + Array(type.utf8))])
            writer.add("hvc1", gain.data, properties: gainProperties + kind, isHidden: true)
            let packet = """
                <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
                <rdf:Description rdf:about="" xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/" \
                HDRGainMap:HDRGainMapVersion="131072" HDRGainMap:HDRGainMapHeadroom="8"/></rdf:RDF></x:xmpmeta>
                """
            writer.add("mime", Array(packet.utf8), contentType: "application/rdf+xml")
            let first = writer.itemCount - 1
            writer.references += [("auxl", first, [1]), ("cdsc", first + 1, [first])]
        } else {
            // The color property describes the image with the gain map applied.
            let colors = writer.addProperties([
                HEIFBoxWriter.box("colr", Array("nclx".utf8) + [0, 12, 0, 16, 0, 6, 0x80])
            ])
            writer.add("hvc1", gain.data, properties: gainProperties, isHidden: layout == .toneMapWithHiddenMap)
            writer.add("tmap", [0] + map.metadata.isoBytes, properties: [baseProperties[1]] + colors)
            writer.references = [("dimg", 3, [1, 2])]
        }
        return writer.file()
    }

    /// Adds a grid of two tiles, which are hidden (ISO/IEC 23008-12, section 6.6.2.3).
    private static func addTiles(
        of image: DecodedImage, to writer: inout HEIFBoxWriter, _ encoding: ImageEncoding
    ) throws {
        let width = image.size.width / 2
        let halves = try [0, width].map { x in
            let half = try StandardTransformer.crop(
                x: Double(x), y: 0, width: Double(width), height: Double(image.size.height)
            )
            .apply(to: DecodedImage(pixels: image.pixels))
            return try CodedImage(half.encoded(as: encoding), half.size)
        }
        let size = writer.addProperties([
            HEIFBoxWriter.box(
                "ispe", [0, 0, 0, 0] + HEIFBoxWriter.big(image.size.width, 4) + HEIFBoxWriter.big(image.size.height, 4))
        ])
        let grid = [0, 0, 0, 1] + HEIFBoxWriter.big(image.size.width, 2) + HEIFBoxWriter.big(image.size.height, 2)
        writer.add("grid", grid, properties: size)
        for half in halves {
            writer.add("hvc1", half.data, properties: writer.addProperties(half.properties), isHidden: true)
        }
        writer.references.append(("dimg", 1, [2, 3]))
    }

    @Test("The image and its gain map are read", arguments: Layout.allCases)
    func reads(_ layout: Layout) throws {
        let sample = try GainMapTests.sample()
        let data = try Self.file(sample, layout)
        let info = try ImageInfo(data: data)
        #expect(info.format == .heif && info.size == sample.size)
        let plain = try DecodedImage(data: data)
        #expect(plain.gainMap == nil && similarity(plain.pixels, sample.pixels) > 30)
        let image = try HDRFiles.image(data)
        let map = try #require(image.gainMap)
        #expect(image.pixels.packedBytes() == plain.pixels.packedBytes())
        #expect(map.size == sample.gainMap?.size)
        #expect(abs(map.metadata.maxHeadroom - 8) < 1e-6)
        #expect(map.metadata.kind == (layout.isApple ? .apple : .iso21496))
        if !layout.isApple {
            var expected = try #require(sample.gainMap?.metadata)
            expected.alternatePrimaries = 12
            #expect(map.metadata == expected)
            let pixels = try #require(sample.gainMap).pixels
            #expect(similarity(map.pixels, pixels) > 30)
        }
        // The bright square has the full gain, and the rest has none.
        let light = HDRMath.light(try image.rendered(headroom: 8))
        let dark = HDRMath.light(try image.rendered(headroom: 1))
        func ratio(_ x: Int, _ y: Int) -> Double {
            let place = (y * sample.size.width + x) * 3
            return light[place] / dark[place]
        }
        #expect(abs(ratio(52, 28) - 8) < 0.4, "\(ratio(52, 28))")
        #expect(abs(ratio(100, 80) - 1) < 0.1, "\(ratio(100, 80))")
        let properties = GainMapInfo.read(data, format: .heif)
        #expect(properties?.metadata == map.metadata && properties?.size == map.size)
    }

    @Test("Thumbnails keep the gain map, and JPEG files too", arguments: Layout.allCases)
    func keeps(_ layout: Layout) throws {
        let data = try Self.file(try GainMapTests.sample(), layout)
        let small = try HDRFiles.image(data, size: .fit(width: 32))
        #expect(small.gainMap?.size == PixelSize(width: 32, height: 24))
        let image = try HDRFiles.image(data)
        let again = try HDRFiles.image(try image.encoded(as: ImageEncoding(format: .jpeg, quality: 98)))
        let own = HDRMath.light(try image.rendered(headroom: 4))
        #expect(HDRMath.psnr(HDRMath.light(try again.rendered(headroom: 4)), own) > 35)
    }

    @Test("Files that end early or have a changed byte throw an error or produce an image", arguments: Layout.allCases)
    func hostile(_ layout: Layout) throws {
        let data = try Self.file(try GainMapTests.sample(), layout)
        let meta = try #require(data.range(of: Data("mdat".utf8))).lowerBound
        for place in stride(from: 8, to: meta, by: 7) {
            _ = HEIFGainMap.find(in: data.prefix(place))
            var changed = data
            changed[place] ^= 0x81
            if let found = HEIFGainMap.find(in: changed) { #expect(found.metadata.isValid) }
        }
    }

    /// The parts of a HEIC file with one image.
    private struct CodedImage {
        /// The decoder configuration, the size, and the clean aperture if the encoder has enlarged the image.
        ///
        /// Encoders for HEVC have a minimum size, such as 64 × 64 pixels. libheif writes a smaller image as a grid with
        /// one tile, which the file of the test doesn't contain.
        let properties: [[UInt8]]
        let data: [UInt8]

        /// Reads a file with an image of the given size.
        init(_ file: Data, _ pixels: PixelSize) throws {
            let bytes = [UInt8](file)
            func place(_ name: String) throws -> Int {
                try #require(file.range(of: Data(name.utf8))).lowerBound - 4
            }
            func box(_ name: String) throws -> [UInt8] {
                let start = try place(name)
                let count = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
                return Array(bytes[start..<start + count])
            }
            let size = try box("ispe")
            func number(_ place: Int) -> Int { size[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
            let coded = PixelSize(width: number(12), height: number(16))
            properties = try [box("hvcC"), size] + (coded == pixels ? [] : [Self.aperture(of: pixels, in: coded)])
            data = Array(try box("mdat").dropFirst(8))
        }

        /// Returns the property that crops a coded image to its upper left part (ISO/IEC 14496-12, section 12.1.4).
        private static func aperture(of size: PixelSize, in coded: PixelSize) -> [UInt8] {
            let numbers = [
                size.width, 1, size.height, 1, size.width - coded.width, 2, size.height - coded.height, 2,
            ]
            return HEIFBoxWriter.box("clap", numbers.flatMap { HEIFBoxWriter.big($0, 4) })
        }
    }
}

/// A writer of HEIF files (ISO/IEC 23008-12) with items of which each has one extent.
struct HEIFBoxWriter {
    private struct Item {
        var type: String
        var data: [UInt8]
        var properties: [UInt8]
        var isHidden: Bool
        var contentType: String?
    }

    /// The content of the box with the brands.
    var brands = "heic\0\0\0\0mif1heictmap"
    /// The boxes that describe properties. Items refer to them by their numbers, which start at 1.
    var properties: [[UInt8]]
    /// The type, the item, and the targets of each reference.
    var references: [(String, Int, [Int])] = []
    private var items: [Item] = []

    init(properties: [[UInt8]]) { self.properties = properties }

    var itemCount: Int { items.count }

    /// Adds properties, and returns their numbers for ``add(_:_:properties:isHidden:contentType:)``.
    mutating func addProperties(_ boxes: [[UInt8]]) -> [UInt8] {
        properties += boxes
        return (0..<boxes.count).map { UInt8(properties.count - boxes.count + 1 + $0) }
    }

    /// Adds the next item. Items are numbered from 1, and the first one is the primary item.
    mutating func add(
        _ type: String, _ data: [UInt8], properties: [UInt8] = [], isHidden: Bool = false, contentType: String? = nil
    ) {
        items.append(
            Item(type: type, data: data, properties: properties, isHidden: isHidden, contentType: contentType))
    }

    func file() -> Data {
        let brand = Self.box("ftyp", Array(brands.utf8))
        // The size of the offsets is constant, so the second attempt has the right ones.
        let start = brand.count + meta(dataStart: 0).count + 8
        return Data(brand + meta(dataStart: start) + Self.box("mdat", items.flatMap(\.data)))
    }

    private func meta(dataStart: Int) -> [UInt8] {
        let handler = Self.box(
            "hdlr", [0, 0, 0, 0, 0, 0, 0, 0] + Array("pict".utf8) + [UInt8](repeating: 0, count: 13))
        var entries: [UInt8] = []
        var places: [UInt8] = []
        var associations: [UInt8] = []
        var associated = 0
        var offset = dataStart
        for (index, item) in items.enumerated() {
            var entry =
                [2, 0, 0, item.isHidden ? 1 : 0] + Self.big(index + 1, 2) + [0, 0] + Array(item.type.utf8) + [0]
            if let type = item.contentType { entry += Array(type.utf8) + [0] }
            entries += Self.box("infe", entry)
            places += Self.big(index + 1, 2) + [0, 0, 0, 1] + Self.big(offset, 4) + Self.big(item.data.count, 4)
            offset += item.data.count
            guard !item.properties.isEmpty else { continue }
            associated += 1
            associations += Self.big(index + 1, 2) + [UInt8(item.properties.count)]
            for property in item.properties {
                let name = String(decoding: properties[Int(property) - 1][4..<8], as: UTF8.self)
                let isEssential = ["hvcC", "av1C", "clap", "irot", "imir"].contains(name)
                associations.append(isEssential ? property | 0x80 : property)
            }
        }
        let links = references.flatMap { type, from, targets in
            Self.box(type, Self.big(from, 2) + Self.big(targets.count, 2) + targets.flatMap { Self.big($0, 2) })
        }
        let container = Self.box("ipco", properties.flatMap { $0 })
        let content =
            handler + Self.box("pitm", [0, 0, 0, 0, 0, 1])
            + Self.box("iloc", [0, 0, 0, 0, 0x44, 0] + Self.big(items.count, 2) + places)
            + Self.box("iinf", [0, 0, 0, 0] + Self.big(items.count, 2) + entries)
            + Self.box("iref", [0, 0, 0, 0] + links)
            + Self.box("iprp", container + Self.box("ipma", [0, 0, 0, 0] + Self.big(associated, 4) + associations))
        return Self.box("meta", [0, 0, 0, 0] + content)
    }

    static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        big(content.count + 8, 4) + Array(name.utf8) + content
    }
}
