// SPDX-License-Identifier: MIT

import CPixelKernels

/// A picture that says how much of another one is seen. It is stretched to the other's size.
public struct PixelMask: Sendable, Hashable {
    /// What of the mask counts.
    public enum Channel: String, Sendable, Hashable, CaseIterable {
        /// Opaque shows, transparent hides.
        case alpha
        /// White shows, black and transparent hide (Rec. 709 weights of the stored values).
        case luminance
    }

    /// The mask's pixels.
    public let pixels: PixelBuffer
    /// What of them counts.
    public let channel: Channel
    /// Differs for every two masks that differ.
    let identity: String

    /// Creates a mask; reads all its pixels once to name it. Alpha counts by default.
    public init(_ pixels: PixelBuffer, channel: Channel = .alpha) {
        self.pixels = pixels
        self.channel = channel
        identity = "\(channel.rawValue):\(pixels.size):\(pixels.digest)"
    }

    /// Masks with the same pixels are equal.
    public static func == (a: PixelMask, b: PixelMask) -> Bool { a.identity == b.identity }

    /// Hashes what ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }

    /// `to` where the mask shows, `from` where it hides; both of one size and format.
    func mix(from: PixelBuffer, to: PixelBuffer, context: CodingContext) throws(ImageError) -> PixelBuffer {
        let mask = try fitted(to: from.size, context: context)
        var share = [Float](repeating: 0, count: from.width)
        return try from.mapRows(isOpaque: from.isOpaque && to.isOpaque, context: context) { row, old, out in
            values(mask, row, into: &share)
            to.withRow(row) { new in
                switch from.format {
                case .rgba8: wi_mix_rgba8(old.samples8, new.samples8, out.samples8, share, from.width)
                case .rgba16: wi_mix_rgba16(old.samples16, new.samples16, out.samples16, share, from.width)
                }
            }
        }
    }

    /// What the mask shows of `picture`; the rest is transparent.
    func cut(_ picture: PixelBuffer, context: CodingContext) throws(ImageError) -> PixelBuffer {
        let mask = try fitted(to: picture.size, context: context)
        var share = [Float](repeating: 0, count: picture.width)
        let none: [Float] = [0, 0, 0, 0]
        let isOpaque = picture.isOpaque && channel == .alpha && mask.isOpaque
        return try picture.mapRows(isOpaque: isOpaque, context: context) { row, from, to in
            values(mask, row, into: &share)
            switch picture.format {
            case .rgba8: wi_cut_rgba8(from.samples8, to.samples8, share, share, none, picture.width)
            case .rgba16: wi_cut_rgba16(from.samples16, to.samples16, share, share, none, picture.width)
            }
        }
    }

    private func fitted(to size: PixelSize, context: CodingContext) throws(ImageError) -> PixelBuffer {
        try Resampler.resample(pixels, window: SampleRect(pixels.size), to: size, context: context)
    }

    private func values(_ mask: PixelBuffer, _ row: Int, into share: inout [Float]) {
        mask.withRow(row) { from in
            switch (mask.format, channel) {
            case (.rgba8, .alpha): wi_alpha_rgba8(from.samples8, &share, mask.width)
            case (.rgba16, .alpha): wi_alpha_rgba16(from.samples16, &share, mask.width)
            case (.rgba8, .luminance): wi_luminance_rgba8(from.samples8, &share, mask.width)
            case (.rgba16, .luminance): wi_luminance_rgba16(from.samples16, &share, mask.width)
            }
        }
    }
}

/// Hides what a mask hides.
public struct MaskTransformer: ImageTransformer, Hashable {
    /// What is seen.
    public let mask: PixelMask

    /// Creates a transformer.
    public init(_ mask: PixelMask) { self.mask = mask }

    /// Name and all parameters.
    public var identity: String { "mask(\(mask.identity))" }

    /// Masks. The result is opaque only where the picture was and the mask is an opaque one of alpha.
    ///
    /// - Throws: a ``LimitError`` for a picture that is too large.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        try mask.cut(pixels, context: context.coding)
    }
}

extension ImageTransformer where Self == MaskTransformer {
    /// Shows what the alpha (or the luminance) of `pixels`, stretched to the picture, shows.
    public static func mask(_ pixels: PixelBuffer, channel: PixelMask.Channel = .alpha) -> Self {
        MaskTransformer(PixelMask(pixels, channel: channel))
    }
}
