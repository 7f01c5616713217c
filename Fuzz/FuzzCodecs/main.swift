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
    ("qoi", .qoi), ("tiff", .tiff), ("jpeg2000", .jpeg2000), ("avif", .avif), ("heif", .heif), ("jxl", .jxl),
]

/// Returns the targets of whole files and of previews.
func decoding(_ name: String, seeds: @escaping @Sendable () -> [Data]) -> [FuzzTarget] {
    [
        FuzzTarget("decode-\(name)", maxLength: 20_000, choiceCount: 16, seeds: seeds, run: Decoding.whole),
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
FuzzProgram.main(targets)
