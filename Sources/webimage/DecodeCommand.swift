// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms

/// The command `webimage decode`.
struct DecodeCommand: Sendable {
    struct Options: Sendable {
        let input: String
        let frames: FrameListArgument?
        let size: TargetSize?
        let format: RawPixelFormat
        let output: String
        let reader: ImageReader

        init(_ arguments: Arguments) throws(UsageError) {
            try arguments.expectOperands(1...1, "IN")
            input = arguments.operands[0]
            frames = try arguments.frameSelection()
            size = try arguments.size()
            format =
                try arguments.choice("pixel-format", of: RawPixelFormat.allCases.map(\.rawValue))
                .flatMap(RawPixelFormat.init) ?? .rgba8
            output = arguments.last("output") ?? "-"
            reader = ImageReader(
                try NetworkSetup(try NetworkArguments(arguments), operands: arguments.operands),
                cache: arguments.last("cache-dir"), isVerbose: arguments.has("verbose"))
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
            let data = try await options.reader.data(options.input)
            let limits = options.reader.limits
            let size = try await BlockingWork.run { [options] () throws(ImageError) -> PixelSize in
                let (size, pixels) = try Self.decode(data, options, ImageProcessingContext(limits: limits))
                try Files.write(pixels, to: options.output)
                return size
            }
            let text = "\(size.width) \(size.height)"
            if options.output != "-" {
                console.print(text)
            } else if !console.isQuiet {
                console.writeError(text + "\n")
            }
            return await options.reader.finished(ExitStatus.ok, console)
        } catch {
            console.report("\(Inputs.shortName(options.input)): \(error)")
            return await options.reader.finished(ExitStatus.failed, console)
        }
    }

    /// Returns the size and the pixels of the selected frames, one after another. Blocks.
    private static func decode(
        _ data: Data, _ options: Options, _ context: ImageProcessingContext
    ) throws(ImageError) -> (PixelSize, Data) {
        let coders = ImageCoderRegistry.standard
        var decoding = ImageDecodingOptions(size: options.size, frames: .first)
        decoding.preservesBitDepth = options.format == .rgba16
        guard let frames = options.frames else {
            let image = try coders.decode(data, options: decoding, context: context)
            return (image.size, Data(options.format.bytes(of: image.pixels)))
        }
        if let index = frames.singleIndex {
            decoding.frames = .index(index)
            let image = try coders.decode(data, options: decoding, context: context)
            return (image.size, Data(options.format.bytes(of: image.pixels)))
        }
        decoding.frames = .all
        let image = try coders.decode(data, options: decoding, context: context)
        var pixels = Data()
        for index in try frames.indices(count: image.frameCount) {
            let frame = try image.animation?.frame(at: index) ?? image.pixels
            pixels.append(contentsOf: options.format.bytes(of: frame))
        }
        return (image.size, pixels)
    }
}
