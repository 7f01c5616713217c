// SPDX-License-Identifier: MIT

import WebImageCore

/// The validated options of `load`.
package struct LoadOptions: Sendable {
    package let inputs: [String]
    package let size: TargetSize?
    package let output: String?
    /// The transformers for the images that are written.
    package let transformers: [any ImageTransformer]
    package let format: ImageFormat?
    /// The raw value of the cache policy.
    package let policy: String
    package let cache: String?
    /// The tag for stored images.
    package let tag: String?
    /// The style of previews, or `nil` for no previews.
    package let preview: String?
    /// The directory to which previews are written.
    package let previewOutput: String?
    package let concurrency: Int
    /// The file to which a trace of all stages is written.
    package let trace: String?
    package let json: Bool
    package let quiet: Bool

    package init(
        _ arguments: Arguments, policies: [String], readImage: @escaping ImageFileReader
    ) throws(UsageError) {
        try arguments.expectOperands(1...Int.max, "URL")
        inputs = arguments.operands
        size = try arguments.size()
        output = arguments.last("output")
        transformers = try arguments.transformers(readImage: readImage)
        format = try arguments.choice("format", of: ["jpeg", "png", "webp"]).map(ImageFormat.init)
        policy = try arguments.choice("policy", of: policies) ?? "http"
        cache = arguments.last("cache")
        tag = arguments.last("tag")
        preview = try arguments.choice("preview", of: ["progressive", "blurred"])
        previewOutput = arguments.last("preview-out")
        concurrency = try arguments.integer("concurrency", in: 1...1_000) ?? 32
        trace = arguments.last("trace")
        json = arguments.has("json")
        quiet = arguments.has("quiet")
        if previewOutput != nil, preview == nil { throw UsageError("--preview-out can only be used with --preview") }
        if !transformers.isEmpty, output == nil { throw UsageError("--transform can only be used with --output") }
        if format != nil, output == nil { throw UsageError("--format can only be used with --output") }
    }
}

extension ImageFormat {
    /// Creates the format for the extension of a file name. Returns `nil` if the extension is unknown.
    package init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: "."), !fileName[dot...].contains("/") else { return nil }
        switch fileName[fileName.index(after: dot)...].lowercased() {
        case "jpg", "jpeg", "jpe", "jfif": self = .jpeg
        case "png": self = .png
        case "apng": self = .apng
        case "webp": self = .webp
        case "gif": self = .gif
        case "bmp", "dib": self = .bmp
        case "qoi": self = .qoi
        case "ico": self = .ico
        case "tif", "tiff": self = .tiff
        case "avif": self = .avif
        case "heic", "heif": self = .heif
        case "jxl": self = .jxl
        default: return nil
        }
    }
}
