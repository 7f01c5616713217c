// SPDX-License-Identifier: MIT

import WebImageCore

extension OptionSpec {
    /// The color spaces of encoded images. The first one is the default.
    fileprivate static let colorSpaces = [ImageColorSpace.source, .sRGB, .displayP3].map(\.rawValue)

    /// The default quality of each lossy format that `--format` names.
    private static let defaultQualities = ImageFormatName.all.compactMap { name in
        ImageFormat(encodableName: name)?.defaultQuality.map { "\(name) \($0)" }
    }.joined(separator: ", ")

    /// The encoding options, for commands that encode images.
    package static let encoding = [
        OptionSpec(
            "quality", letter: "Q", value: "N",
            help: "1 (smallest) to 100 (best), for lossy formats. The defaults are \(defaultQualities)."),
        OptionSpec(
            "looks", value: "SCORE",
            help: "Visual quality to reach instead of --quality: 1 to 100 (SSIMULACRA2). For jpeg, webp, avif, jxl."),
        OptionSpec(
            "lossless",
            help: "Encode without loss: webp, avif, jxl. A JPEG can be restored exactly from a .jxl file."),
        OptionSpec("effort", value: "N", help: "Encoding effort: 0 (fastest) to 9 (smallest file)."),
        OptionSpec(
            "target-size", value: "BYTES",
            help: "Maximum size of the file, such as 200K. Lowers the quality first, then the resolution. Exits with "
                + "status 1 if the limit can’t be met."),
        OptionSpec("max-dimension", value: "N", help: "Maximum pixels of the longer side. Never enlarges."),
        OptionSpec(
            "subsampling", value: "444|422|420", words: ["444", "422", "420", "4:4:4", "4:2:2", "4:2:0"],
            help: "Chroma subsampling: jpeg, avif, heic. 4:4:4 is the same as 444."),
        OptionSpec(
            "color-space", value: "source|srgb|display-p3", words: colorSpaces,
            help: "Color space: source keeps the gamut of the image (default), srgb and display-p3 convert it. Formats "
                + "without color profiles and transformers that change colors always use srgb."),
        OptionSpec(
            "dynamic-range", value: "high|standard",
            help: "Keep PQ, HLG, and gain maps if the format can (high, default), or map the tones (standard)."),
        OptionSpec(
            "progressive", help: "Write a progressive JPEG, or a lossless JPEG XL that begins with smaller versions."),
        OptionSpec(
            "background", letter: "b", value: "COLOR",
            help: "Background of transparent pixels in JPEG: white (default), black, or a color such as #334455."),
        OptionSpec(
            "metadata", value: "POLICY", words: ["strip", "keep", "keep-except-location", "keep-copyright"],
            help: "EXIF and XMP metadata to write: strip (default), keep, keep-except-location, or keep-copyright."),
        OptionSpec(
            "embed-thumbnail", value: "N",
            help: "Embed a thumbnail with at most N pixels on the longer side: jpeg, heic."),
        OptionSpec("exact", help: "Preserve the colors of transparent pixels: webp."),
    ]
}

extension Arguments {
    private static let metadataPolicies: [(String, ImageEncoding.MetadataPolicy)] = [
        ("strip", .strip), ("keep", .keep), ("keep-except-location", .keepExceptLocation),
        ("keep-copyright", .keepCopyright),
    ]

    /// The first option of ``OptionSpec/encoding`` that was specified, or `nil` if there's none.
    package var firstEncodingOption: String? { OptionSpec.encoding.map(\.name).first(where: has) }

    /// Returns the encoding that the options of ``OptionSpec/encoding`` specify. If `format` is `nil`, the caller sets
    /// the format later.
    package func encoding(_ format: ImageFormat?) throws(UsageError) -> ImageEncoding {
        let maxBytes = try bytes("target-size")
        if maxBytes == 0 { throw UsageError("--target-size: the minimum is 1") }
        let subsampling: ImageEncoding.ChromaSubsampling? =
            switch try choice("subsampling", of: ["444", "422", "420", "4:4:4", "4:2:2", "4:2:0"]) {
            case "444", "4:4:4": .yuv444
            case "422", "4:2:2": .yuv422
            case "420", "4:2:0": .yuv420
            default: nil
            }
        let policy = try choice("metadata", of: Self.metadataPolicies.map(\.0))
        let color = try choice("color-space", of: OptionSpec.colorSpaces).flatMap(ImageColorSpace.init(rawValue:))
        let range = try choice("dynamic-range", of: ["high", "standard"])
        var encoding = ImageEncoding(
            format: format, quality: try integer("quality", in: 1...100), isLossless: has("lossless"),
            isProgressive: has("progressive"), effort: try integer("effort", in: 0...9))
        encoding.background = try background()
        encoding.chromaSubsampling = subsampling
        encoding.isExact = has("exact")
        encoding.thumbnailDimension = try integer("embed-thumbnail", in: 1...4_096)
        encoding.maxByteCount = maxBytes
        encoding.maxDimension = try integer("max-dimension", in: 1...1_000_000)
        encoding.metadata = Self.metadataPolicies.first { $0.0 == policy }?.1 ?? .strip
        encoding.preservesDynamicRange = range != "standard"
        encoding.color = color ?? .source
        encoding.visualScore = try integer("looks", in: 1...100)
        return encoding
    }

    private func background() throws(UsageError) -> PixelColor {
        guard let text = last("background") else { return .white }
        guard let color = PixelColor(text: text), color.alpha == 255 else {
            throw UsageError("--background: “\(text)” isn’t an opaque color (use a color such as #334455)")
        }
        return color
    }
}
