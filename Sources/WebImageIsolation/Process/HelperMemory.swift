// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The memory that a helper may need for a request in addition to the memory of an idle helper, in bytes.
///
/// The address space of the helper is limited by it (`HelperProcess.limitMemory(growth:threadCount:)`), and the pool
/// limits the sum for all helpers (`HelperMemoryBudget`). The factors are larger than the results of
/// `isolation-probe memory` with the libraries of Debian 12.
enum HelperMemory {
    /// The memory for small allocations and tables.
    private static let base = 16 << 20
    /// The number of bytes per sample of an RGBA pixel for decoding: at most 17 bytes per pixel are measured (HEIF).
    private static let decodingBytes = 5
    /// The same for JPEG 2000, whose decoder has two copies of 32-bit samples.
    private static let decodingBytesOfJPEG2000 = 12

    /// Returns the memory for decoding, which is at most four times the maximum size of the pixels. `data` is the size
    /// of the encoded data, in bytes, and `info` is `nil` if the header isn't known.
    static func decoding(
        _ data: Int, _ info: ImageInfo?, _ options: ImageDecodingOptions, kind: HelperKind, _ limits: ImageLimits
    ) -> Int {
        let maximum = product(limits.maxDecodedBytes, 4)
        // The size of a vector image isn't related to the memory of its drawing.
        guard let info, kind != .vector else { return max(base, product(limits.maxDecodedBytes, 2)) }
        let area = max(info.storedSize.area ?? .max, info.codedPixelCount)
        let result = (try? options.size?.plan(for: info.size, scale: options.scale).output)?.area ?? 0
        let depth = max(1, (info.bitDepth + 7) / 8) * (options.dynamicRange.keepsRange ? 2 : 1)
        let factor = info.format == .jpeg2000 ? decodingBytesOfJPEG2000 : decodingBytes
        let pixels = product(product(sum(area, result), 4), product(factor, depth))
        // The data is in shared memory, and the decoder of an animation has a copy.
        return max(base, min(maximum, sum(sum(pixels, product(data, 2)), sum(base, info.decoderBytes))))
    }

    /// Returns the memory for encoding an image with all of its frames.
    static func encoding(_ image: DecodedImage, as format: ImageFormat?) -> Int {
        encoding(product(image.size.area ?? .max, image.frameCount), as: format)
    }

    /// Returns the memory for converting a file without decoding its pixels.
    static func transcoding(_ data: Data, to format: ImageFormat?) -> Int {
        guard let area = (try? ImageInfo(data: data))?.storedSize.area else { return .max }
        return sum(encoding(area, as: format), product(data.count, 2))
    }

    private static func encoding(_ pixels: Int, as format: ImageFormat?) -> Int {
        let bytes =
            switch format {
            case .jxl: 96
            case .avif, .heif: 64
            case .webp: 48
            default: 28
            }
        return sum(product(pixels, bytes), base)
    }

    private static func product(_ first: Int, _ second: Int) -> Int {
        let (result, overflow) = max(0, first).multipliedReportingOverflow(by: max(0, second))
        return overflow ? .max : result
    }

    private static func sum(_ first: Int, _ second: Int) -> Int {
        let (result, overflow) = max(0, first).addingReportingOverflow(max(0, second))
        return overflow ? .max : result
    }
}
