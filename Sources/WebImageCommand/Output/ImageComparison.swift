// SPDX-License-Identifier: MIT

import CImageQuality
import Glibc
import WebImageCore

/// Measures of the difference between two images of the same size.
package struct ImageComparison: Sendable, Hashable {
    /// The values of the pixels outside of the image for the blur along a row.
    package enum Border: Sendable {
        /// Zeros, as in the reference implementation.
        case zero
        /// The mirrored image, as in one dimension of the Python package `ssimulacra2`.
        case mirrored
    }

    /// The SSIMULACRA 2.1 score, or `nil` if a side has less than 8 pixels.
    package let score: Double?
    /// The peak signal-to-noise ratio in decibels, or `nil` if all pixels are equal.
    package let psnr: Double?

    /// Whether all pixels are equal.
    package var isEqual: Bool { psnr == nil }

    /// Compares two images. Blocks.
    ///
    /// - Parameters:
    ///   - original: The original image, with 8 bits per sample.
    ///   - distorted: An image of the same size and format.
    ///   - border: The pixels outside of the image. The default is ``Border/zero``.
    ///   - isCancelled: A function that is called once per row. If it returns `true`, the comparison ends.
    /// - Throws: ``ImageError/RequestFailure/rejected(reason:)`` if the sizes differ, or ``ImageError/cancelled``, or
    ///   ``ImageError/RequestFailure/rejected(reason:)`` if there isn't enough memory.
    package init(
        _ original: PixelBuffer, _ distorted: PixelBuffer, border: Border = .zero,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(ImageError) {
        (score, psnr) = try Self.withPair(original, distorted) { pair throws(ImageError) in
            let hasAlpha = !original.isOpaque || !distorted.isOpaque
            let samples = Double(pair.width * pair.height * (hasAlpha ? 4 : 3))
            var pair = pair
            let error = Double(wi_squared_error(&pair, hasAlpha)) / samples
            let psnr = error == 0 ? nil : 10 * log10(255 * 255 / error)
            guard pair.width >= 8, pair.height >= 8 else { return (nil, psnr) }
            var lowest = Double.infinity
            // The backgrounds of the reference implementation.
            for background in hasAlpha ? [0.1, 0.9] : [0.5] {
                lowest = min(lowest, try Self.score(pair, background, border, isCancelled))
            }
            return (lowest, psnr)
        }
    }

    /// Returns an image whose samples are the absolute differences times `gain`. Throws the errors of
    /// ``init(_:_:border:isCancelled:)``.
    package static func difference(
        _ original: PixelBuffer, _ distorted: PixelBuffer, gain: Int
    ) throws(ImageError) -> PixelBuffer {
        let canvas = try PixelCanvas(size: original.size)
        let stride = canvas.bytesPerRow
        try withPair(original, distorted) { pair throws(ImageError) in
            var pair = pair
            canvas.withUnsafeMutableBytes { bytes in
                guard let address = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
                wi_difference(&pair, UInt32(gain), address, stride)
            }
        }
        return canvas.finish(isOpaque: true)
    }

    private static func withPair<Result>(
        _ original: PixelBuffer, _ distorted: PixelBuffer,
        _ body: (wi_image_pair) throws(ImageError) -> Result
    ) throws(ImageError) -> Result {
        guard original.size == distorted.size else {
            throw .request(
                .rejected(
                    reason: "the sizes differ: \(original.size.width) × \(original.size.height) and "
                        + "\(distorted.size.width) × \(distorted.size.height) pixels"))
        }
        guard original.format == .rgba8, distorted.format == .rgba8 else {
            throw .request(.rejected(reason: "only images with 8 bits per sample can be compared"))
        }
        return try original.withUnsafeBytes { a throws(ImageError) in
            try distorted.withUnsafeBytes { b throws(ImageError) in
                try body(
                    wi_image_pair(
                        original: a.bindMemory(to: UInt8.self).baseAddress,
                        distorted: b.bindMemory(to: UInt8.self).baseAddress, original_stride: original.bytesPerRow,
                        distorted_stride: distorted.bytesPerRow, width: original.size.width,
                        height: original.size.height))
            }
        }
    }

    private static func score(
        _ pair: wi_image_pair, _ background: Double, _ border: Border, _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(ImageError) -> Double {
        let check = CancellationCheck(isCancelled)
        var (pair, score) = (pair, 0.0)
        let status = withExtendedLifetime(check) {
            wi_ssimulacra2(
                &pair, background, border == .zero ? WI_BORDER_ZERO : WI_BORDER_MIRRORED,
                { context in
                    context.map { Unmanaged<CancellationCheck>.fromOpaque($0).takeUnretainedValue().isCancelled() }
                        ?? false
                }, Unmanaged.passUnretained(check).toOpaque(), &score)
        }
        switch status {
        case WI_QUALITY_OK: return score
        case WI_QUALITY_CANCELLED: throw .cancelled
        default:
            let bytes = pair.width * pair.height * 24
            throw .request(.rejected(reason: "there isn’t enough memory for the comparison (\(bytes) bytes)"))
        }
    }
}

/// An object that passes a function to C code.
private final class CancellationCheck: Sendable {
    let isCancelled: @Sendable () -> Bool

    init(_ isCancelled: @escaping @Sendable () -> Bool) { self.isCancelled = isCancelled }
}
