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
        let webP = Int(wi_webp_version())
        let color = Int(wi_icc_library_version())
        var versions = [
            "libjpeg-turbo \(thousands(Int(wi_jpeg_version())))",
            "libpng \(wi_png_version().map { String(cString: $0) } ?? "?")",
            "libwebp \(webP >> 16).\(webP >> 8 & 255).\(webP & 255)",
            "lcms2 \(color / 1_000).\(color % 1_000 / 10)",
        ]
        #if AVIF
            versions.append("libavif \(wi_avif_version().map { String(cString: $0) } ?? "?")")
        #endif
        #if HEIF
            versions.append("libheif \(wi_heif_version().map { String(cString: $0) } ?? "?")")
        #endif
        #if JPEG2000
            versions.append("openjpeg \(wi_jpeg2000_version().map { String(cString: $0) } ?? "?")")
        #endif
        #if JXL
            versions.append("libjxl \(thousands(Int(wi_jxl_version())))")
        #endif
        #if PDF
            versions.append("poppler \(wi_pdf_version().map { String(cString: $0) } ?? "?")")
        #endif
        #if SVG
            versions.append("librsvg \(wi_svg_version().map { String(cString: $0) } ?? "?")")
        #endif
        #if TIFF
            // The first line is “LIBTIFF, Version 4.5.0”.
            let line = wi_tiff_version().map { String(cString: $0).prefix { !$0.isNewline } } ?? ""
            versions.append("libtiff \(line.split(separator: " ").last ?? "?")")
        #endif
        return versions
    }

    /// Returns the text of a version that's encoded as major × 1,000,000 + minor × 1,000 + patch.
    private static func thousands(_ version: Int) -> String {
        "\(version / 1_000_000).\(version / 1_000 % 1_000).\(version % 1_000)"
    }
}
