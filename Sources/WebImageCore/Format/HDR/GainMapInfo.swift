// SPDX-License-Identifier: MIT

import Foundation

/// The properties of the gain map of a file. Reading them doesn't require decoding.
package struct GainMapInfo: Sendable, Hashable {
    /// The metadata of the gain map.
    package let metadata: GainMapMetadata
    /// The stored size of the gain map, in pixels.
    package let size: PixelSize

    /// Returns whether a whole file has a gain map with valid metadata. The search costs microseconds.
    package static func exists(in data: Data, format: ImageFormat?) -> Bool {
        switch format {
        case .jpeg: JPEGGainMap.find(in: data) != nil
        case .avif, .heif: HEIFGainMap.find(in: data) != nil
        case .jxl: JXLGainMap.find(in: data) != nil
        default: false
        }
    }

    /// Reads the properties in a whole file. The result is `nil` if the file has no gain map or an invalid one.
    package static func read(_ data: Data, format: ImageFormat) -> GainMapInfo? {
        func read(_ encoded: Data, _ metadata: GainMapMetadata) -> GainMapInfo? {
            (try? ImageInfo(data: encoded)).map {
                GainMapInfo(metadata: metadata, size: $0.cleanAperture ?? $0.storedSize)
            }
        }
        func part(_ range: Range<Int>) -> Data {
            data.subdata(in: data.startIndex + range.lowerBound..<data.startIndex + range.upperBound)
        }
        switch format {
        case .jpeg: return JPEGGainMap.find(in: data).flatMap { read(part($0.range), $0.metadata) }
        case .avif, .heif: return HEIFGainMap.find(in: data).flatMap { read($0.standaloneFile(data), $0.metadata) }
        case .jxl:
            guard let map = JXLGainMap.find(in: data) else { return nil }
            return map.codestream(of: data).flatMap { read($0, map.metadata) }
        default: return nil
        }
    }
}

extension ImageInfo {
    /// Returns whether a whole file has a gain map, or samples of PQ or HLG that its header describes.
    package static func hasHighDynamicRange(_ data: Data) -> Bool {
        guard let info = try? ImageInfo(data: data) else { return false }
        return info.codePoints?.isHDR == true || GainMapInfo.read(data, format: info.format) != nil
    }
}
