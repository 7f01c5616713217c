// SPDX-License-Identifier: MIT

import CColor
import CJPEG
import CPNG
import CWebP
import WebImageCore

#if AVIF
    import CAVIF
#endif
#if HEIF
    import CHEIF
#endif
#if JPEG2000
    import CJPEG2000
#endif
#if JXL
    import CJXL
#endif
#if PDF
    import CPDF
#endif
#if SVG
    import CSVG
#endif
#if TIFF
    import CTIFF
#endif

/// The libraries that the coders use.
///
/// Those of the traits, except OpenJPEG, are loaded with the first use of a coder, because they depend on up to 90 further
/// libraries, whose relocation would take most of the start time of a process.
package enum CodecLibraries {
    /// Loads the library of a trait unless it's loaded already. `load` returns a message if the library can't be
    /// loaded. In this case, the function throws ``ImageError/DecodingFailure/unsupportedFeature(format:feature:)`` or,
    /// if the library is needed to write a file, ``ImageError/ProcessingFailure/encodingFailed(format:reason:)``.
    static func load(
        _ format: ImageFormat, toEncode: Bool = false, with load: () -> UnsafePointer<CChar>?
    ) throws(ImageError) {
        guard let message = load() else { return }
        let reason = "the library can’t be loaded (\(String(cString: message)))"
        throw toEncode
            ? .processing(.encodingFailed(format: format, reason: reason))
            : .decoding(.unsupportedFeature(format: format, feature: reason))
    }

    /// Loads the libraries of AVIF, HEIF, JPEG XL, and TIFF, for a process that can't open files later.
    package static func loadForRasterFormats() {
        #if AVIF
            _ = wi_avif_load()
        #endif
        #if HEIF
            _ = wi_heif_load()
        #endif
        #if JXL
            _ = wi_jxl_load()
            _ = wi_jxl_load_threads()
        #endif
        #if TIFF
            _ = wi_tiff_load()
        #endif
    }

    /// Loads the libraries of SVG and PDF, for a process that can't open other files later.
    package static func loadForVectorFormats() {
        #if PDF
            _ = wi_pdf_load()
        #endif
        #if SVG
            _ = wi_svg_load()
        #endif
    }

    /// The names and the versions of the libraries, such as `libpng 1.6.39`.
    package static var versions: [String] {
        let color = Int(wi_icc_library_version())
        var versions = [
            "libjpeg-turbo \(dotted(Int(wi_jpeg_version()), base: 1_000))",
            "libpng \(text(wi_png_version()))",
            "libwebp \(dotted(Int(wi_webp_version()), base: 256))",
            "lcms2 \(color / 1_000).\(color % 1_000 / 10)",
        ]
        #if AVIF
            versions.append("libavif \(text(wi_avif_load() == nil ? wi_avif_version() : nil))")
        #endif
        #if HEIF
            versions.append("libheif \(text(wi_heif_load() == nil ? wi_heif_version() : nil))")
        #endif
        #if JPEG2000
            versions.append("openjpeg \(text(wi_jpeg2000_version()))")
        #endif
        #if JXL
            versions.append("libjxl \(wi_jxl_load() == nil ? dotted(Int(wi_jxl_version()), base: 1_000) : "?")")
        #endif
        #if PDF
            versions.append("poppler \(text(wi_pdf_load() == nil ? wi_pdf_version() : nil))")
        #endif
        #if SVG
            versions.append("librsvg \(wi_svg_load() == nil ? dotted(Int(wi_svg_version()), base: 1_000) : "?")")
        #endif
        #if TIFF
            // The first line is “LIBTIFF, Version 4.5.0”.
            let line = text(wi_tiff_load() == nil ? wi_tiff_version() : nil).prefix { !$0.isNewline }
            versions.append("libtiff \(line.split(separator: " ").last ?? "?")")
        #endif
        return versions
    }

    /// Returns a version that a library reports as text, or a question mark if it reports none.
    private static func text(_ version: UnsafePointer<CChar>?) -> String { version.map { String(cString: $0) } ?? "?" }

    /// Returns the text of a version that's encoded as major × `base`² + minor × `base` + patch.
    private static func dotted(_ version: Int, base: Int) -> String {
        "\(version / base / base).\(version / base % base).\(version % base)"
    }
}
