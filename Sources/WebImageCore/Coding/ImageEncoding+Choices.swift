// SPDX-License-Identifier: MIT

extension ImageEncoding {
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

    /// How many samples of colour there are beside four of brightness in a row, in words of ITU-R BT.601.
    public enum Subsampling: String, Sendable, Hashable, CaseIterable {
        /// Colour in full.
        case yuv444 = "4:4:4"
        /// Half the columns.
        case yuv422 = "4:2:2"
        /// Half the columns, half the rows.
        case yuv420 = "4:2:0"
    }

    /// What of a picture's EXIF and XMP is written. The colour profile is no matter of this: it is written where the pixels
    /// are in it, and never where they were converted to sRGB.
    public enum MetadataPolicy: String, Sendable, Hashable, CaseIterable {
        /// Nothing. The default.
        case strip
        /// Both, as far as the format has a place: orientation set to upright, sizes to those written, an old thumbnail
        /// left out.
        case keep
        /// As ``keep``, without the GPS directory and the note of the camera's maker, and without XMP that mentions a place.
        case keepWithoutLocation
    }
}

extension ImageEncoding {
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

    /// What the picture needs: the original bytes where they are given and nothing changed, else WebP for animations (GIF
    /// where no coder writes WebP), PNG for pictures with transparency, JPEG of quality 90 for others.
    public static let automatic = ImageEncoding(format: .automatic)
}

extension ImageFormat {
    /// Not a format but the wish for the one that fits, for ``ImageEncoding``; see ``ImageEncoding/automatic``.
    public static let automatic = ImageFormat(rawValue: "automatic")
}
