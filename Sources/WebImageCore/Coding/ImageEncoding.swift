// SPDX-License-Identifier: MIT

/// What a picture is to be encoded as. What a format has no place for is left out; `Documentation/Formats.md` has a table.
public struct ImageEncoding: Sendable, Hashable {
    /// The format; ``ImageFormat/automatic`` chooses by what the picture needs.
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
    /// How finely colour is kept beside brightness (JPEG, AVIF, HEIF); nil is 4:4:4 from quality 90 on and 4:2:0 below, in
    /// HEIF always 4:2:0. Grey JPEGs have no colour to keep. Default nil.
    public var subsampling: Subsampling?
    /// Whether JPEG gets Huffman tables made for the picture: some per cent smaller for a second pass over it. Progressive
    /// JPEGs have them always. Default true.
    public var optimizesTables: Bool
    /// Whether WebP leaves transparent pixels as they are, which is black as pixels are premultiplied, instead of giving
    /// them the colours that pack best. Default false.
    public var isExact: Bool
    /// Pixels of the longer side of an embedded thumbnail, never more than the picture's (JPEG, HEIF); nil embeds none.
    /// Default nil.
    public var thumbnailSide: Int?
    /// Bytes that the file may have at most; nil sets no limit. Quality is lowered to 10 first, then pixels become
    /// fewer. Default nil.
    public var maxBytes: Int?
    /// Pixels of the longer side at most; larger pictures are reduced, none enlarged. Nil sets no limit. Default nil.
    public var maxPixelSize: Int?
    /// What of the picture's EXIF and XMP is written. Default nothing.
    public var metadata: MetadataPolicy

    /// Creates an encoding.
    public init(
        format: ImageFormat, quality: Int? = nil, isLossless: Bool = false, isProgressive: Bool = false,
        effort: Int? = nil, background: [UInt8] = [255, 255, 255], frames: Frames = .all, loopCount: Int? = nil,
        dithers: Bool = true, subsampling: Subsampling? = nil, optimizesTables: Bool = true, isExact: Bool = false,
        thumbnailSide: Int? = nil, maxBytes: Int? = nil, maxPixelSize: Int? = nil, metadata: MetadataPolicy = .strip
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
        self.subsampling = subsampling
        self.optimizesTables = optimizesTables
        self.isExact = isExact
        self.thumbnailSide = thumbnailSide
        self.maxBytes = maxBytes
        self.maxPixelSize = maxPixelSize
        self.metadata = metadata
    }

    /// A text that differs for every two encodings, for cache keys.
    public var identity: String {
        func text(_ value: Int?) -> String { value.map(String.init) ?? "-" }
        let fill = background.map(String.init).joined(separator: ",")
        // The length first: an app's own format may be called anything.
        return
            "\(format.rawValue.utf8.count):\(format):\(text(quality)):\(isLossless):\(isProgressive):\(text(effort)):"
            + "\(fill):\(frames):\(text(loopCount)):\(dithers):\(subsampling?.rawValue ?? "-"):\(optimizesTables):"
            + "\(isExact):\(text(thumbnailSide)):\(text(maxBytes)):\(text(maxPixelSize)):\(metadata)"
    }
}
