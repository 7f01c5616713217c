// SPDX-License-Identifier: MIT

import WebImageCore

extension OptionSpec {
    /// The encoding options, for commands that encode images.
    static let encoding = [
        OptionSpec("quality", letter: "q", value: "Q", help: "1 (smallest) to 100 (best), for lossy formats."),
        OptionSpec(
            "lossless",
            help: "Encode without loss: webp, avif, jxl. A JPEG can be restored exactly from a .jxl file."),
        OptionSpec("effort", value: "0…9", help: "Encoding effort: 0 (fastest) to 9 (smallest file)."),
        OptionSpec(
            "max-bytes", value: "BYTES",
            help: "Maximum output size, such as 200K. Lowers the quality first, then the resolution. Exits with "
                + "status 1 if the limit can’t be met."),
        OptionSpec("max-size", value: "N", help: "Maximum pixels of the longer side. Never enlarges."),
        OptionSpec("subsampling", value: "444|422|420", help: "Chroma subsampling: jpg, avif, heic."),
        OptionSpec("progressive", help: "Write a progressive JPEG."),
        OptionSpec(
            "background", letter: "b", value: "COLOR",
            help: "Background of transparent pixels in JPEG: white (default), black, or a color such as #334455."),
        OptionSpec("keep-metadata", help: "Keep EXIF and XMP metadata, which are omitted by default."),
        OptionSpec("no-location", help: "With --keep-metadata, omit the location."),
        OptionSpec(
            "thumbnail", value: "N", help: "Embed a thumbnail with at most N pixels on the longer side: jpg, heic."),
        OptionSpec("exact", help: "Preserve the colors of transparent pixels: webp."),
    ]
}

extension Arguments {
    /// Returns the encoding that the options of ``OptionSpec/encoding`` specify.
    package func encoding(_ format: ImageFormat) throws(UsageError) -> ImageEncoding {
        if has("no-location"), !has("keep-metadata") {
            throw UsageError("--no-location can only be used with --keep-metadata")
        }
        let maxBytes = try bytes("max-bytes")
        if maxBytes == 0 { throw UsageError("--max-bytes: the minimum is 1") }
        let subsampling: ImageEncoding.ChromaSubsampling? =
            switch try choice("subsampling", of: ["444", "422", "420"]) {
            case "444": .yuv444
            case "422": .yuv422
            case "420": .yuv420
            default: nil
            }
        return ImageEncoding(
            format: format, quality: try integer("quality", in: 1...100), isLossless: has("lossless"),
            isProgressive: has("progressive"), effort: try integer("effort", in: 0...9), background: try background(),
            chromaSubsampling: subsampling, isExact: has("exact"),
            thumbnailDimension: try integer("thumbnail", in: 1...4_096), maxByteCount: maxBytes,
            maxDimension: try integer("max-size", in: 1...1_000_000),
            metadata: has("no-location") ? .keepExceptLocation : has("keep-metadata") ? .keep : .strip)
    }

    private func background() throws(UsageError) -> PixelColor {
        guard let text = last("background") else { return .white }
        guard let color = PixelColor(text: text), color.alpha == 255 else {
            throw UsageError("--background: “\(text)” isn’t an opaque color (use a color such as #334455)")
        }
        return color
    }
}
