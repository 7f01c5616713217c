// SPDX-License-Identifier: MIT

import WebImageCore

/// The validated options of `fetch`.
package struct FetchOptions: Sendable {
    package let inputs: InputArguments
    package let size: TargetSize?
    package let resampling: ResamplingFilter
    /// The value of `--output`, or `nil`.
    package let output: String?
    /// The directory to which any number of images is written, or `nil`.
    package let outputDirectory: String?
    package let existing: OutputPlan.ExistingFiles
    package let transformers: [any ImageTransformer]
    /// The encoding of written images. Its format is `nil` if neither `--format` nor the extension of the output file
    /// specifies it.
    package let encoding: ImageEncoding
    /// Whether written images are encoded again, instead of the original data being written.
    package let encodesAgain: Bool
    /// The raw value of the cache policy.
    package let policy: String
    package let cache: String?
    /// The file with the encryption key of the disk cache.
    package let encryptionKeyFile: String?
    /// The tag for stored images.
    package let tag: String?
    /// The style of previews, or `nil` for no previews.
    package let previews: String?
    /// The directory to which previews are written.
    package let previewDirectory: String?
    /// The file to which a trace of all stages is written.
    package let trace: String?
    package let json: Bool
    package let quiet: Bool
    package let verbose: Bool
    package let network: NetworkArguments

    package init(_ arguments: Arguments, readImage: @escaping ImageFileReader) throws(UsageError) {
        try arguments.checkOutputs()
        inputs = try InputArguments(arguments)
        size = try arguments.size()
        resampling = try arguments.resampling()
        output = arguments.last("output")
        outputDirectory = arguments.last("output-dir")
        existing = try arguments.existingFiles
        transformers = try arguments.transformers(readImage: readImage)
        var encoding = try arguments.encoding(try arguments.format())
        encodesAgain =
            size != nil || !transformers.isEmpty || encoding.format != nil || arguments.firstEncodingOption != nil
        if encodesAgain, encoding.format == nil, let output, outputDirectory == nil {
            encoding.format = ImageFormat(fileName: output)
        }
        self.encoding = encoding
        policy = try arguments.choice("cache-policy", of: OptionSpec.cachePolicies) ?? OptionSpec.cachePolicies[0]
        cache = arguments.last("cache-dir")
        encryptionKeyFile = arguments.last("encryption-key-file")
        tag = arguments.last("tag")
        previews = try arguments.choice("previews", of: ["progressive", "blurred"])
        previewDirectory = arguments.last("preview-dir")
        trace = arguments.last("trace")
        json = arguments.has("json")
        quiet = arguments.has("quiet")
        verbose = arguments.has("verbose")
        network = try NetworkArguments(arguments)
        try check(arguments)
    }

    private func check(_ arguments: Arguments) throws(UsageError) {
        if output == "-", json { throw UsageError("--json can’t be combined with --output -") }
        if previewDirectory != nil, previews == nil {
            throw UsageError("--preview-dir can only be used with --previews")
        }
        let written = "can only be used with --output or --output-dir"
        guard output == nil, outputDirectory == nil else { return }
        if encoding.format != nil { throw UsageError("--format \(written)") }
        if existing == .skip { throw UsageError("--no-clobber \(written)") }
        if let option = arguments.firstEncodingOption { throw UsageError("--\(option) \(written)") }
    }
}
