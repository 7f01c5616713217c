// SPDX-License-Identifier: MIT

/// What a picture is to be encoded as.
public struct ImageEncoding: Sendable, Hashable {
    /// Which frames of an animation are written.
    public enum Frames: Sendable, Hashable {
        /// All where the format has animations, otherwise the poster. The default.
        case all
        /// The first only, as a still.
        case first
        /// Those with these indices (from 0); a single one as a still.
        case range(Range<Int>)
        /// Those with these indices (from 0) in this order; a single one as a still.
        case list([Int])
    }

    /// The format.
    public var format: ImageFormat
    /// 1 (worst) to 100 (best) for lossy formats; nil is the format's default.
    public var quality: Int?
    /// Whether pixels must come back unchanged, where the format has the choice. Default false.
    public var isLossless: Bool
    /// Progressive JPEG. Default false.
    public var isProgressive: Bool
    /// Effort of the compressor, 0 (fast) to 9 (small); nil is the library's default.
    public var effort: Int?
    /// Red, green and blue laid under transparent pixels where the format has no alpha. Default white.
    public var background: [UInt8]
    /// Which frames of an animation are written. Default all.
    public var frames: Frames
    /// How often the animation is to play, 0 for ever; nil is as often as before. Default nil.
    public var loopCount: Int?
    /// Whether colours that a palette does not have are spread over neighbouring pixels (GIF). Default true.
    public var dithers: Bool

    /// Creates an encoding.
    public init(
        format: ImageFormat, quality: Int? = nil, isLossless: Bool = false, isProgressive: Bool = false,
        effort: Int? = nil, background: [UInt8] = [255, 255, 255], frames: Frames = .all, loopCount: Int? = nil,
        dithers: Bool = true
    ) {
        self.format = format
        self.quality = quality
        self.isLossless = isLossless
        self.isProgressive = isProgressive
        self.effort = effort
        self.background = background
        self.frames = frames
        self.loopCount = loopCount
        self.dithers = dithers
    }

    /// JPEG; quality 1 to 100, default 90.
    public static func jpeg(quality: Int = 90, progressive: Bool = false) -> ImageEncoding {
        ImageEncoding(format: .jpeg, quality: quality, isProgressive: progressive)
    }

    /// PNG; effort 0 to 9, default zlib's.
    public static func png(effort: Int? = nil) -> ImageEncoding {
        ImageEncoding(format: .png, isLossless: true, effort: effort)
    }

    /// WebP; quality 1 to 100, default 80.
    public static func webp(quality: Int = 80, lossless: Bool = false) -> ImageEncoding {
        ImageEncoding(format: .webp, quality: quality, isLossless: lossless)
    }

    /// GIF with at most 256 colours a frame, animated where the picture is.
    public static func gif(dithers: Bool = true, loopCount: Int? = nil) -> ImageEncoding {
        ImageEncoding(format: .gif, loopCount: loopCount, dithers: dithers)
    }

    /// Animated PNG, a still PNG where the picture is a still; effort 0 to 9, default zlib's.
    public static func apng(effort: Int? = nil, loopCount: Int? = nil) -> ImageEncoding {
        ImageEncoding(format: .apng, isLossless: true, effort: effort, loopCount: loopCount)
    }

    /// A text that differs for every two encodings, for cache keys.
    public var identity: String {
        let fill = background.map(String.init).joined(separator: ",")
        return "\(format):\(quality.map(String.init) ?? "-"):\(isLossless):\(isProgressive):"
            + "\(effort.map(String.init) ?? "-"):\(fill):\(frames):\(loopCount.map(String.init) ?? "-"):\(dithers)"
    }
}
