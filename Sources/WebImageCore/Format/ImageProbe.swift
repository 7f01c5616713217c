// SPDX-License-Identifier: MIT

/// What the first bytes of a picture say about it, read without decoding anything.
public struct ImageProbe: Sendable, Hashable {
    /// What the bytes are.
    public var format: ImageFormat
    /// Width and height as stored.
    public var rawSize: PixelSize
    /// The part of the stored picture that is shown, before it is turned (`clap` of HEIF and AVIF); nil for all of it.
    public var cleanAperture: PixelSize?
    /// The orientation the file asks for.
    public var orientation: Orientation
    /// Bits per sample.
    public var depth: Int
    /// Whether the file can carry transparency.
    public var hasAlpha: Bool
    /// Frames (for icons, TIFF and HEIF: pictures in the file); a lower bound unless `frameCountIsExact`.
    public var frameCount: Int
    /// Whether `frameCount` is final.
    public var frameCountIsExact: Bool
    /// How often an animation plays, as stored, 0 for ever; 1 for stills.
    public var loopCount: Int
    /// Whether an ICC profile is embedded.
    public var hasICCProfile: Bool
    /// The colours that the file names by number (`cICP` of PNG, `nclx` of AVIF and HEIF); nil where it names none.
    public var codePoints: ColorCodePoints?
    /// Progressive JPEG, interlaced PNG or GIF.
    public var isProgressive: Bool
    /// The smallest number of bytes a whole file with this header can have; 0 where the format has no such bound.
    public var smallestFile: Int

    /// Creates a probe result.
    public init(
        format: ImageFormat, rawSize: PixelSize, orientation: Orientation = .up, depth: Int = 8,
        hasAlpha: Bool = false, frameCount: Int = 1, frameCountIsExact: Bool = true, loopCount: Int = 1,
        hasICCProfile: Bool = false, isProgressive: Bool = false, smallestFile: Int = 0,
        cleanAperture: PixelSize? = nil, codePoints: ColorCodePoints? = nil
    ) {
        self.format = format
        self.rawSize = rawSize
        self.orientation = orientation
        self.depth = depth
        self.hasAlpha = hasAlpha
        self.frameCount = frameCount
        self.frameCountIsExact = frameCountIsExact
        self.loopCount = loopCount
        self.hasICCProfile = hasICCProfile
        self.isProgressive = isProgressive
        self.smallestFile = smallestFile
        self.cleanAperture = cleanAperture
        self.codePoints = codePoints
    }

    /// Upright width and height of what is shown.
    public var size: PixelSize { orientation.upright(cleanAperture ?? rawSize) }
}

/// The answer of a probe of the beginning of a file.
public enum ProbeOutcome: Sendable, Hashable {
    /// The header is known.
    case found(ImageProbe)
    /// At least so many bytes in all are needed to say more.
    case needsMore(byteCount: Int)
    /// These bytes are no picture of a known format, break its rules (family 4xxx), or have parts beyond all
    /// bounds (``LimitError/Kind/structure``).
    case failed(ImageError)
}
