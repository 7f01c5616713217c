// SPDX-License-Identifier: MIT

/// How a picture is to be decoded: everything that changes its pixels.
public struct DecodeOptions: Sendable, Hashable {
    /// Which frames of an animation.
    public enum Frames: Sendable, Hashable {
        /// All, on demand. The default.
        case all
        /// The first only, as a still.
        case first
        /// The one with this index (from 0), as a still.
        case single(Int)
    }

    /// Bits per sample of the result.
    public enum Depth: Sendable, Hashable {
        /// 8. The default.
        case eight
        /// 16 where the source has more than 8 (PNG, TIFF, AVIF, HEIF, JPEG XL): ``PixelFormat/rgba16``, samples of 10
        /// and 12 bits scaled to the whole range, floating-point ones cut to 0...1. Otherwise 8, as for all frames of
        /// animated PNGs, TIFF pictures of inks, palettes and YCbCr, and previews.
        case source
    }

    /// What the colours of the result mean.
    public enum Color: Sendable, Hashable {
        /// sRGB, whatever the file's colours are. The default.
        case sRGB
        /// The file's own: samples are left as they are, for those who want to convert them by themselves with the
        /// profile or the code points of the metadata.
        case source
    }

    /// How pixels are reduced.
    public enum Reduction: Sendable, Hashable {
        /// Lanczos-3 on premultiplied sRGB values. The default.
        case lanczos
        /// Exact area average.
        case box
    }

    /// Wanted size; nil is the picture's own.
    public var size: TargetSize?
    /// Pixels per point of the result. Default 1.
    public var scale: Double
    /// Which frames. Default all.
    public var frames: Frames
    /// Bits per sample. Default 8.
    public var depth: Depth
    /// What the colours of the result mean. Default sRGB.
    public var color: Color
    /// How pixels are reduced. Default Lanczos-3.
    public var reduction: Reduction
    /// Whether truncated data gives what could be decoded instead of an error. Default false.
    public var allowsPartial: Bool
    /// The format where the bytes alone cannot tell: for an app's own coder. Of no effect where the bytes are those of a
    /// known picture format, and for the formats that are always told by their bytes. Default nil; requests take the
    /// extension of the URL's path (`tga`) then.
    public var formatHint: ImageFormat?
    /// Options of an app's own coder, by name. They enter the cache key.
    public var extras: [String: String]
    /// Which coder a request has of its own; nil where the registry chooses. It enters the cache key.
    package var coderIdentifier: String?

    /// Creates options.
    public init(
        size: TargetSize? = nil, scale: Double = 1, frames: Frames = .all, depth: Depth = .eight,
        color: Color = .sRGB, reduction: Reduction = .lanczos, allowsPartial: Bool = false,
        formatHint: ImageFormat? = nil,
        extras: [String: String] = [:]
    ) {
        self.size = size
        self.scale = scale
        self.frames = frames
        self.depth = depth
        self.color = color
        self.reduction = reduction
        self.allowsPartial = allowsPartial
        self.formatHint = formatHint
        self.extras = extras
    }
}
