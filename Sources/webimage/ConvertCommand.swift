// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms

/// The command `webimage convert`.
struct ConvertCommand: Sendable {
    struct Options: Sendable {
        let inputs: InputArguments
        /// The outputs. If neither `--output` nor `--output-dir` was specified, the output is the last operand.
        let outputs: OutputArguments
        let outputIsOperand: Bool
        let decoding: ImageDecodingOptions
        let transformers: [any ImageTransformer]
        let frames: FrameListArgument?
        /// The encoding. Its format is `nil` if `--format` wasn't specified.
        let encoding: ImageEncoding
        let reader: ImageReader

        init(_ arguments: Arguments) throws(UsageError) {
            var outputs = try OutputArguments(arguments)
            var operands = arguments.operands
            outputIsOperand = outputs.directory == nil && outputs.output == nil
            if outputIsOperand {
                guard let last = operands.popLast(), !operands.isEmpty || arguments.has("input-file") else {
                    throw UsageError("missing INPUT or OUT")
                }
                outputs.output = last
            }
            self.outputs = outputs
            inputs = try InputArguments(arguments, operands: operands)
            if outputs.json, outputs.output == "-" {
                throw UsageError("--json can’t be combined with standard output as the output")
            }
            frames = try arguments.frameSelection()
            var decoding = ImageDecodingOptions(
                size: try arguments.size(), frames: frames?.singleIndex.map { FrameSelection.index($0) } ?? .all)
            decoding.resampling = try arguments.resampling()
            decoding.preservesBitDepth = try arguments.choice("bit-depth", of: ["8", "16"]) == "16"
            self.decoding = decoding
            transformers = try arguments.transformers(readImage: Files.image)
            var encoding = try arguments.encoding(try arguments.format())
            encoding.loopCount = try arguments.integer("loop", in: 0...65_535)
            self.encoding = encoding
            reader = try ImageReader(arguments, operands: operands)
        }
    }

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
        let plan = try options.outputs.plan(run.list)
        var encoding = options.encoding
        encoding.format = try Self.format(encoding.format, plan)
        let format = encoding.formatOrAutomatic
        noteOutput(plan)
        guard ImageCoderRegistry.standard.canEncode(format) else {
            let error = ImageError.processing(.noEncoder(format))
            console.report(nil, error)
            return run.fail(error, json: options.outputs.json)
        }
        if let error = await options.reader.preparationError(console) {
            return run.fail(error, json: options.outputs.json)
        }
        let outputs = OutputRun(
            run: run, inputs: run.list.inputs, plan: plan, json: options.outputs.json, reader: options.reader,
            fileExtension: format.fileExtension)
        return await outputs.perform(interruption) { [options, encoding, console] in
            await ConvertJob(options: options, encoding: encoding, writer: $2, console: console).run($0, $1)
        }
    }

    /// Prints a note if the last operand is an existing file, because it may be meant as an input.
    private func noteOutput(_ plan: OutputPlan) {
        guard options.outputIsOperand, case .file(let path) = plan.destination, plan.existing == .fail,
            Files.isFile(path)
        else { return }
        console.note("the last argument “\(path)” is the output (to convert several inputs, use --output-dir)")
    }

    /// Returns the format of the output, which `--format` or the extension of the output names.
    private static func format(_ format: ImageFormat?, _ plan: OutputPlan) throws(UsageError) -> ImageFormat {
        if let format = format ?? plan.format { return format }
        switch plan.destination {
        case .standardOutput: throw UsageError("writing to standard output requires --format")
        case .directory: throw UsageError("writing to a directory requires --format")
        case .file(let path):
            throw UsageError("the extension of “\(path)” doesn’t name a format that can be written (use --format)")
        case .template(let template):
            throw UsageError("“\(template.text)” doesn’t name a format that can be written (use --format)")
        }
    }
}

/// The conversion of one image.
private struct ConvertJob: Sendable {
    let options: ConvertCommand.Options
    let encoding: ImageEncoding
    let writer: OutputWriter
    let console: Console

    func run(_ input: ImageInput, _ facts: OutputFacts) async -> LabeledRecord {
        var record = ImageRecord(input: input.text)
        record.index = facts.index
        let printer = WorkPrinter(TaskProgressDisplay("Encoding"), console)
        defer { printer.end() }
        do throws(ImageError) {
            let frames = ConvertFrames(options.frames, plan: writer.plan)
            let known = facts.with(encoding.formatOrAutomatic)
            // A file that is preserved needn't be decoded. Templates can contain the size of the result.
            if frames.names == nil, !writer.plan.needsSize {
                let path = writer.plan.path(known)
                let isFree = try await BlockingWork.run { () throws(ImageError) in
                    try writer.reserve(path, index: known.index)
                }
                guard isFree else {
                    record.outputs = [.init(path: path, format: encoding.formatOrAutomatic.rawValue, isPreserved: true)]
                    return LabeledRecord(input.label, record)
                }
            }
            let data = try await options.reader.data(input)
            record = try await BlockingWork.run { [record] () throws(ImageError) in
                try convert(data, options.reader.coders(for: input), frames, known, record, printer)
            }
        } catch {
            record.error = error
        }
        return LabeledRecord(input.label, record)
    }

    /// Decodes, transforms, encodes, and writes an image. Blocks.
    private func convert(
        _ data: Data, _ coders: ImageCoderRegistry, _ frames: ConvertFrames, _ facts: OutputFacts,
        _ record: ImageRecord, _ printer: WorkPrinter
    ) throws(ImageError) -> ImageRecord {
        var record = record
        // Long animations take a long time to convert. The user can interrupt the command, so don't limit the time.
        let context = ImageProcessingContext(limits: options.reader.limitsOfLongWork)
        let decoding = options.decoding.preparing(for: encoding, after: options.transformers)
        let decoded = try coders.decode(data, options: decoding, context: context)
        record.read(decoded, byteCount: data.count)
        var (image, indices) = try frames.chosen(of: decoded)
        for transformer in options.transformers { image = try transformer.apply(to: image, context: context) }
        var facts = facts
        (facts.width, facts.height) = (image.size.width, image.size.height)
        let needsPath = frames.names != nil || writer.plan.needsSize
        let outputs = try frames.encoded(
            try ConvertFrames.reporting(image, printer), indices, as: encoding, original: data, coders: coders,
            context: context)
        record.addLosses(of: data, decoded, as: encoding, in: outputs.map(\.data))
        record.notes += OutputLosses.notes(
            frameCount: frames.names == nil ? image.frameCount : 1, from: decoded.format,
            in: encoding.formatOrAutomatic, isLossless: encoding.isLossless)
        for output in outputs {
            let path = output.index.flatMap { frames.names?.name($0) } ?? writer.plan.path(facts)
            let isFree = needsPath ? try writer.reserve(path, index: facts.index) : true
            if isFree { try writer.write(output.data, to: path) }
            record.outputs.append(
                .init(
                    path: path, format: encoding.formatOrAutomatic.rawValue, width: output.size.width,
                    height: output.size.height, byteCount: output.data.count, isPreserved: !isFree))
        }
        return record
    }
}
