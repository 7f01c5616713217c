// SPDX-License-Identifier: MIT

/// A color space of pixels, for ``ImageDecodingOptions/color``, ``ImageEncoding/color``, and ``ImageMetadata/color``.
public enum ImageColorSpace: String, Sendable, Hashable, CaseIterable {
    /// The color space sRGB (IEC 61966-2-1).
    case sRGB = "srgb"
    /// Display P3: the primaries of SMPTE RP 431-2, the white point D65, and the transfer function of sRGB.
    case displayP3 = "display-p3"
    /// The color space of the source, regardless of its gamut.
    case source
}

extension ImageFormat {
    /// Whether the encoders of the library describe color spaces other than sRGB in files of the format.
    package var canDescribeColors: Bool {
        switch self {
        case .jpeg, .png, .apng, .webp, .tiff, .avif, .heif, .jxl: true
        default: false
        }
    }

    /// Whether the encoders of the library keep a high dynamic range in files of the format, as a gain map or in PQ or
    /// HLG.
    package var canDescribeHDR: Bool {
        switch self {
        case .jpeg, .png, .avif, .jxl: true
        default: false
        }
    }

    /// Whether the decoders of the library convert the colors of the format. Images in other formats are always sRGB.
    var hasConvertibleColors: Bool {
        switch self {
        case .jpeg, .png, .apng, .webp, .tiff, .avif, .heif, .jxl, .jpeg2000, .qoi: true
        default: isRAW
        }
    }
}
