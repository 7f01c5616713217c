// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport

@testable import WebImageCore

/// The targets of EXIF and XMP, and of files that contain them.
enum Metadata {
    static let targets = [
        FuzzTarget(
            "exif", maxLength: 2_048,
            seeds: { FixtureFiles.images().compactMap { EmbeddedMetadata(reading: $0).exif.map { Data($0) } } },
            run: exif),
        FuzzTarget(
            "xmp",
            seeds: {
                let packet = """
                    <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description tiff:Orientation="6" \
                    xmp:Rating='5'><exif:GPSLatitude>1</exif:GPSLatitude></rdf:Description></rdf:RDF></x:xmpmeta>
                    """
                return [Data(packet.utf8)]
                    + FixtureFiles.images().compactMap { EmbeddedMetadata(reading: $0).xmp.map { Data($0) } }
            },
            dictionary: [
                "xmpmeta", "rdf:RDF", "tiff:Orientation", "exif:GPSLatitude", "photoshop:City", "Location", "&#x47;",
                "geo:", "CountryCode", "Iptc4xmpCore:AltTextAccessibility", "ExtDescrAccessibility",
                "<rdf:li xml:lang=\"",
                "xmlns:Iptc4xmpCore=\"http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/\"", "<![CDATA[", "&#x201C;",
                "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"",
            ], run: xmp),
        FuzzTarget(
            "gain-map", maxLength: 20_000,
            seeds: {
                let metadata = GainMapMetadata(gainMin: -1, gainMax: 3, alternateHeadroom: 3)
                return [Data(metadata.isoBytes), Data(metadata.xmpPacket.utf8)] + FixtureFiles.images()
            },
            dictionary: [
                "hdrgm:Version", "hdrgm:GainMapMax=\"1\"", "hdrgm:HDRCapacityMax=\"2\"", "rdf:li", "MPF", "tmap",
                "dimg",
                "auxl", "jhgm", "urn:iso:std:iso:ts:21496:-1", "HDRGainMapHeadroom",
                "xmlns:Container=\"http://ns.google.com/photos/1.0/container/\"",
                "xmlns:Item=\"http://ns.google.com/photos/1.0/container/item/\"",
                "<Container:Item Item:Semantic=\"GainMap\" Item:Length=\"108\"/>", "Item:Padding=\"2\"",
            ], run: gainMap),
        FuzzTarget("metadata", maxLength: 20_000, seeds: FixtureFiles.images, run: file),
    ]

    private static func exif(_ bytes: UnsafeRawBufferPointer) {
        _ = ImageOrientation(exif: Data(bytes))
        guard let block = ExifBlock(Array(bytes)) else { return }
        let written = block.serialized()
        guard let again = ExifBlock(written) else { fatalError("A written EXIF block can’t be read.") }
        require(ExifBlock(again.serialized()) == again, "An EXIF block changes if it’s written.")
        require(again.photo.count <= block.photo.count && again.position.count <= block.position.count)
        let hidden = ExifBlock(block.withoutLocation.serialized())
        require(hidden?.position.isEmpty ?? true, "A location remains in an EXIF block.")
        var fitted = block
        fitted.fit(PixelSize(width: 3, height: 70_000), isSRGB: true)
        let file = Data(fitted.serialized())
        let orientation = ImageOrientation(exif: file)
        require(orientation == nil || orientation == .up, "The orientation of an EXIF block remains.")
    }

    private static func xmp(_ bytes: UnsafeRawBufferPointer) {
        let packet = Array(bytes)
        let descriptions = XMPDescriptions(packet: packet)
        for text in [descriptions.alternativeText, descriptions.extendedDescription] {
            require((text?.count ?? 1) <= XMPDescriptions.maxLength && text != "", "A description has a wrong length.")
        }
        guard let prepared = XMPPacket.prepared(packet, allowsLocation: true) else { return }
        require(prepared.count == packet.count, "An XMP packet changes its size.")
        require(XMPPacket.prepared(prepared, allowsLocation: true) == prepared, "An orientation remains.")
        guard let hidden = XMPPacket.prepared(packet, allowsLocation: false) else { return }
        require(!XMPPacket.mentionsLocation(hidden), "A location remains in an XMP packet.")
    }

    private static func gainMap(_ bytes: UnsafeRawBufferPointer) {
        for metadata in [GainMapMetadata(iso: bytes), GainMapMetadata(xmp: Array(bytes), appleHeadroom: 2)] {
            guard let metadata else { continue }
            require(metadata.isValid, "Invalid metadata of a gain map are accepted.")
            for channel in 0..<3 {
                let gain = metadata.gain(0.5, channel: channel, weight: metadata.weight(headroom: 2))
                require(gain.isFinite && gain > 0, "A gain is infinite.")
            }
            // The written fractions have six decimal places.
            guard let again = GainMapMetadata(xmp: Array(metadata.xmpPacket.utf8)) else { continue }
            require(abs(again.alternateHeadroom - metadata.alternateHeadroom) < 1e-5, "A headroom changes.")
        }
        let data = Data(bytes)
        if let map = JPEGGainMap.find(in: data) { require(map.range.upperBound <= data.count, "A map is outside.") }
        if let map = JXLGainMap.find(in: data), let stream = map.codestream(of: data) {
            require(stream.count <= data.count * 8 + 128 << 10, "A map is larger than its limit.")
        }
        if let points = ColorCodePoints(iccProfile: Array(bytes)) {
            require(points.primaries != 2, "The code points of a profile are invalid.")
        }
        if let metadata = GainMapMetadata(iso: bytes),
            let file = JXLGainMapWriter.adding(Data([0xFF, 0x0A, 0]), metadata, to: data)
        {
            require(file.count > data.count, "A gain map isn’t added.")
        }
        if let map = HEIFGainMap.find(in: data) {
            let file = map.standaloneFile(data)
            require(file.count == data.count, "A file of a gain map has another size.")
            _ = try? ImageInfo(data: file)
        }
    }

    private static func file(_ bytes: UnsafeRawBufferPointer) {
        let data = Data(bytes)
        let metadata = EmbeddedMetadata(reading: data)
        for block in [metadata.exif, metadata.xmp] { require((block?.count ?? 0) <= ExifBlock.maxBytes) }
        guard let format = ImageFormat(sniffing: data) else { return }
        if MetadataFreeFile.hasNoMetadata(data, format) {
            require(metadata.exif == nil && metadata.xmp == nil, "A file without metadata has metadata.")
        }
        guard format == .jpeg, let stripped = JPEGFile.replacingMetadata(of: data, exif: nil, xmp: nil) else { return }
        let rest = EmbeddedMetadata(reading: stripped)
        require(rest.exif == nil && rest.xmp == nil, "Metadata remains in a stripped file.")
        require(JPEGFile.hasNoMetadata(stripped), "A stripped file isn’t free of metadata.")
        let exif = ExifBlock.only(.left).serialized()
        guard let replaced = JPEGFile.replacingMetadata(of: data, exif: exif, xmp: nil) else { return }
        require(EmbeddedMetadata(reading: replaced).exif == exif, "The written EXIF block can’t be read.")
    }
}
