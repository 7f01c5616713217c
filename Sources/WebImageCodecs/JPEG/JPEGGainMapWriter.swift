// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// An assembler of JPEG files with gain maps, with the metadata of Ultra HDR 1.1 and ISO 21496-1.
///
/// The file consists of two JPEG files. The first one contains the base image, a list of both images (MPF, CIPA DC-007),
/// and an XMP packet with the size of the second one. The second one contains the gain map and its metadata.
enum JPEGGainMapWriter {
    /// The quality of the gain map. Errors of the map are multiplied with the light of the image.
    private static let quality = 95
    /// The difference between the qualities of the map and of the image if the size of the file is limited. The map is then
    /// also at most half as large as the image on each axis, so its share of the file doesn't grow.
    private static let limitedDifference = 5
    /// The size of the segment with the list of images, including its marker, in bytes.
    private static let listSize = 90

    /// Encodes the image and its gain map, which is reduced if it's larger than the image. `encodeStill` encodes an
    /// image without a gain map.
    static func encode(
        _ image: DecodedImage, gainMap: GainMap, as encoding: ImageEncoding, context: ImageProcessingContext,
        encodeStill: (DecodedImage, ImageEncoding, _ allowsGray: Bool) throws(ImageError) -> Data
    ) throws(ImageError) -> Data {
        let (metadata, profile) = colors(of: gainMap)
        let isLimited = encoding.maxByteCount != nil
        let mapSize =
            isLimited
            ? PixelSize(width: (image.size.width + 1) / 2, height: (image.size.height + 1) / 2) : image.size
        let fitted = try gainMap.part(SampleRect(image.size), of: image.size, to: mapSize, context: context)
        let imageQuality = encoding.quality ?? JPEGWriter.defaultQuality
        let mapQuality = isLimited ? min(quality, imageQuality + limitedDifference) : max(quality, imageQuality)
        let plain = try encodeStill(
            DecodedImage(pixels: fitted.pixels),
            ImageEncoding(format: .jpeg, quality: mapQuality).with(\.chromaSubsampling, .yuv444),
            // libultrahdr applies the metadata of the first channel to all channels of a map with one component.
            metadata.isUniform)
        var mapSegments =
            segment(0xE1, JPEGGainMap.xmpName, Array(metadata.xmpPacket.utf8))
            + segment(0xE2, JPEGGainMap.isoName, metadata.isoBytes)
        // The profile consists of one part.
        if let profile { mapSegments += segment(0xE2, "ICC_PROFILE\0", [1, 1] + profile) }
        let map = inserting(mapSegments, into: plain)
        var baseImage = image.with(gainMap: nil)
        var baseEncoding = encoding
        // A packet of the source describes other images, so it's merged or replaced.
        let packet = directory(mapSize: map.count, merging: EmbeddedMetadata(for: image, as: encoding).xmp)
        var baseMetadata = image.metadata
        baseMetadata.xmp = nil
        baseImage = baseImage.with(metadata: baseMetadata)
        baseEncoding.preservesDynamicRange = false
        let base = try encodeStill(baseImage, baseEncoding, true)
        let baseSegments =
            segment(0xE1, JPEGGainMap.xmpName, packet) + segment(0xE2, JPEGGainMap.isoName, [0, 0, 0, 0])
        let place = insertionPlace(in: base)
        let size = base.count + baseSegments.count + listSize
        // Offsets count from the byte order mark of the list, 8 bytes after its marker.
        let origin = place + baseSegments.count + 8
        let list = imageList(baseSize: size, mapSize: map.count, mapOffset: size - origin)
        var file = base
        file.insert(contentsOf: baseSegments + list, at: file.startIndex + place)
        return file + map
    }

    /// Returns the metadata to write, and the profile of the gain map if its gains apply to other primaries than those of the
    /// base image.
    private static func colors(of gainMap: GainMap) -> (metadata: GainMapMetadata, profile: [UInt8]?) {
        var metadata = gainMap.metadata
        guard !metadata.usesBaseColorSpace else { return (metadata, nil) }
        // Equal gains of all channels are independent of the primaries.
        if !gainMap.isIndependentOfPrimaries, let primaries = metadata.alternateChromaticities {
            // Decoders use only the primaries of the profile.
            let space = StandardColorSpace(primaries: primaries, transfer: .sRGB)
            if let profile = space.profile { return (metadata, profile) }
        }
        metadata.usesBaseColorSpace = true
        metadata.alternatePrimaries = nil
        return (metadata, nil)
    }

