// SPDX-License-Identifier: MIT

import CLimits
import Foundation
import WebImage

/// The reference for the quality of thumbnails, which is the full image reduced by the Lanczos-3 implementation in C.
struct Reference {
    private let pixels: ScratchMemory

    init(_ bytes: Data, fitting target: PixelSize) throws {
        let full = try ImageCoderRegistry.standard.decode(
            bytes, context: ImageProcessingContext(limits: Photograph.roomy))
        pixels = ScratchMemory(target.width * target.height * 4)
        let code = wi_limit_lanczos(
            full.pixels.packedBytes(), wi_limit_size(width: Int32(full.size.width), height: Int32(full.size.height)),
            Double(full.size.width), Double(full.size.height), pixels.bytes,
            wi_limit_size(width: Int32(target.width), height: Int32(target.height)))
        guard code == 0 else { throw Skipped(reason: "can’t allocate memory for the reference") }
    }

    /// Returns the signal-to-noise ratio, in decibels, between the reference and an image, or `nil` if their sizes
    /// differ. The image has `channels` bytes per pixel, which begin with red, green, and blue.
    func quality(_ bytes: some Collection<UInt8>, channels: Int) -> Double? {
        guard bytes.count * 4 == pixels.count * channels else { return nil }
        var squares = 0.0
        for (index, byte) in bytes.enumerated() where index % channels < 3 {
            let difference = Double(byte) - Double(pixels.bytes[index / channels * 4 + index % channels])
            squares += difference * difference
        }
        let mean = squares / Double(pixels.count / 4 * 3)
        return mean > 0 ? 10 * log10(255 * 255 / mean) : 99
    }
}
