// SPDX-License-Identifier: MIT

import WebImageCore

extension ImageCoderRegistry {
    /// A registry with all available coders: JPEG, PNG, GIF, WebP, BMP, QOI, Netpbm, ICO, ICNS, the previews of
    /// camera RAW files, and those of the enabled package traits.
    public static let standard = ImageCoderRegistry(all)

    /// The available coders. The most common formats come last, because the last coder is tried first.
    private static var all: [any ImageCoder] {
        var coders: [any ImageCoder] = [ICNSCoder(), ICOCoder()]
        #if JPEG2000
            coders.append(JPEG2000Coder())
        #endif
        #if AVIF
            coders.append(AVIFCoder())
        #endif
        #if JXL
            coders.append(JXLCoder())
        #endif
        #if TIFF
            coders.append(TIFFCoder())
        #endif
        // The TIFF coder is tried after this one, because it decodes some RAW files without a JPEG preview.
        coders.append(RAWCoder())
        #if HEIF
            coders.append(HEIFCoder())
        #endif
        #if SVG
            coders.append(SVGCoder())
        #endif
        #if PDF
            coders.append(PDFCoder())
        #endif
        coders += [PNMCoder(), QOICoder(), BMPCoder()] as [any ImageCoder]
        coders += [WebPCoder(), GIFCoder(), PNGCoder(), JPEGCoder()] as [any ImageCoder]
        return coders
    }
}
