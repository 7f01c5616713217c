// SPDX-License-Identifier: MIT

extension ImageEncoding {
    /// The chroma subsampling, in the notation of ITU-R BT.601.
    public enum ChromaSubsampling: String, Sendable, Hashable, CaseIterable {
        /// Full chroma resolution.
        case yuv444 = "4:4:4"
        /// Half the chroma columns.
        case yuv422 = "4:2:2"
        /// Half the chroma columns and half the chroma rows.
        case yuv420 = "4:2:0"
    }

    /// The EXIF and XMP metadata to write.
    ///
    /// The policy doesn't affect the color profile. The encoder writes the profile if the pixels use it, and never if
    /// they were converted to sRGB.
    public enum MetadataPolicy: String, Sendable, Hashable, CaseIterable {
        /// No metadata. This value is the default.
        case strip
        /// Both blocks if the format supports them. The orientation is set to upright, the sizes are updated, and an
        /// existing thumbnail is omitted.
        case keep
        /// Like ``keep``, but without the GPS directory, without the maker note, and without XMP that mentions a
        /// location.
        case keepExceptLocation
        /// Only the author and the copyright in EXIF.
        case keepCopyright
    }
}

extension ImageEncoding {
    /// A kind of image for which an encoder selects its parameters.
    ///
    /// The presets set the spatial noise shaping, the strength and the sharpness of the deblocking filter, and the number
    /// of segments of lossy WebP. They don't change the quality and the effort. Lossless encodings ignore them.
    public enum Preset: String, Sendable, Hashable, CaseIterable {
        /// An indoor photo or a portrait.
        case picture
        /// An outdoor photo with natural light.
        case photo
        /// A drawing with hand-drawn lines and high contrast.
        case drawing
        /// A small colorful image.
        case icon
        /// An image of text.
        case text
    }
}

extension ImageEncoding {
    /// A JPEG encoding with a quality of 90.
    public static var jpeg: ImageEncoding { .jpeg(quality: 90) }

    /// Returns a JPEG encoding with a quality from 1 to 100. By default, the file isn't progressive.
    public static func jpeg(quality: Int, isProgressive: Bool = false) -> ImageEncoding {
        ImageEncoding(format: .jpeg, quality: quality, isProgressive: isProgressive)
    }

    /// A PNG encoding with the default effort of zlib.
    public static var png: ImageEncoding { ImageEncoding(format: .png, isLossless: true) }

    /// Returns a PNG encoding with an effort from 0 to 9.
    public static func png(effort: Int) -> ImageEncoding {
        ImageEncoding(format: .png, isLossless: true, effort: effort)
    }

    /// An animated PNG encoding with the default effort of zlib. Still images become still PNG files.
    public static var apng: ImageEncoding { ImageEncoding(format: .apng, isLossless: true) }

    /// A GIF encoding with at most 256 colors per frame. The file is animated if the image is.
    public static var gif: ImageEncoding { ImageEncoding(format: .gif) }

    /// A WebP encoding with a quality of 80. The file is animated if the image is.
    public static var webp: ImageEncoding { .webp(quality: 80) }

    /// Returns a WebP encoding with a quality from 1 to 100.
    public static func webp(quality: Int) -> ImageEncoding { ImageEncoding(format: .webp, quality: quality) }

    /// An AVIF encoding with the default quality of the format. It requires the package trait `AVIF`.
    public static var avif: ImageEncoding { ImageEncoding(format: .avif) }

    /// Returns an AVIF encoding with a quality from 1 to 100. It requires the package trait `AVIF`.
    public static func avif(quality: Int) -> ImageEncoding { ImageEncoding(format: .avif, quality: quality) }

    /// A HEIC encoding with the default quality of the format. It requires the package trait `HEIF`.
    public static var heic: ImageEncoding { ImageEncoding(format: .heif) }

    /// Returns a HEIC encoding with a quality from 1 to 100. It requires the package trait `HEIF`.
    public static func heic(quality: Int) -> ImageEncoding { ImageEncoding(format: .heif, quality: quality) }

    /// A JPEG XL encoding with the default quality of the format. It requires the package trait `JXL`.
    public static var jxl: ImageEncoding { ImageEncoding(format: .jxl) }

    /// Returns a JPEG XL encoding with a quality from 1 to 100. It requires the package trait `JXL`.
    public static func jxl(quality: Int) -> ImageEncoding { ImageEncoding(format: .jxl, quality: quality) }

    /// A TIFF encoding. It requires the package trait `TIFF`.
    public static var tiff: ImageEncoding { ImageEncoding(format: .tiff) }

    /// A Windows bitmap encoding.
    public static var bmp: ImageEncoding { ImageEncoding(format: .bmp) }

    /// A QOI encoding.
    public static var qoi: ImageEncoding { ImageEncoding(format: .qoi) }

    /// A PPM encoding (`P6` of Netpbm), which has no alpha. It has 16 bits per sample if the pixels do.
    public static var ppm: ImageEncoding { ImageEncoding(format: .ppm) }

    /// A PGM encoding (`P5` of Netpbm), which has neither colors nor alpha. It has 16 bits per sample if the pixels do.
    public static var pgm: ImageEncoding { ImageEncoding(format: .pgm) }

    /// A PAM encoding (`P7` of Netpbm), which preserves every pixel. It has 16 bits per sample if the pixels do.
    public static var pam: ImageEncoding { ImageEncoding(format: .pam) }

    /// Returns a Windows icon encoding.
    ///
    /// - Parameter dimensions: The sizes of the images in the icon, in pixels of the longer side. The default is an
    ///   empty array, which means one image at its original size.
    public static func ico(dimensions: [Int] = []) -> ImageEncoding {
        ImageEncoding(format: .ico).with(\.iconDimensions, dimensions)
    }

    /// Returns the same encoding with a target for the visual quality instead of a fixed quality. For example,
    /// `.jpeg.looks(75)`.
    ///
    /// The score has the scale of SSIMULACRA2. At 90, a difference from the original is hardly visible, 70 is high
    /// quality, and 50 is medium quality. The encoder lowers the quality of simple images and raises that of difficult
    /// ones, so the images of a collection look equally good. It encodes an image two or three times on average and seven
    /// times at most. The score of most photographs is within 2 points of the target. JPEG files also have coefficients
    /// and scans that are optimized for their size, so they may be progressive. Animations, lossless encodings, and other
    /// formats ignore the score.
    public func looks(_ score: Int) -> ImageEncoding {
        var encoding = self
        encoding.visualScore = score
        return encoding
    }

    /// The same encoding without loss, if the format supports it. For example, `.webp.lossless`.
    public var lossless: ImageEncoding {
        var encoding = self
        encoding.isLossless = true
        return encoding
    }

    /// An encoding whose format depends on the image.
    ///
    /// If the original data is available and the image is unmodified, the original is used. Otherwise, the encoder
    /// chooses the format:
    /// - Animations use WebP, or GIF if they come from a GIF file or if no coder encodes WebP.
    /// - Images with transparency use PNG.
    /// - Other images use JPEG with a quality of 90.
    public static let automatic = ImageEncoding(format: nil)

    /// The format, or a format with the name `automatic` if the content of the image determines it. Coders receive only
    /// encodings with a format.
    package var formatOrAutomatic: ImageFormat { format ?? ImageFormat(rawValue: "automatic") }
}
