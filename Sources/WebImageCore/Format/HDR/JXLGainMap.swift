// SPDX-License-Identifier: MIT

import Foundation

/// The gain map of a JPEG XL file, which is a codestream of its own in the box `jhgm` (ISO/IEC 18181-2:2024). The box can be
/// compressed in a box `brob`.
package struct JXLGainMap: Sendable, Hashable {
    /// The metadata of the gain map.
    package let metadata: GainMapMetadata
    /// The position of the content of the box, which is compressed if ``isCompressed`` is `true`.
    private let content: Range<Int>
    private let isCompressed: Bool
    /// The offset of the codestream in the content.
    private let start: Int

    /// The maximum size of the parts before the codestream in a compressed box, in bytes. Only these are decompressed to find
    /// a gain map.
    private static let maxHeaderBytes = 128 << 10
    /// The maximum size of a decompressed box, in bytes.
    private static let maxBoxBytes = 64 << 20

    /// Finds the gain map in a whole file. The result is `nil` if the file has none or the box is invalid.
    package static func find(in file: Data) -> JXLGainMap? {
        file.withUnsafeBytes { bytes in
            do throws(HeaderParsingError) {
                return try find(HeaderBytes(bytes, isComplete: true))
            } catch {
                return nil
            }
        }
    }

    /// Returns the codestream in the file in which the gain map was found, or `nil` if its compressed box is corrupt.
    package func codestream(of file: Data) -> Data? {
        guard content.upperBound <= file.count, content.count >= start || isCompressed else { return nil }
        let part = file.dropFirst(content.lowerBound).prefix(content.count)
        guard isCompressed else { return Data(part.dropFirst(start)) }
        // A codestream is compressed already, so larger boxes waste memory on purpose.
        let limit = min(Self.maxBoxBytes, part.count * 8 + Self.maxHeaderBytes)
        let (box, end) = part.withUnsafeBytes { Brotli.unpack($0, limit: limit) }
        guard case .finished = end, box.count > start else { return nil }
        return Data(box.dropFirst(start))
    }

    private static func find(_ file: HeaderBytes) throws(HeaderParsingError) -> JXLGainMap? {
        // A file without boxes is only a codestream.
        guard try !file.has([0xFF, 0x0A]) else { return nil }
        var list = BoxList(file)
        while let box = try list.next() {
            if box.name == "jhgm" { return try JXLGainMap(box.content, isCompressed: false) }
            guard box.name == "brob", try box.content.has("jhgm") else { continue }
            return try JXLGainMap(try box.content.rest(from: 4), isCompressed: true)
        }
        return nil
    }

    private init?(_ box: HeaderBytes, isCompressed: Bool) throws(HeaderParsingError) {
        let parsed: (metadata: GainMapMetadata, start: Int)?
        if isCompressed {
            let header = try box.withBytes(box.available, at: 0) {
                Brotli.unpack($0, limit: Self.maxHeaderBytes).output
            }
            parsed = Self.parse(header)
        } else {
            parsed = try Self.parse(box)
        }
        guard let parsed else { return nil }
        (metadata, start) = parsed
        content = box.position..<box.position + box.available
        self.isCompressed = isCompressed
    }

    private static func parse(_ bytes: [UInt8]) -> (metadata: GainMapMetadata, start: Int)? {
        bytes.withUnsafeBytes { bytes in
            do throws(HeaderParsingError) {
                return try parse(HeaderBytes(bytes, isComplete: true))
            } catch {
                return nil
            }
        }
    }

    /// Returns the metadata and the offset of the codestream in the content of a box.
    private static func parse(
        _ box: HeaderBytes
    ) throws(HeaderParsingError) -> (metadata: GainMapMetadata, start: Int)? {
        guard try box.byte(at: 0) == 0 else { return nil }
        let metadataSize = try box.big16(at: 1)
        let parsed = try box.withBytes(metadataSize, at: 3) { GainMapMetadata(iso: $0) }
        guard var metadata = parsed else { return nil }
        // A color encoding and a compressed profile, which describe the alternate image, precede the codestream.
        var offset = 3 + metadataSize
        let colorSize = Int(try box.byte(at: offset))
        if !metadata.usesBaseColorSpace, colorSize > 0 {
            let points = try box.withBytes(colorSize, at: offset + 1) {
                JXLHeader.codePoints(ofColorEncoding: Array($0))
            }
            // The number 2 means that no code point describes the primaries.
            metadata.alternatePrimaries = points.flatMap { $0.primaries == 2 ? nil : $0.primaries }
        }
        offset += 1 + colorSize
        offset += 4 + (try box.big32(at: offset))
        let stream = try box.rest(from: offset)
        guard stream.available > 2, try stream.has([0xFF, 0x0A]) else { return nil }
        return (metadata, offset)
    }
}
