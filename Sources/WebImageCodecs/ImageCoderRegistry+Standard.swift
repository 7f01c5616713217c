// SPDX-License-Identifier: MIT

import WebImageCore

extension ImageCoderRegistry {
    /// A registry with all available coders: JPEG, PNG, GIF, WebP, BMP, QOI, ICO, and those of the enabled package
    /// traits.
    public static let standard = ImageCoderRegistry(
        optional + [QOICoder(), BMPCoder(), WebPCoder(), GIFCoder(), PNGCoder(), JPEGCoder()])

    private static var optional: [any ImageCoder] {
        var coders: [any ImageCoder] = [ICOCoder()]
        #if AVIF
            coders.append(AVIFCoder())
        #endif
        #if JXL
            coders.append(JXLCoder())
        #endif
        #if TIFF
            coders.append(TIFFCoder())
        #endif
        #if HEIF
            coders.append(HEIFCoder())
        #endif
        #if SVG
            coders.append(SVGCoder())
        #endif
        #if PDF
            coders.append(PDFCoder())
        #endif
        return coders
    }
}
