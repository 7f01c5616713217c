// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// A conversion to sRGB or Display P3 with the lookup tables of a profile, for CMYK and for
/// the RGB and gray of scanners and printers.
final class LUTColorConverter: Sendable {
    /// The color model of the samples. Gray pixels have three equal samples.
    let space: ColorSpaceModel
    private let narrow: ICCTransform
    private let profile: ICCProfile
    private let target: ColorConversion.Target
    private let wide = Lock(Wide())

    private struct Wide {
        var transform: ICCTransform?
        var isMade = false
    }

    /// Creates a conversion, which takes a few milliseconds. The initializer returns `nil` if the tables are invalid.
    init?(_ profile: ICCProfile, to target: ColorConversion.Target) {
        guard let narrow = profile.transform(to: target, bytesPerSample: 1) else { return nil }
        self.target = target
        self.space = profile.space
        self.narrow = narrow
        self.profile = profile
    }

    /// Converts pixels in place. The input is R, G, B, A with straight alpha, or C, M, Y, K with 8 bits per sample, which
    /// becomes opaque.
    func convert(_ row: UnsafeMutableRawPointer, format: PixelFormat, count: Int) {
        let isWide = format.layout.isWide
        guard let transform = isWide ? wideTransform() : narrow else { return }
        let byteCount = count * format.bytesPerPixel
        withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: format.bytesPerPixel) { scratch in
            guard let copy = scratch.baseAddress else { return }
            copy.copyMemory(from: row, byteCount: byteCount)
            transform.run(from: copy, to: row, count: count)
        }
        guard space == .cmyk, !isWide else { return }
        let bytes = row.assumingMemoryBound(to: UInt8.self)
        for pixel in 0..<count { bytes[pixel * 4 + 3] = 255 }
    }

    /// Returns the transform for 16-bit samples. It's created on demand, because few images with such profiles have 16
    /// bits.
    private func wideTransform() -> ICCTransform? {
        wide.withLock { wide in
            if !wide.isMade {
                wide.transform = profile.transform(to: target, bytesPerSample: 2)
                wide.isMade = true
            }
            return wide.transform
        }
    }
}
