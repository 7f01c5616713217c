// SPDX-License-Identifier: MIT

import Foundation

/// The gain map of a JPEG XL file, which is a codestream of its own in the box `jhgm` (ISO/IEC 18181-2:2024).
package struct JXLGainMap: Sendable, Hashable {
    /// The position of the codestream in the file.
    package let range: Range<Int>
    /// The metadata of the gain map.
    package let metadata: GainMapMetadata

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

    private static func find(_ file: HeaderBytes) throws(HeaderParsingError) -> JXLGainMap? {
        // A file without boxes is only a codestream.
        guard try !file.has([0xFF, 0x0A]), let box = try BoxList.first("jhgm", in: file), try box.byte(at: 0) == 0
        else {
            return nil
        }
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
        return JXLGainMap(range: stream.position..<stream.position + stream.available, metadata: metadata)
    }
}
