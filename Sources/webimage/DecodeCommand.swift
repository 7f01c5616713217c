// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImagePrograms

/// The command `webimage decode`.
struct DecodeCommand: Sendable {
    struct Options: Sendable {
        let input: String
        let frame: Int?
        let size: TargetSize?
        let output: String

        init(_ arguments: Arguments) throws(UsageError) {
            try arguments.expectOperands(1...1, "FILE")
            input = arguments.operands[0]
            frame = try arguments.integer("frame", in: 0...Int.max)
            size = try arguments.size()
            guard let rgba = arguments.last("rgba") else { throw UsageError("missing --rgba OUT") }
            output = rgba
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
            let size = try await BlockingWork.run { [options] () throws(ImageError) -> PixelSize in
                let data = try Files.read(options.input)
                let frames = FrameSelection.index(options.frame ?? 0)
                let image = try ImageCoderRegistry.standard.decode(
                    data,
                    options: ImageDecodingOptions(size: options.size, frames: options.frame == nil ? .first : frames),
                    context: ImageProcessingContext())
                try Files.write(Data(image.pixels.packedBytes()), to: options.output)
                return image.size
            }
            console.print("\(size.width) \(size.height)")
            return ExitStatus.ok
        } catch {
            console.report("\(options.input): \(error)")
            return ExitStatus.failed
        }
    }
}
