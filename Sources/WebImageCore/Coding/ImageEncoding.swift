// SPDX-License-Identifier: MIT

/// The options for encoding an image. Options that a format doesn't support are ignored. For a table, see the article
/// “Formats”.
public struct ImageEncoding: Sendable, Hashable {
    /// The format. If the value is `nil`, the content of the image determines the format. See ``automatic``.
    public var format: ImageFormat?
    /// The quality of lossy formats, from 1 (worst) to 100 (best). If the value is `nil`, the format uses its default.
    public var quality: Int?
    /// A Boolean value that indicates whether the encoding preserves the pixels exactly, if the format supports both
    /// kinds. The default is `false`.
    public var isLossless = false
    /// A Boolean value that indicates whether JPEG files and lossless still images in JPEG XL are progressive. The
    /// default is `false`.
    public var isProgressive = false
    /// The effort of the compressor, from 0 (fast) to 9 (small). If the value is `nil`, the codec library uses its
    /// default. For large HEIF images with ``maxByteCount``, `nil` means 5, because the search encodes several files.
    public var effort: Int?
    /// The background of transparent pixels if the format has no alpha. The alpha of the color is ignored. The default
    /// is white.
    public var background = PixelColor.white
    /// The frames of an animation to write. The default is all frames.
    public var frames = FrameSelection.all
    /// The number of times to play the animation, where 0 repeats indefinitely. The default is `nil`, which keeps the
    /// loop count.
    ///
    /// If the format can't store the number, the encoder writes the nearest one: at most 65,536 plays in GIF, 65,535 in
    /// WebP, and 2,147,483,647 in animated PNG files.
    public var loopCount: Int?
    /// A Boolean value that indicates whether dithering approximates the colors that a palette doesn't contain (GIF).
    /// The default is `true`.
    public var usesDithering = true
    /// The chroma subsampling (JPEG, AVIF, HEIF).
    ///
    /// The default is `nil`, which means 4:4:4 from quality 90 and 4:2:0 below it. If the color space of the pixels
    /// exceeds Display P3, as Adobe RGB does, `nil` means 4:4:4 at every quality, and AVIF files have 10 bits per sample.
    /// For HEIF, `nil` always means 4:2:0.
    /// Grayscale JPEG files have no chroma.
    public var chromaSubsampling: ChromaSubsampling?
    /// A Boolean value that indicates whether JPEG files have optimized Huffman tables. They make the file a few
    /// percent smaller and require a second pass. Progressive JPEG files always have them. The default is `true`.
    public var optimizesHuffmanTables = true
    /// A Boolean value that indicates whether WebP preserves the color of transparent pixels, which is black because
    /// pixels are premultiplied. Otherwise, the encoder replaces it with colors that compress best. The default is
    /// `false`.
    public var isExact = false
    /// The length of the longer side of an embedded thumbnail in pixels (JPEG, HEIF). A thumbnail is never larger than
    /// the image. The default is `nil`, which embeds no thumbnail.
    public var thumbnailDimension: Int?
    /// The sizes of the images in an icon, in pixels of the longer side, at most 64 sizes from 1 to 256 (ICO). The
    /// encoder skips sizes that are larger than the image. The default is an empty array, which means one image at its
    /// original size.
    public var iconDimensions: [Int] = []
    /// The maximum size of the file in bytes. To meet it, the encoder first lowers the quality down to 10 and then
    /// reduces the image. The default is `nil`, which sets no limit.
    public var maxByteCount: Int?
    /// The maximum length of the longer side, in pixels. Larger images are reduced, and smaller images aren't
    /// enlarged. The default is `nil`, which sets no limit.
    public var maxDimension: Int?
    /// The EXIF and XMP metadata to write. The default is none.
    public var metadata = MetadataPolicy.strip
    /// A Boolean value that indicates whether the file keeps a high dynamic range, if the image has one and the format
    /// supports it. The default is `true`.
    ///
    /// JPEG files contain the gain map of the image, with the metadata of Ultra HDR and of ISO 21496-1. PNG, AVIF, and
    /// JPEG XL files contain the pixels in PQ with the primaries of BT.2020 unless ``color`` requests a color space,
    /// because the supported versions of libavif can't write gain maps. These formats also keep samples of PQ and HLG,
    /// with their code points. Files in other formats contain the image in standard dynamic range.
    public var preservesDynamicRange = true
    /// The kind of image for which the lossy encoder of WebP selects its filters and segments. The default is `nil`,
    /// which means the defaults of libwebp.
    public var preset: Preset?
    /// The color space of the encoded image. The default is ``ImageColorSpace/source``.
    ///
    /// With ``ImageColorSpace/source``, the encoder keeps the gamut of the pixels. It describes them with code points or
    /// with the smallest equivalent profile. It converts them to sRGB only if the format can't describe other color
    /// spaces (GIF, BMP, ICO, QOI, and Netpbm). PQ and HLG are mapped to Display P3 if the file doesn't keep them (see
    /// ``preservesDynamicRange``). The other values convert the pixels.
    public var color = ImageColorSpace.source

    /// The visual quality to reach with still images in JPEG, WebP, AVIF, and JPEG XL, from 1 to 100. See
    /// ``looks(_:)``. The default is `nil`, which encodes with ``quality``.
    public var visualScore: Int?

    /// The formats from which ``automatic`` chooses, or `nil` for its own choice. The default is `nil`.
    ///
    /// The source keeps its format if it's one of them. Otherwise, animations use GIF, images with transparency use PNG,
    /// and other images use JPEG.
    package var automaticFormats: Set<ImageFormat>?

    /// Creates an encoding with the default options of the format. Set the other options as properties.
    ///
    /// - Parameter format: The format. If the value is `nil`, the content of the image determines the format.
    public init(format: ImageFormat?) {
        self.init(format: format, quality: nil)
    }

    /// Creates an encoding with the options that most formats have.
    @_disfavoredOverload
    package init(
        format: ImageFormat?, quality: Int? = nil, isLossless: Bool = false, isProgressive: Bool = false,
        effort: Int? = nil
    ) {
        self.format = format
        self.quality = quality
        self.isLossless = isLossless
        self.isProgressive = isProgressive
        self.effort = effort
    }

    /// Returns this encoding with another value of an option.
    package func with<Value>(_ option: WritableKeyPath<Self, Value>, _ value: Value) -> ImageEncoding {
        var encoding = self
        encoding[keyPath: option] = value
        return encoding
    }

    /// A unique string for the encoding, for use in cache keys.
    package var identity: String {
        func text(_ value: Int?) -> String { value.map(String.init) ?? "-" }
        let format = formatOrAutomatic
        // Prefix the format with its length, because the name of a custom format can contain any character.
        return
            "\(format.rawValue.utf8.count):\(format):\(text(quality)):\(isLossless):\(isProgressive):\(text(effort)):"
            + "\(background.hexadecimal):\(frames):\(text(loopCount)):\(usesDithering):"
            + "\(chromaSubsampling?.rawValue ?? "-"):\(optimizesHuffmanTables):\(isExact):\(text(thumbnailDimension)):"
            + "\(iconDimensions):\(text(maxByteCount)):\(text(maxDimension)):\(metadata)"
            // Encodings without these options keep the identities that they had before the options existed.
            + (preset.map { ":\($0.rawValue)" } ?? "")
            + (color == .source ? "" : ":color=\(color.rawValue)")
            + (visualScore.map { ":looks=\($0)" } ?? "")
            + (preservesDynamicRange ? "" : ":sdr")
            + (automaticFormats.map { ":of=\($0.map(\.rawValue).sorted().joined(separator: ","))" } ?? "")
    }
}
