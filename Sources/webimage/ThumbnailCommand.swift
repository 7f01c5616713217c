// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms

/// The command `webimage thumbnail`.
struct ThumbnailCommand: Sendable {
    struct Options: Sendable {
        let inputs: InputArguments
        /// The outputs. `%s` in the value of `--output` is replaced by `{name}`.
        let outputs: OutputArguments
        /// Whether the thumbnails are written next to the inputs.
        let usesDefaultNames: Bool
        let geometry: ThumbnailGeometry
        let resampling: ResamplingFilter
        let transformers: [any ImageTransformer]
        let encoding: ImageEncoding
        let reader: ImageReader

        init(_ arguments: Arguments) throws(UsageError) {
            let arguments = try arguments.applyingOutputNameOptions()
            var outputs = try OutputArguments(arguments)
            usesDefaultNames = outputs.output == nil && outputs.directory == nil
            outputs.output = usesDefaultNames ? defaultOutput : outputs.output?.replacing("%s", with: "{name}")
            self.outputs = outputs
            inputs = try InputArguments(arguments)
            geometry = try ThumbnailGeometry(arguments)
            resampling = try arguments.resampling()
            transformers = try arguments.transformers(readImage: Files.image)
            encoding = try arguments.encoding(try arguments.format())
            if outputs.json, outputs.output == "-" { throw UsageError("--json can’t be combined with --output -") }
            reader = try ImageReader(arguments)
        }
    }

    /// The name of a thumbnail without `--output`, and the beginning of the names, as in vipsthumbnail.
    private static let defaultOutput = "{dir}/\(prefix){name}.{format}"
    private static let prefix = "tn_"

    private let options: Options
    private let console: Console
    private let interruption: SignalHandler

    init(_ options: Options, _ console: Console, _ interruption: SignalHandler) {
        self.options = options
        self.console = console
        self.interruption = interruption
    }

    func run() async throws(UsageError) -> Int32 {
        let run = await InputRun.resolve(options.inputs, console)
        // Otherwise, a second run would create thumbnails of thumbnails.
        let inputs = run.list.inputs.filter { input in
            !options.usesDefaultNames || !input.isFromDirectory || !input.stem.hasPrefix(Self.prefix)
        }
        let plan = try options.outputs.plan(run.list)
        var encoding = options.encoding
        encoding.format = encoding.format ?? plan.format
        if let format = encoding.format, !ImageCoderRegistry.standard.canEncode(format) {
            let error = ImageError.processing(.noEncoder(format))
            console.report(nil, error)
            return run.fail(error, of: inputs, json: options.outputs.json)
        }
        if let error = await options.reader.preparationError(console) {
            return run.fail(error, of: inputs, json: options.outputs.json)
        }
        let outputs = OutputRun(
            run: run, inputs: inputs, plan: plan, json: options.outputs.json, reader: options.reader,
            fileExtension: encoding.format?.fileExtension)
        return await outputs.perform(interruption) { [encoding] in await thumbnail($0, $1, encoding, $2) }
    }

    private func thumbnail(
        _ input: ImageInput, _ facts: OutputFacts, _ encoding: ImageEncoding, _ writer: OutputWriter
    ) async -> LabeledRecord {
        await options.reader.record(of: input, facts) { (data, coders, record) throws(ImageError) in
            try write(data, coders, facts, encoding, writer, record)
        }
    }

    /// Decodes, encodes, and writes a thumbnail. Blocks.
    private func write(
        _ data: Data, _ coders: ImageCoderRegistry, _ facts: OutputFacts, _ encoding: ImageEncoding,
        _ writer: OutputWriter, _ record: ImageRecord
    ) throws(ImageError) -> ImageRecord {
        var (record, encoding) = (record, encoding)
        let context = ImageProcessingContext(limits: options.reader.limits)
        let info = try? ImageInfo(data: data)
        var decoding = ImageDecodingOptions(size: options.geometry.decodedSize(natural: info?.size), frames: .first)
        decoding.resampling = options.resampling
        decoding = decoding.preparing(for: encoding, after: options.transformers)
        let decoded = try coders.decode(data, options: decoding, context: context)
        var image = decoded
        record.read(image, byteCount: data.count)
        if let crop = options.geometry.crop { image = try crop.apply(to: image, context: context) }
        for transformer in options.transformers { image = try transformer.apply(to: image, context: context) }
        let format = encoding.format ?? (image.isOpaque ? .jpeg : .png)
        encoding.format = format
        var facts = facts.with(format)
        (facts.width, facts.height) = (image.size.width, image.size.height)
        let path = writer.plan.path(facts)
        var output = OutputRecord(path: path, format: format.rawValue)
        if try writer.reserve(path, index: facts.index) {
            let file = try coders.encode(image, as: encoding, context: context)
            record.addLosses(of: data, decoded, as: encoding, in: [file])
            record.notes += OutputLosses.notes(
                thumbnailOf: info, from: decoded.format, in: format, isLossless: encoding.isLossless)
            try writer.write(file, to: path)
            let size = ConvertFrames.size(of: file, image)
            (output.width, output.height, output.byteCount) = (size.width, size.height, file.count)
        } else {
            output.isPreserved = true
        }
        record.outputs = [output]
        return record
    }
}
