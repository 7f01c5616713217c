// SPDX-License-Identifier: MIT

/// The options for decoding an image, which include everything that affects its pixels.
public struct ImageDecodingOptions: Sendable, Hashable {
    /// The requested size. The default is `nil`, which means the size of the image.
    public var size: TargetSize?
    /// The number of pixels per point of the result. The default is 1.
    public var scale: Double
    /// The frames to decode. The default is ``FrameSelection/all``.
    ///
    /// Coders receive only ``FrameSelection/all``, ``FrameSelection/first``, and ``FrameSelection/index(_:)``. For the
    /// other cases, ``ImageCoderRegistry`` chooses among the frames that the coder decodes on demand.
    public var frames: FrameSelection
    /// A Boolean value that indicates whether the result has 16 bits per sample if the source has more than 8 bits
    /// (PNG, TIFF, AVIF, HEIF, JPEG XL). The default is `false`, which always produces 8 bits.
    ///
    /// The 16-bit pixels have the format ``PixelFormat/rgba16``. Samples of 10 and 12 bits are scaled to the full
    /// range, and floating-point samples are clamped to 0...1. The frames of animated PNG files, TIFF images with inks,
    /// palettes, or YCbCr, and previews always have 8 bits.
    public var preservesBitDepth: Bool
    /// A Boolean value that indicates whether colors are converted to sRGB. The default is `true`.
    ///
    /// If the value is `false`, the samples remain in the color space of the file. To convert them yourself, use the
    /// profile or the code points in the metadata.
    public var convertsToSRGB: Bool
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

    /// Creates options. Set the other options as properties.
    ///
    /// - Parameters:
    ///   - size: The requested size. The default is `nil`, which means the size of the image.
    ///   - frames: The frames to decode. The default is all frames.
    public init(size: TargetSize? = nil, frames: FrameSelection = .all) {
        self.init(size: size, scale: 1, frames: frames)
    }

    /// Creates options with a value for each property.
    @_disfavoredOverload
    package init(
        size: TargetSize? = nil, scale: Double = 1, frames: FrameSelection = .all, preservesBitDepth: Bool = false,
        convertsToSRGB: Bool = true, resampling: ResamplingFilter = .lanczos3, allowsPartialData: Bool = false,
        formatHint: ImageFormat? = nil, coderOptions: [String: String] = [:]
    ) {
        self.size = size
        self.scale = scale
        self.frames = frames
        self.preservesBitDepth = preservesBitDepth
        self.convertsToSRGB = convertsToSRGB
        self.resampling = resampling
        self.allowsPartialData = allowsPartialData
        self.formatHint = formatHint
        self.coderOptions = coderOptions
    }
}
