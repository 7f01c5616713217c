// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms

/// The command `webimage decode`.
struct DecodeCommand: Sendable {
    struct Options: Sendable {
        let inputs: InputArguments
        let outputs: OutputArguments
        let frames: FrameListArgument?
        let size: TargetSize?
        let resampling: ResamplingFilter
        let format: RawPixelFormat
        let reader: ImageReader

        init(_ arguments: Arguments) throws(UsageError) {
            var outputs = try OutputArguments(arguments)
            if outputs.directory == nil { outputs.output = outputs.output ?? "-" }
            self.outputs = outputs
            inputs = try InputArguments(arguments)
            frames = try arguments.frameSelection()
            size = try arguments.size()
            resampling = try arguments.resampling()
            format =
                try arguments.choice("pixel-format", of: RawPixelFormat.allCases.map(\.rawValue))
                .flatMap(RawPixelFormat.init) ?? .rgba8
            if outputs.json, outputs.output == "-" {
                throw UsageError("--json requires --output or --output-dir, because standard output has the pixels")
            }
            reader = try ImageReader(arguments)
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
        let fileFormat = try Self.fileFormat(plan)
        if let error = await options.reader.preparationError(console) {
            return run.fail(error, json: options.outputs.json)
        }
        let outputs = OutputRun(
            run: run, inputs: run.list.inputs, plan: plan, json: options.outputs.json, reader: options.reader,
            fileExtension: options.format.rawValue)
        return await outputs.perform(interruption, printsRecords: false) {
            await decode($0, $1, $2, as: fileFormat)
        } whenReported: { record in
            guard !options.outputs.json, let file = record.outputs.first, !file.isPreserved else { return }
            let size = "\(file.width) \(file.height)"
            if !plan.isStandardOutput {
                console.print("\(size) \(DisplayText.safe(file.path))")
            } else if !console.isQuiet {
                console.writeError(size + "\n")
            }
        }
    }

    /// Returns the format of Netpbm that the extension of the output names, or `nil` for pixels without a header. The
    /// formats of other extensions aren't raw pixels, so such a file would be invalid.
    private static func fileFormat(_ plan: OutputPlan) throws(UsageError) -> ImageFormat? {
        let name: String
        switch plan.destination {
        case .standardOutput, .directory: return nil
        case .file(let path): name = path
        case .template(let template): name = template.text
        }
        let suffix = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last ?? ""
        // Raw pixels are often in files whose extension is also that of some cameras.
        guard let format = ImageFormat(fileExtension: String(suffix)), !format.isRAW else { return nil }
        guard [.ppm, .pgm, .pam].contains(format) else {
            throw UsageError(
                "--output: decode can’t write \(format.rawValue) files (use convert, or an extension such as .ppm, .pam, or "
                    + ".rgba)")
        }
        return format
    }

    private func decode(
        _ input: ImageInput, _ facts: OutputFacts, _ writer: OutputWriter, as fileFormat: ImageFormat?
    ) async -> LabeledRecord {
        await options.reader.record(of: input, facts) { [options] (data, coders, record) throws(ImageError) in
            var (record, facts) = (record, facts)
            facts.fileExtension = options.format.rawValue
            let context = ImageProcessingContext(limits: options.reader.limits)
            let (image, frames) = try Self.decode(data, coders, options, context)
            record.read(image, byteCount: data.count)
            (facts.width, facts.height) = (image.size.width, image.size.height)
            let path = writer.plan.path(facts)
            let isFree = try writer.reserve(path, index: facts.index)
            var byteCount = frames.reduce(0) { $0 + options.format.byteCount(of: $1) }
            if let fileFormat, isFree {
                let files = try frames.map { (pixels) throws(ImageError) in
                    try Self.file(pixels, as: fileFormat, options, context)
                }
                byteCount = files.reduce(0) { $0 + $1.count }
                try writer.write(parts: files, to: path)
            } else if isFree {
                try writer.write(parts: frames.lazy.flatMap { options.format.parts(of: $0) }, to: path)
            }
            record.outputs = [
                .init(
                    path: path, format: fileFormat?.rawValue ?? options.format.rawValue, width: facts.width,
                    height: facts.height, byteCount: byteCount, isPreserved: !isFree)
            ]
            return record
        }
    }

    /// Returns a file of Netpbm. In formats without alpha, transparent pixels are black, as in rgb8. Blocks.
    private static func file(
        _ pixels: PixelBuffer, as format: ImageFormat, _ options: Options, _ context: ImageProcessingContext
    ) throws(ImageError) -> Data {
        var encoding = ImageEncoding(format: format)
        encoding.background = PixelColor(red: 0, green: 0, blue: 0)
        return try ImageCoderRegistry.standard.encode(DecodedImage(pixels: pixels), as: encoding, context: context)
    }

    /// Returns the image and its selected frames. Blocks.
    private static func decode(
        _ data: Data, _ coders: ImageCoderRegistry, _ options: Options, _ context: ImageProcessingContext
    ) throws(ImageError) -> (DecodedImage, [PixelBuffer]) {
        var decoding = ImageDecodingOptions(size: options.size, frames: .first)
        decoding.resampling = options.resampling
        decoding.preservesBitDepth = options.format == .rgba16
        if let index = options.frames?.singleIndex { decoding.frames = .index(index) }
        guard let frames = options.frames, frames.singleIndex == nil else {
            let image = try coders.decode(data, options: decoding, context: context)
            return (image, [image.pixels])
        }
        decoding.frames = .all
        let image = try coders.decode(data, options: decoding, context: context)
        let indices = try frames.indices(count: image.frameCount)
        let selected = try indices.map { (index) throws(ImageError) in
            try image.animation?.frame(at: index) ?? image.pixels
        }
        return (image, selected)
    }
}
