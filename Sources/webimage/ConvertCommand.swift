// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand

/// `webimage convert`.
struct ConvertCommand: Sendable {
    struct Options: Sendable {
        let input: String
        let output: String
        let decoding: DecodeOptions
        let transformers: [any ImageTransformer]
        let encoding: ImageEncoding

        init(_ arguments: Arguments) throws(UsageError) {
            try arguments.expectOperands(2...2, "IN or OUT")
            input = arguments.operands[0]
            output = arguments.operands[1]
            let frame = try arguments.integer("frame", in: 0...Int.max)
            decoding = DecodeOptions(size: try arguments.size(), frames: frame.map { .single($0) } ?? .all)
            transformers = try arguments.transformers(pictures: Files.picture)
            guard let format = ImageFormat(fileName: output) else {
                throw UsageError("the extension of “\(output)” names no format that can be written")
            }
            encoding = ImageEncoding(format: format, quality: try arguments.integer("quality", in: 1...100))
        }
    }

    private let options: Options
    private let console: Console

    init(_ options: Options, _ console: Console) {
        self.options = options
        self.console = console
    }

    func run() async -> Int32 {
        do throws(ImageError) {
            try await Blocking.run { [options] () throws(ImageError) in
                let coders = CoderRegistry.standard
                let context = CodingContext()
                guard coders.canEncode(options.encoding.format) else {
                    throw .transform(.noEncoder(options.encoding.format))
                }
                let data = try Files.read(options.input)
                var image = try coders.decode(data, options: options.decoding, context: context)
                for transformer in options.transformers {
                    image = try transformer.apply(to: image, context: TransformContext(coding: context))
                }
                try Files.write(
                    try coders.encode(image, as: options.encoding, context: context), to: options.output)
            }
            return ExitStatus.ok
        } catch {
            console.report("\(options.input): \(error)")
            return ExitStatus.failed
        }
    }
}
