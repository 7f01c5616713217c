// SPDX-License-Identifier: MIT

/// What a picture may cost before it is refused. Checked from cheap to dear: encoded bytes, then the header's
/// claims, then plausibility, then the decoder's own result.
public struct Limits: Sendable, Hashable, Codable {
    /// Encoded bytes of one picture.
    public var maxEncodedBytes: Int
    /// Width × height in pixels.
    public var maxPixels: Int
    /// Pixels of each side.
    public var maxSide: Int
    /// Frames of an animation.
    public var maxFrames: Int
    /// Width × height × frames that are held at once.
    public var maxTotalPixels: Int
    /// Decoded bytes of one request.
    public var maxDecodedBytes: Int
    /// Wall-clock seconds one decode may take.
    public var maxSeconds: Double
    /// Whether files that are too small for the size they declare are refused before decoding (above 4 megapixels).
    public var checksPlausibility: Bool

    /// Creates limits; every default is that of ``desktop``.
    public init(
        maxEncodedBytes: Int = 32 << 20,
        maxPixels: Int = 50_000_000,
        maxSide: Int = 16_384,
        maxFrames: Int = 2_000,
        maxTotalPixels: Int = 200_000_000,
        maxDecodedBytes: Int = 256 << 20,
        maxSeconds: Double = 10,
        checksPlausibility: Bool = true
    ) {
        self.maxEncodedBytes = maxEncodedBytes
        self.maxPixels = maxPixels
        self.maxSide = maxSide
        self.maxFrames = maxFrames
        self.maxTotalPixels = maxTotalPixels
        self.maxDecodedBytes = maxDecodedBytes
        self.maxSeconds = maxSeconds
        self.checksPlausibility = checksPlausibility
    }

    /// For applications with a person in front: 32 MiB encoded, 50 megapixels, 2,000 frames. The default.
    public static let desktop = Limits()
    /// For servers that take pictures from anybody: 16 MiB encoded, 50 megapixels, one frame, 5 s.
    public static let server = Limits(
        maxEncodedBytes: 16 << 20, maxFrames: 1, maxTotalPixels: 50_000_000, maxSeconds: 5)
    /// For icons and avatars: 1 MiB encoded, 2,048 pixels a side, 2 s.
    public static let icon = Limits(
        maxEncodedBytes: 1 << 20, maxPixels: 2_048 * 2_048, maxSide: 2_048, maxFrames: 200,
        maxTotalPixels: 2_048 * 2_048 * 4, maxDecodedBytes: 64 << 20, maxSeconds: 2)
    /// None but what the formats and the machine set. Only for pictures of one's own.
    public static let unlimited = Limits(
        maxEncodedBytes: .max, maxPixels: .max, maxSide: .max, maxFrames: .max, maxTotalPixels: .max,
        maxDecodedBytes: .max, maxSeconds: .infinity, checksPlausibility: false)
}
