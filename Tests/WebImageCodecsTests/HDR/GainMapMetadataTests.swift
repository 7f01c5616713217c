// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("The metadata of gain maps")
struct GainMapMetadataTests {
    private static let packet = """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description
         xmlns:gm = 'http://ns.adobe.com/hdr-gain-map/1.0/' gm:Version="1.0" gm:GainMapMin='-0.5'
         gm:OffsetSDR="0.25" gm:HDRCapacityMax = "3.5">
        <gm:GainMapMax><rdf:Seq><rdf:li>1.5</rdf:li><rdf:li> 2 </rdf:li><rdf:li>2.5</rdf:li></rdf:Seq></gm:GainMapMax>
        <gm:Gamma>0.5</gm:Gamma></rdf:Description></rdf:RDF></x:xmpmeta>
        """

    private static var sample: GainMapMetadata {
        var metadata = GainMapMetadata(gainMin: -0.25, gainMax: 2.5, alternateHeadroom: 3)
        metadata.gainMax = SIMD3(2.5, 2.25, 2)
        metadata.gamma = SIMD3(0.5, 1, 1.5)
        metadata.baseOffset = SIMD3(repeating: 0.015625)
        return metadata
    }

    @Test("Attributes and elements of an XMP packet are read under any prefix")
    func readsXMP() throws {
        let metadata = try #require(GainMapMetadata(xmp: Array(Self.packet.utf8)))
        #expect(metadata.kind == .ultraHDR)
        #expect(metadata.gainMin == SIMD3(repeating: -0.5))
        #expect(metadata.gainMax == SIMD3(1.5, 2, 2.5))
        #expect(metadata.gamma == SIMD3(repeating: 0.5))
        #expect(metadata.baseOffset == SIMD3(repeating: 0.25))
        #expect(metadata.alternateOffset == SIMD3(repeating: 1.0 / 64))
        #expect((metadata.baseHeadroom, metadata.alternateHeadroom) == (0, 3.5))
    }

    @Test(
        "Packets without a gain map or with invalid numbers have no metadata",
        arguments: [
            ("gm:HDRCapacityMax = \"3.5\"", ""), ("3.5", "nan"), ("3.5", "inf"), ("3.5", "0"), ("3.5", "1e9"),
            ("<gm:Gamma>0.5", "<gm:Gamma>0"), ("<gm:Gamma>0.5", "<gm:Gamma>x"), (" 2 ", ""), ("-0.5", "7"),
            ("gm:Version=\"1.0\"", ""), ("hdr-gain-map", "other"),
        ])
    func rejectsXMP(change: (String, String)) {
        let packet = Self.packet.replacingOccurrences(of: change.0, with: change.1)
        #expect(packet != Self.packet)
        #expect(GainMapMetadata(xmp: Array(packet.utf8)) == nil)
    }

    @Test("Written XMP packets are read with the same numbers")
    func writesXMP() throws {
        var expected = Self.sample
        expected.kind = .ultraHDR
        #expect(GainMapMetadata(xmp: Array(expected.xmpPacket.utf8)) == expected)
        swap(&expected.baseHeadroom, &expected.alternateHeadroom)
        #expect(GainMapMetadata(xmp: Array(expected.xmpPacket.utf8)) == expected)
    }

    @Test("Written binary metadata are read with the same numbers")
    func writesISO() {
        for channels in [false, true] {
            var expected = Self.sample
            if channels { expected.usesBaseColorSpace = false } else { expected.gainMax = SIMD3(repeating: 2) }
            if !channels { expected.gamma = SIMD3(repeating: 1) }
            let bytes = expected.isoBytes
            #expect(bytes.count == (channels ? 141 : 61))
            #expect(bytes.withUnsafeBytes { GainMapMetadata(iso: $0) } == expected)
            for count in bytes.indices {
                #expect(bytes[..<count].withUnsafeBytes { GainMapMetadata(iso: $0) } == nil)
            }
            var later = bytes
            later[3] = 1
            #expect((later + [1, 2]).withUnsafeBytes { GainMapMetadata(iso: $0) } == expected)
            later[1] = 1
            #expect(later.withUnsafeBytes { GainMapMetadata(iso: $0) } == nil)
        }
    }

    @Test("A common denominator and denominators of zero")
    func denominators() throws {
        func bytes(_ denominator: UInt8) -> [UInt8] {
            let numbers: [Int8] = [0, 8, -2, 6, 4, 1, 1]
            return [0, 0, 0, 0, 0x48, 0, 0, 0, denominator]
                + numbers.flatMap { [$0 < 0 ? 255 : 0, $0 < 0 ? 255 : 0, $0 < 0 ? 255 : 0, UInt8(bitPattern: $0)] }
        }
        let metadata = try #require(bytes(4).withUnsafeBytes { GainMapMetadata(iso: $0) })
        #expect(metadata.alternateHeadroom == 2)
        #expect((metadata.gainMin.x, metadata.gainMax.z) == (-0.5, 1.5))
        #expect(metadata.gamma.y == 1)
        #expect(bytes(0).withUnsafeBytes { GainMapMetadata(iso: $0) } == nil)
    }

    @Test("The share of the gain depends on the headroom of the display")
    func weight() {
        var metadata = GainMapMetadata(gainMax: 3, alternateHeadroom: 3)
        #expect([1, 2, 8, 100].map { metadata.weight(headroom: $0) } == [0, 1.0 / 3, 1, 1])
        swap(&metadata.baseHeadroom, &metadata.alternateHeadroom)
        #expect([1, 8, 100].map { metadata.weight(headroom: $0) } == [-1, 0, 0])
    }
}
