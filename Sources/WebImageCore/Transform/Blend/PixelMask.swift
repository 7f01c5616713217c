// SPDX-License-Identifier: MIT

import CPixelKernels

/// An image that determines the visibility of each pixel of another image. The mask is stretched to the size of the
/// other image.
package struct PixelMask: Sendable, Hashable {
    /// The channel of the mask that determines the visibility.
    package enum Channel: String, Sendable, Hashable, CaseIterable {
        /// The alpha channel. Opaque pixels show the image, and transparent pixels hide it.
        case alpha
        /// The luminance (Rec. 709 weights of the stored values). White pixels show the image, and black or
        /// transparent pixels hide it.
        case luminance
    }

    /// The pixels of the mask.
    package let pixels: PixelBuffer
    /// The channel of the mask that determines the visibility.
    package let channel: Channel
    /// A unique string for the content of the mask.
    let identity: String

    /// Creates a mask. By default, it uses the alpha channel. This initializer reads all pixels to compute the
    /// identity of the mask.
    package init(_ pixels: PixelBuffer, channel: Channel = .alpha) {
        self.pixels = pixels
        self.channel = channel
        identity = "\(channel.rawValue):\(pixels.size):\(pixels.digest)"
    }

    /// Returns whether two masks have the same pixels and the same channel.
    package static func == (a: PixelMask, b: PixelMask) -> Bool { a.identity == b.identity }

    /// Hashes the components that ``==(_:_:)`` compares.
    package func hash(into hasher: inout Hasher) { hasher.combine(identity) }

    /// Returns `to` in the visible areas of the mask and `from` in the hidden areas. Both must have the same size and
    /// format.
    func mix(from: PixelBuffer, to: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let mask = try fitted(to: from.size, context: context)
        var share = [Float](repeating: 0, count: from.width)
        return try from.mapRows(isOpaque: from.isOpaque && to.isOpaque, context: context) { row, old, out in
            values(mask, row, into: &share)
            to.withRow(row) { new in
                from.format.kernels.mix(old, new, out, share, from.width)
            }
        }
    }

    /// Returns the parts of `picture` that the mask shows. The rest is transparent.
    func cut(_ picture: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let mask = try fitted(to: picture.size, context: context)
        var share = [Float](repeating: 0, count: picture.width)
        let none: [Float] = [0, 0, 0, 0]
        let isOpaque = picture.isOpaque && channel == .alpha && mask.isOpaque
        return try picture.mapRows(isOpaque: isOpaque, context: context) { row, from, to in
            values(mask, row, into: &share)
            picture.format.kernels.cut(from, to, share, share, none, picture.width)
        }
    }

    private func fitted(to size: PixelSize, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        // Coverage isn't light.
        try Resampler.resample(
            pixels, window: SampleRect(pixels.size), to: size, filter: .lanczos3(light: .encoded), context: context)
    }

    private func values(_ mask: PixelBuffer, _ row: Int, into share: inout [Float]) {
        mask.withRow(row) { from in
            switch channel {
            case .alpha: mask.format.kernels.alpha(from, &share, mask.width)
            case .luminance: mask.format.kernels.luminance(from, &share, mask.width)
            }
        }
    }
}

/// A transformer that hides parts of an image with a mask.
package struct MaskTransformer: ImageTransformer, Hashable {
    /// The mask that determines the visible parts.
    package let mask: PixelMask

    /// Creates a transformer.
    package init(_ mask: PixelMask) { self.mask = mask }

    /// The name and all parameters of the transformer.
    package var identifier: String { "mask(\(mask.identity))" }

    /// Masks an image. The result is opaque only if the image is opaque and the mask uses the alpha channel and is
    /// opaque.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` if the image is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        try mask.cut(pixels, context: context)
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that shows only what another image shows. The other image is stretched to the size of the
    /// transformed image. This function reads all of its pixels.
    ///
    /// - Parameters:
    ///   - mask: The other image.
    ///   - usesLuminance: Whether the luminance of the mask determines the visibility. The default is `false`, which
    ///     uses its alpha.
    public static func mask(_ mask: PixelBuffer, usesLuminance: Bool = false) -> StandardTransformer {
        StandardTransformer(MaskTransformer(PixelMask(mask, channel: usesLuminance ? .luminance : .alpha)))
    }
}
