// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImagePrograms

/// The command `webimage convert`.
struct ConvertCommand: Sendable {
    struct Options: Sendable {
        let input: String
        let output: String
        let decoding: ImageDecodingOptions
        let transformers: [any ImageTransformer]
        let frames: ConvertFrames
        let encoding: ImageEncoding

        init(_ arguments: Arguments) throws(UsageError) {
            try arguments.expectOperands(2...2, "IN or OUT")
            input = arguments.operands[0]
            output = arguments.operands[1]
            let frame = try arguments.integer("frame", in: 0...Int.max)
            decoding = ImageDecodingOptions(
                size: try arguments.size(), frames: frame.map { .index($0) } ?? .all,
                preservesBitDepth: try arguments.choice("depth", of: ["8", "16"]) == "16")
            transformers = try arguments.transformers(readImage: Files.image)
            guard let format = ImageFormat(fileName: output) else {
                throw UsageError("the extension of “\(output)” doesn’t name a format that can be written")
            }
            frames = try ConvertFrames(arguments, output: output)
            var encoding = try arguments.encoding(format)
            encoding.loopCount = try arguments.integer("loop", in: 0...65_535)
            self.encoding = encoding
        }
    }

    private let options: Options
    private let console: Console

    init(_ options: Options, _ console: Console) {
        self.options = options
        self.console = console
    }

    func run() async -> Int32 {
        let printer = WorkPrinter(TaskProgressDisplay("Encoding"), console)
        defer { printer.end() }
        do throws(ImageError) {
            try await BlockingWork.run { [options] () throws(ImageError) in
                let coders = ImageCoderRegistry.standard
                // Long animations take a long time to convert. The user can interrupt the command, so don't limit the
                // time.
                var limits = ImageLimits.desktop
                limits.maxDecodingTime = .infinity
                let context = ImageProcessingContext(limits: limits)
                let format = options.encoding.formatOrAutomatic
                guard coders.canEncode(format) else { throw .processing(.noEncoder(format)) }
                let data = try Files.read(options.input)
                var (image, indices) = try options.frames.chosen(
                    of: try coders.decode(data, options: options.decoding, context: context))
                for transformer in options.transformers {
                    image = try transformer.apply(to: image, context: context)
                }
                try options.frames.write(
                    try ConvertFrames.telling(image, printer), indices, as: options.encoding, original: data,
                    to: options.output, context: context)
            }
            return ExitStatus.ok
        } catch {
            console.report("\(options.input): \(error)")
            return ExitStatus.failed
        }
    }
}
