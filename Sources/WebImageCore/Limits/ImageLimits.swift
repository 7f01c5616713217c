// SPDX-License-Identifier: MIT

/// The resource limits for decoding an image.
///
/// The checks run in order of their cost: the encoded size, the claims of the header, the plausibility of the file
/// size, and finally the result of the decoder.
public struct ImageLimits: Sendable, Hashable, Codable {
    /// The maximum size of the encoded image, in bytes.
    public var maxEncodedBytes: Int
    /// The maximum product of width and height of decoded images, in pixels.
    ///
    /// Some files are reduced to the size of a request while they're decoded: JPEG, PNG, WebP, and TIFF files. For
    /// them, the limit applies to the reduced image. For other files, it applies to the size in the header.
    public var maxPixels: Int
    /// The maximum product of width and height in the header of a file, in pixels, regardless of the requested size.
    public var maxSourcePixels: Int
    /// The maximum width and height of decoded images, in pixels. It applies to the same sizes as ``maxPixels``.
    public var maxDimension: Int
    /// The maximum number of frames of an animation.
    public var maxFrames: Int
    /// The maximum product of width, height, and the number of frames that are in memory at the same time.
    public var maxAnimationPixels: Int
    /// The maximum number of decoders that the animations of the process keep between frames.
    ///
    /// An animation that plays keeps one decoder with its canvases, or two if it plays at two positions. If the limit is
    /// reached, the decoder that was used the longest time ago is closed, and its animation opens it again for the next
    /// frame. If all decoders were used within the last two seconds, only the first frame of further animations is
    /// available, and other frames fail with ``ImageError/LimitFailure/Kind/animationDecoderCount``. The same applies if
    /// the memory of all decoders would exceed four times ``maxDecodedBytes``. In a helper process, the limit applies to
    /// the animations of that process, which are at most 12.
    public var maxAnimationDecoders: Int
    /// The maximum size of the decoded pixels of one request, in bytes.
    public var maxDecodedBytes: Int
    /// The maximum processor time of one decode or of one transformer. A duration of zero or less ends every decode.
    ///
    /// The time that a thread waits for a processor doesn't count.
    public var maxDecodingTime: Duration
    /// The maximum processor time for encoding an image, including all attempts for ``ImageEncoding/maxByteCount``. A
    /// duration of zero or less ends every encode.
    public var maxEncodingTime: Duration
    /// A Boolean value that indicates whether files that are too small for the size they declare are rejected before
    /// decoding. The check applies to images of more than 4 megapixels.
    public var rejectsImplausibleFiles: Bool
    /// Creates limits with the values of ``desktop``. Set other values as properties.
    public init() {
        self.init(maxEncodedBytes: 32 << 20)
    }

    /// Creates limits with a value for each property. The default values are those of ``desktop``.
    @_disfavoredOverload
    package init(
        maxEncodedBytes: Int = 32 << 20,
        maxPixels: Int = 50_000_000,
        maxSourcePixels: Int = 400_000_000,
        maxDimension: Int = 16_384,
        maxFrames: Int = 2_000,
        maxAnimationPixels: Int = 200_000_000,
        maxAnimationDecoders: Int = 256,
        maxDecodedBytes: Int = 256 << 20,
        maxDecodingTime: Duration = .seconds(10),
        maxEncodingTime: Duration = .seconds(30),
        rejectsImplausibleFiles: Bool = true
    ) {
        self.maxEncodedBytes = maxEncodedBytes
        self.maxPixels = maxPixels
        self.maxSourcePixels = maxSourcePixels
        self.maxDimension = maxDimension
        self.maxFrames = maxFrames
        self.maxAnimationPixels = maxAnimationPixels
        self.maxAnimationDecoders = maxAnimationDecoders
        self.maxDecodedBytes = maxDecodedBytes
        self.maxDecodingTime = maxDecodingTime
        self.maxEncodingTime = maxEncodingTime
        self.rejectsImplausibleFiles = rejectsImplausibleFiles
    }

    /// The limits for desktop apps: 32 MiB of encoded data, 50 decoded megapixels, files of 400 megapixels, 2,000 frames,
    /// 10 seconds for decoding, and 30 seconds for encoding. This preset is the default.
    public static let desktop = ImageLimits()
    /// The limits for servers that accept untrusted images: 16 MiB of encoded data, 50 decoded megapixels, files of 100
    /// megapixels, one frame, 5 seconds for decoding, and 10 seconds for encoding.
    ///
    /// The preset of a manager for servers, which also decodes images of all formats in helper processes, is
    /// `ImageManager.Configuration.server`.
    public static let server = ImageLimits(
        maxEncodedBytes: 16 << 20, maxSourcePixels: 100_000_000, maxFrames: 1, maxAnimationPixels: 50_000_000,
        maxAnimationDecoders: 64, maxDecodingTime: .seconds(5), maxEncodingTime: .seconds(10))
    /// The limits for icons and avatars: 1 MiB of encoded data, 2,048 pixels per side, 2 seconds for
    /// decoding, and 5 seconds for encoding.
    public static let icon = ImageLimits(
        maxEncodedBytes: 1 << 20, maxPixels: 2_048 * 2_048, maxSourcePixels: 2_048 * 2_048, maxDimension: 2_048,
        maxFrames: 200, maxAnimationPixels: 2_048 * 2_048 * 4, maxDecodedBytes: 64 << 20, maxDecodingTime: .seconds(2),
        maxEncodingTime: .seconds(5))
    /// No limits except those of the formats and the machine. Use this preset only for trusted images.
    public static let unlimited = ImageLimits(
        maxEncodedBytes: .max, maxPixels: .max, maxSourcePixels: .max, maxDimension: .max, maxFrames: .max,
        maxAnimationPixels: .max, maxAnimationDecoders: .max,
        maxDecodedBytes: .max, maxDecodingTime: .unlimited, maxEncodingTime: .unlimited, rejectsImplausibleFiles: false)
}
