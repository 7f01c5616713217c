// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import WebImageCore

@testable import WebImageCodecs

/// Returns the fixtures of a format.
func seeds(_ format: ImageFormat) -> @Sendable () -> [Data] {
    { FixtureFiles.images().filter { ImageFormat(sniffing: $0) == format } }
}

let formats: [(name: String, format: ImageFormat)] = [
    ("jpeg", .jpeg), ("png", .png), ("gif", .gif), ("webp", .webp), ("bmp", .bmp), ("ico", .ico), ("icns", .icns),
    ("qoi", .qoi), ("pbm", .pbm), ("pgm", .pgm), ("ppm", .ppm), ("pam", .pam), ("tiff", .tiff),
    ("jpeg2000", .jpeg2000), ("avif", .avif), ("heif", .heif), ("jxl", .jxl),
]

/// Returns the targets of whole files and of previews.
func decoding(_ name: String, seeds: @escaping @Sendable () -> [Data]) -> [FuzzTarget] {
    [
        FuzzTarget("decode-\(name)", maxLength: 20_000, choiceCount: 18, seeds: seeds, run: Decoding.whole),
        FuzzTarget("preview-\(name)", maxLength: 20_000, choiceCount: 32, seeds: seeds, run: Decoding.previews),
    ]
}

var targets = formats.flatMap { decoding($0.name, seeds: seeds($0.format)) }
// Fixtures of camera RAW files would be large, so these targets use only the committed inputs.
targets += decoding("raw") { [] }
targets += [
    FuzzTarget("encode", maxLength: 512, run: Encoding.run),
    FuzzTarget("icc", maxLength: 8_192, seeds: { FixtureFiles.files { $0.hasSuffix(".icc") } }, run: Encoding.convert),
]
#if PDF
    targets.append(
        FuzzTarget(
            "pdf", maxLength: 8_192, seeds: seeds(.pdf),
            dictionary: [
                "obj", "endobj", "stream", "endstream", "xref", "trailer", "startxref", "/Type", "/Pages", "/Kids",
                "/Contents", "/Resources", "/XObject", "/Form", "/Image", "/Pattern", "/Type3", "/CharProcs", "/SMask",
                "/Filter", "/FlateDecode", "/LZWDecode", "/ASCII85Decode", "/ObjStm", "/Prev", "/Length", " 0 R", "BI",
                "ID", "EI", "Do", "gs", "scn", "Tf",
            ], run: Documents.pdf))
#endif
#if SVG
    targets.append(
        FuzzTarget(
            "svg", maxLength: 4_096, choiceCount: 3, seeds: seeds(.svg),
            dictionary: [
                "<svg", "<g", "<rect", "<path", "<text", "<tspan", "<use", "<symbol", "<image", "<defs", "<mask",
                "<clipPath", "<pattern", "<marker", "<linearGradient", "<radialGradient", "<stop", "<filter",
                "<feTile", "<feImage", "<feTurbulence", "<feMorphology", "<feConvolveMatrix", "<feGaussianBlur",
                "<style", "</", "/>", "<!--", "-->", "<![CDATA[", "]]>", "<!DOCTYPE", "<!ENTITY", "<?xml", "&amp;",
                "&#x", "&e;", " id='a'", " href='#a'", " xlink:href='#a'", " xml:lang='en'", " systemLanguage='en'",
                " style='", " class='a'", " transform='scale(9)'", " viewBox='0 0 9 9'", " fill='url(#a)'",
                " stroke='url(#a)'", " stroke-width='9'", " stroke-dasharray='1'", " stroke-linejoin='round'",
                " mask='url(#a)'", " clip-path='url(#a)'", " filter='url(#a)'", " filter='blur(9)'",
                " marker-mid='url(#a)'", " font-size='9'", " numOctaves='9'", " radius='9'", " order='9'",
                " width='9'", " height='9'", " d='M0 0", "inherit", "currentColor", "!important", ":not(", ":lang(",
                ":is(", "data:image/png;base64,", "/*", "*/", "@import", "em", "%", "1e9",
            ], run: Documents.svg))
#endif
FuzzProgram.main(targets)
