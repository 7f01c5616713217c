// SPDX-License-Identifier: MIT

import CColor
import CJPEG
import CPNG
import CWebP

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
package enum CodecLibraries {
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
            versions.append("libavif \(text(wi_avif_version()))")
        #endif
        #if HEIF
            versions.append("libheif \(text(wi_heif_version()))")
        #endif
        #if JPEG2000
            versions.append("openjpeg \(wi_jpeg2000_version().map { String(cString: $0) } ?? "?")")
        #endif
        #if JXL
            versions.append("libjxl \(dotted(Int(wi_jxl_version()), base: 1_000))")
        #endif
        #if PDF
            versions.append("poppler \(text(wi_pdf_version()))")
        #endif
        #if SVG
            versions.append("librsvg \(text(wi_svg_version()))")
        #endif
        #if TIFF
            // The first line is “LIBTIFF, Version 4.5.0”.
            let line = text(wi_tiff_version()).prefix { !$0.isNewline }
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
