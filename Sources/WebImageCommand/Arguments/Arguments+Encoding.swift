// SPDX-License-Identifier: MIT

import WebImageCore

extension OptionSpec {
    /// The encoding options, for commands that encode images.
    static let encoding = [
        OptionSpec("quality", letter: "q", takes: "Q", help: "1 (small) to 100 (good), for lossy formats."),
        OptionSpec(
            "lossless",
            help: "Keep every pixel: webp, avif, jxl. A JPEG becomes a .jxl from which it can be had back bit by bit."),
        OptionSpec("effort", takes: "0…9", help: "How hard to try: 0 is fast, 9 is small."),
        OptionSpec(
            "max-bytes", takes: "BYTES",
            help:
                "At most so many, as in 200K: lower quality first, then fewer pixels. Status 1 where that is impossible."
        ),
        OptionSpec("max-size", takes: "N", help: "At most so many pixels on the longer side; never enlarges."),
        OptionSpec("subsampling", takes: "444|422|420", help: "How finely colour is kept: jpg, avif, heic."),
        OptionSpec("progressive", help: "Progressive JPEG."),
        OptionSpec(
            "background", letter: "b", takes: "COLOR",
            help: "Laid under transparent pixels in JPEG: white (default), black, or as in #334455."),
        OptionSpec("keep-metadata", help: "Take EXIF and XMP over; by default they are left out."),
        OptionSpec("no-location", help: "With --keep-metadata: all but where it was taken."),
        OptionSpec("thumbnail", takes: "N", help: "Embed one of at most so many pixels on the longer side: jpg, heic."),
        OptionSpec("exact", help: "Leave transparent pixels as they are: webp."),
    ]
}

extension Arguments {
    /// Returns the encoding that the options of ``OptionSpec/encoding`` specify.
    package func encoding(_ format: ImageFormat) throws(UsageError) -> ImageEncoding {
        if has("no-location"), !has("keep-metadata") { throw UsageError("--no-location needs --keep-metadata") }
        let maxBytes = try bytes("max-bytes")
        if maxBytes == 0 { throw UsageError("--max-bytes takes one byte or more") }
        let subsampling: ImageEncoding.Subsampling? =
            switch try choice("subsampling", of: ["444", "422", "420"]) {
            case "444": .yuv444
            case "422": .yuv422
            case "420": .yuv420
            default: nil
            }
        return ImageEncoding(
            format: format, quality: try integer("quality", in: 1...100), isLossless: has("lossless"),
            isProgressive: has("progressive"), effort: try integer("effort", in: 0...9), background: try background(),
            subsampling: subsampling, isExact: has("exact"),
            thumbnailSide: try integer("thumbnail", in: 1...4_096), maxBytes: maxBytes,
            maxPixelSize: try integer("max-size", in: 1...1_000_000),
            metadata: has("no-location") ? .keepWithoutLocation : has("keep-metadata") ? .keep : .strip)
    }

    private func background() throws(UsageError) -> [UInt8] {
        guard let text = last("background") else { return [255, 255, 255] }
        guard let color = PixelColor(text: text), color.alpha == 255 else {
            throw UsageError("--background takes a colour as in #334455, not “\(text)”")
        }
        return [color.red, color.green, color.blue]
    }
}
