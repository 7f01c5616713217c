// SPDX-License-Identifier: MIT

/// The resource limits for decoding an image.
///
/// The checks run in order of their cost: the encoded size, the claims of the header, the plausibility of the file
/// size, and finally the result of the decoder.
public struct ImageLimits: Sendable, Hashable, Codable {
    /// The maximum size of the encoded image, in bytes.
    public var maxEncodedBytes: Int
    /// The maximum product of width and height, in pixels.
    public var maxPixels: Int
    /// The maximum width and height, in pixels.
    public var maxDimension: Int
    /// The maximum number of frames of an animation.
    public var maxFrames: Int
    /// The maximum product of width, height, and the number of frames that are in memory at the same time.
    public var maxAnimationPixels: Int
    /// The maximum size of the decoded pixels of one request, in bytes.
    public var maxDecodedBytes: Int
    /// The maximum wall-clock time of one decode, in seconds.
    public var maxDecodingTime: Double
    /// A Boolean value that indicates whether files that are too small for the size they declare are rejected before
    /// decoding. The check applies to images of more than 4 megapixels.
    public var rejectsImplausibleFiles: Bool

    /// Creates limits. The default values are those of ``desktop``.
    public init(
        maxEncodedBytes: Int = 32 << 20,
        maxPixels: Int = 50_000_000,
        maxDimension: Int = 16_384,
        maxFrames: Int = 2_000,
        maxAnimationPixels: Int = 200_000_000,
        maxDecodedBytes: Int = 256 << 20,
        maxDecodingTime: Double = 10,
        rejectsImplausibleFiles: Bool = true
    ) {
        self.maxEncodedBytes = maxEncodedBytes
        self.maxPixels = maxPixels
        self.maxDimension = maxDimension
        self.maxFrames = maxFrames
        self.maxAnimationPixels = maxAnimationPixels
        self.maxDecodedBytes = maxDecodedBytes
        self.maxDecodingTime = maxDecodingTime
        self.rejectsImplausibleFiles = rejectsImplausibleFiles
    }

    /// The limits for desktop apps: 32 MiB of encoded data, 50 megapixels, and 2,000 frames. This preset is the
    /// default.
    public static let desktop = ImageLimits()
    /// The limits for servers that accept untrusted images: 16 MiB of encoded data, 50 megapixels, one frame, and 5
    /// seconds.
    public static let server = ImageLimits(
        maxEncodedBytes: 16 << 20, maxFrames: 1, maxAnimationPixels: 50_000_000, maxDecodingTime: 5)
    /// The limits for icons and avatars: 1 MiB of encoded data, 2,048 pixels per side, and 2 seconds.
    public static let icon = ImageLimits(
        maxEncodedBytes: 1 << 20, maxPixels: 2_048 * 2_048, maxDimension: 2_048, maxFrames: 200,
        maxAnimationPixels: 2_048 * 2_048 * 4, maxDecodedBytes: 64 << 20, maxDecodingTime: 2)
    /// No limits except those of the formats and the machine. Use this preset only for trusted images.
    public static let unlimited = ImageLimits(
        maxEncodedBytes: .max, maxPixels: .max, maxDimension: .max, maxFrames: .max, maxAnimationPixels: .max,
        maxDecodedBytes: .max, maxDecodingTime: .infinity, rejectsImplausibleFiles: false)
}
