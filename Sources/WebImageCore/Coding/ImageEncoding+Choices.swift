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
    }
}

extension ImageEncoding {
    /// Returns a JPEG encoding with a quality from 1 to 100. The default is 90.
    public static func jpeg(quality: Int = 90, isProgressive: Bool = false) -> ImageEncoding {
        ImageEncoding(format: .jpeg, quality: quality, isProgressive: isProgressive)
    }

    /// Returns a PNG encoding with an effort from 0 to 9. The default is that of zlib.
    public static func png(effort: Int? = nil) -> ImageEncoding {
        ImageEncoding(format: .png, isLossless: true, effort: effort)
    }

    /// Returns a WebP encoding with a quality from 1 to 100. The default is 80.
    public static func webp(quality: Int = 80, lossless: Bool = false) -> ImageEncoding {
        ImageEncoding(format: .webp, quality: quality, isLossless: lossless)
    }

    /// Returns a GIF encoding with at most 256 colors per frame. The file is animated if the image is.
    public static func gif(usesDithering: Bool = true, loopCount: Int? = nil) -> ImageEncoding {
        ImageEncoding(format: .gif, loopCount: loopCount, usesDithering: usesDithering)
    }

    /// Returns an animated PNG encoding with an effort from 0 to 9, by default that of zlib. Still images become still
    /// PNG files.
    public static func apng(effort: Int? = nil, loopCount: Int? = nil) -> ImageEncoding {
        ImageEncoding(format: .apng, isLossless: true, effort: effort, loopCount: loopCount)
    }

    /// An encoding whose format depends on the image.
    ///
    /// If the original data is available and the image is unmodified, the original is used. Otherwise, the encoder
    /// chooses the format:
    /// - Animations use WebP, or GIF if they come from a GIF file or if no coder encodes WebP.
    /// - Images with transparency use PNG.
    /// - Other images use JPEG with a quality of 90.
    public static let automatic = ImageEncoding(format: .automatic)
}

extension ImageFormat {
    /// A placeholder that stands for the most suitable format in an ``ImageEncoding``. See
    /// ``ImageEncoding/automatic``.
    public static let automatic = ImageFormat(rawValue: "automatic")
}
