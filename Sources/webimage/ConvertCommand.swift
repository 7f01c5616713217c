// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms

/// The command `webimage convert`.
struct ConvertCommand: Sendable {
    struct Options: Sendable {
        /// The inputs. If there's no output directory, this array contains one input.
        let inputs: [String]
        /// The output file, or `-` for standard output. It's `nil` if there's an output directory.
        let output: String?
        let outputDirectory: String?
        let decoding: ImageDecodingOptions
        let transformers: [any ImageTransformer]
        let frames: FrameListArgument?
        let encoding: ImageEncoding
        let reader: ImageReader

        init(_ arguments: Arguments) throws(UsageError) {
            outputDirectory = arguments.last("output-dir")
            let format = try arguments.format()
            if outputDirectory == nil {
                try arguments.expectOperands(2...2, "IN or OUT")
                inputs = [arguments.operands[0]]
                output = arguments.operands[1]
            } else {
                try arguments.expectOperands(1...Int.max, "IN")
                inputs = arguments.operands
                output = nil
            }
            frames = try arguments.frameSelection()
            var decoding = ImageDecodingOptions(
                size: try arguments.size(), frames: frames?.singleIndex.map { FrameSelection.index($0) } ?? .all)
            decoding.preservesBitDepth = try arguments.choice("bit-depth", of: ["8", "16"]) == "16"
            self.decoding = decoding
            transformers = try arguments.transformers(readImage: Files.image)
            var encoding = try arguments.encoding(try Self.format(format, output: output))
            encoding.loopCount = try arguments.integer("loop", in: 0...65_535)
            self.encoding = encoding
            reader = ImageReader(
                try NetworkSetup(try NetworkArguments(arguments), operands: inputs), cache: arguments.last("cache-dir"),
                isVerbose: arguments.has("verbose"))
        }

        /// Returns the format of the output, which `--format` or the extension of the output file specifies.
        private static func format(_ format: ImageFormat?, output: String?) throws(UsageError) -> ImageFormat {
            if let format { return format }
            guard let output else { throw UsageError("--output-dir requires --format") }
            if output == "-" { throw UsageError("writing to standard output requires --format") }
            guard let format = ImageFormat(fileName: output) else {
                throw UsageError(
                    "the extension of “\(output)” doesn’t name a format that can be written (use --format)")
            }
            return format
        }
    }

    private let options: Options
    private let console: Console

    init(_ options: Options, _ console: Console) {
        self.options = options
        self.console = console
    }

    func run() async -> Int32 {
        let format = options.encoding.formatOrAutomatic
        guard ImageCoderRegistry.standard.canEncode(format) else {
            console.report("\(ImageError.processing(.noEncoder(format)))")
            return ExitStatus.failed
        }
        var status = ExitStatus.ok
        do throws(ImageError) {
            let jobs = try await jobs()
            if let output = try await overwrittenInput(jobs) {
                console.report("--output-dir: “\(output)” is an input (use another directory or another --format)")
                return await options.reader.finished(ExitStatus.failed, console)
            }
            for (input, output) in jobs {
                let isWritten = await convert(input, to: output)
                if !isWritten { status = ExitStatus.failed }
            }
        } catch {
            console.report("\(error)")
            status = ExitStatus.failed
        }
        return await options.reader.finished(status, console)
    }

    /// Returns the inputs with the paths of their output files.
    private func jobs() async throws(ImageError) -> [(input: String, output: String)] {
        guard let directory = options.outputDirectory else {
            return [(input: options.inputs[0], output: options.output ?? "-")]
        }
        let inputs = try await BlockingWork.run { [options] () throws(ImageError) -> [String] in
            try Files.makeDirectory(directory)
            return try Inputs.expanded(options.inputs)
        }
        let fileExtension = options.encoding.formatOrAutomatic.fileExtension
        var names = OutputNames()
        return inputs.map { input in
            let name = names.claim(for: (try? Inputs.url(input)) ?? URL(filePath: "/image"))
            return (input: input, output: "\(directory)/\(name).\(fileExtension)")
        }
    }

    /// Returns the first path in the output directory that is also an input, or `nil` if there's none.
    ///
    /// All outputs are checked before any of them is written, so the command converts all images or none.
    private func overwrittenInput(_ jobs: [(input: String, output: String)]) async throws(ImageError) -> String? {
        guard options.outputDirectory != nil else { return nil }
        return try await BlockingWork.run { () throws(ImageError) -> String? in
            let inputs = Set(jobs.compactMap { (try? Inputs.url($0.input)).flatMap { FileIdentity($0) } })
            return jobs.first { FileIdentity(path: $0.output).map(inputs.contains) ?? false }?.output
        }
    }

    /// Converts an image and reports an error.
    ///
    /// - Returns: A Boolean value that indicates whether the output was written.
    private func convert(_ input: String, to output: String) async -> Bool {
        let printer = WorkPrinter(TaskProgressDisplay("Encoding"), console)
        defer { printer.end() }
        do throws(ImageError) {
            let data = try await options.reader.data(input)
            // Long animations take a long time to convert. The user can interrupt the command, so don't limit the time.
            var limits = options.reader.limits
            limits.maxDecodingTime = .unlimited
            limits.maxEncodingTime = .unlimited
            let context = ImageProcessingContext(limits: limits)
            try await BlockingWork.run { [options] () throws(ImageError) in
                let frames = ConvertFrames(options.frames, pattern: options.output)
                var (image, indices) = try frames.chosen(
                    of: try ImageCoderRegistry.standard.decode(data, options: options.decoding, context: context))
                for transformer in options.transformers {
                    image = try transformer.apply(to: image, context: context)
                }
                try frames.write(
                    try ConvertFrames.reporting(image, printer), indices, as: options.encoding, original: data,
                    to: output, context: context)
            }
            return true
        } catch {
            console.report("\(Inputs.shortName(input)): \(error)")
            return false
        }
    }
}