    /// Returns the packet with the sizes of both images (Ultra HDR 1.1, GContainer).
    private static func directory(mapSize: Int, merging existing: [UInt8]?) -> [UInt8] {
        let description = """
            <rdf:Description rdf:about="" xmlns:hdrgm="\(GainMapMetadata.xmpNamespace)" \
            xmlns:Container="http://ns.google.com/photos/1.0/container/" \
            xmlns:Item="http://ns.google.com/photos/1.0/container/item/" hdrgm:Version="1.0"><Container:Directory>\
            <rdf:Seq><rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="Primary" Item:Mime="image/jpeg"/>\
            </rdf:li><rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="GainMap" Item:Mime="image/jpeg" \
            Item:Length="\(mapSize)"/></rdf:li></rdf:Seq></Container:Directory></rdf:Description>
            """
        if let existing, let merged = merged(description, into: String(decoding: existing, as: UTF8.self)) {
            return merged
        }
        return Array(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            \(description)</rdf:RDF></x:xmpmeta>
            """.utf8)
    }

    /// Returns the existing packet with an additional description, or `nil` if it describes a gain map itself, if its
    /// structure is unusual, or if the result is too long for a segment.
    private static func merged(_ description: String, into packet: String) -> [UInt8]? {
        guard !packet.contains(GainMapMetadata.xmpNamespace), !packet.contains("ns.google.com/photos/1.0/container"),
            packet.contains("<rdf:RDF"), let end = packet.range(of: "</rdf:RDF>", options: .backwards)
        else { return nil }
        var text = packet
        text.insert(contentsOf: description, at: end.lowerBound)
        let bytes = Array(text.utf8)
        return bytes.count + JPEGGainMap.xmpName.utf8CodeUnitCount <= JPEGMetadata.maxSegment ? bytes : nil
    }

    private static func segment(_ marker: UInt8, _ name: StaticString, _ content: [UInt8]) -> [UInt8] {
        let title = name.withUTF8Buffer { Array($0) }
        let length = title.count + content.count + 2
        return [0xFF, marker, UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)] + title + content
    }

    /// Returns the segment with the list of images (CIPA DC-007, section 5.2).
    private static func imageList(baseSize: Int, mapSize: Int, mapOffset: Int) -> [UInt8] {
        func big(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
        }
        // A directory with the version, the number of images, and the entries, which follow it.
        var content: [UInt8] = [0x4D, 0x4D, 0, 0x2A] + big(8, 4) + big(3, 2)
        content += big(0xB000, 2) + big(7, 2) + big(4, 4) + Array("0100".utf8)
        content += big(0xB001, 2) + big(4, 2) + big(1, 4) + big(2, 4)
        content += big(0xB002, 2) + big(7, 2) + big(32, 4) + big(50, 4) + big(0, 4)
        // The type 030000 means the primary image.
        content += big(0x03_0000, 4) + big(baseSize, 4) + big(0, 4) + big(0, 4)
        content += big(0, 4) + big(mapSize, 4) + big(mapOffset, 4) + big(0, 4)
        return segment(0xE2, JPEGGainMap.mpfName, content)
    }

    private static func inserting(_ segments: [UInt8], into file: Data) -> Data {
        var result = file
        result.insert(contentsOf: segments, at: file.startIndex + insertionPlace(in: file))
        return result
    }

    /// Returns the position after the segments APP0 and APP1 at the beginning of a file of libjpeg.
    private static func insertionPlace(in file: Data) -> Int {
        let bytes = file.prefix(1 << 18)
        func byte(_ offset: Int) -> Int { Int(bytes[bytes.startIndex + offset]) }
        var place = 2
        while place + 4 <= bytes.count, byte(place) == 0xFF, byte(place + 1) == 0xE0 || byte(place + 1) == 0xE1 {
            place += 2 + (byte(place + 2) << 8 | byte(place + 3))
        }
        return place
    }
}
