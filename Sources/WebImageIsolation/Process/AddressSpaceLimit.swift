// SPDX-License-Identifier: MIT

import WebImageCore

/// The address space that a helper may use for a request, in bytes. The limit with which the helper was started applies in
/// addition.
///
/// The numbers are from `isolation-probe memory` with the libraries of Debian 12. An idle helper has 192 MiB. Decoding needs
/// 5 (JPEG) to 17 (HEIF) bytes per pixel with the encoded data and the result. Encoding needs 11 (PNG) to 82 (JPEG XL).
enum AddressSpaceLimit {
    /// The libraries, and the animations and the decoders of previews that a helper keeps.
    private static let base = 512 << 20
    /// The address space for decoding as a multiple of the maximum size of the pixels.
    private static let decodingFactor = 4
    /// The number of bytes per encoded pixel.
    private static let encodingBytes = 96

    /// Returns the limit for decoding, which is 1.5 GiB with the default limits.
    static func decoding(_ limits: ImageLimits) -> Int { sum(limits.maxDecodedBytes, decodingFactor) }

    /// Returns the limit for encoding an image with all of its frames.
    static func encoding(_ image: DecodedImage) -> Int {
        let (pixels, overflow) = (image.size.area ?? .max).multipliedReportingOverflow(by: image.frameCount)
        return sum(overflow ? .max : pixels, encodingBytes)
    }

    private static func sum(_ count: Int, _ factor: Int) -> Int {
        let (product, overflow) = max(0, count).multipliedReportingOverflow(by: factor)
        return overflow || product > Int.max - base ? .max : base + product
    }
}
