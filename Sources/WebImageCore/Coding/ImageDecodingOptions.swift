// SPDX-License-Identifier: MIT

/// The options for decoding an image, which include everything that affects its pixels.
public struct ImageDecodingOptions: Sendable, Hashable {
    /// The frames of an animation to decode.
    public enum Frames: Sendable, Hashable {
        /// All frames, decoded on demand. This value is the default.
        case all
        /// Only the first frame, as a still image.
        case first
        /// Only the frame with this index, counted from 0, as a still image.
        case index(Int)
    }

    /// The number of bits per sample of the result.
    public enum Depth: Sendable, Hashable {
        /// 8 bits. This value is the default.
        case eight
        /// 16 bits if the source has more than 8 bits (PNG, TIFF, AVIF, HEIF, JPEG XL), otherwise 8 bits.
        ///
        /// The 16-bit pixels have the format ``PixelFormat/rgba16``. Samples of 10 and 12 bits are scaled to the full
        /// range, and floating-point samples are clamped to 0...1. The frames of animated PNG files, TIFF images with
        /// inks, palettes, or YCbCr, and previews always have 8 bits.
        case source
    }

    /// The color space of the result.
    public enum Color: Sendable, Hashable {
        /// sRGB, regardless of the color space of the file. This value is the default.
        case sRGB
        /// The color space of the file, without conversion. To convert the samples yourself, use the profile or the
        /// code points in the metadata.
        case source
    }

    /// The requested size. The default is `nil`, which means the size of the image.
    public var size: TargetSize?
    /// The number of pixels per point of the result. The default is 1.
    public var scale: Double
    /// The frames to decode. The default is all frames.
    public var frames: Frames
    /// The number of bits per sample. The default is 8.
    public var depth: Depth
    /// The color space of the result. The default is sRGB.
    public var color: Color
    /// The resampling filter for reduced images. The default is Lanczos-3.
    public var resampling: ResamplingFilter
    /// A Boolean value that indicates whether truncated data produces a partial image instead of an error. The default
    /// is `false`.
    public var allowsPartialData: Bool
    /// The format of data that content sniffing doesn't recognize, for custom coders.
    ///
    /// The hint has no effect if the data is in a known image format, or if sniffing always recognizes the hinted
    /// format. The default is `nil`, in which case requests use the path extension of the URL, for example `tga`.
    public var formatHint: ImageFormat?
    /// Options for custom coders by name. They're part of the cache key.
    public var coderOptions: [String: String]
    /// The identifier of the coder that the request specifies, or `nil` if the registry chooses the coder. It's part
    /// of the cache key.
    package var coderIdentifier: String?

    /// Creates options.
    public init(
        size: TargetSize? = nil, scale: Double = 1, frames: Frames = .all, depth: Depth = .eight,
        color: Color = .sRGB, resampling: ResamplingFilter = .lanczos3, allowsPartialData: Bool = false,
        formatHint: ImageFormat? = nil,
        coderOptions: [String: String] = [:]
    ) {
        self.size = size
        self.scale = scale
        self.frames = frames
        self.depth = depth
        self.color = color
        self.resampling = resampling
        self.allowsPartialData = allowsPartialData
        self.formatHint = formatHint
        self.coderOptions = coderOptions
    }
}
