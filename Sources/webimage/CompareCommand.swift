// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms

/// The command `webimage compare`.
struct CompareCommand: Sendable {
    struct Options: Sendable {
        let inputs: InputArguments
        /// The file for the difference image, `-` for standard output, or `nil`.
        let output: String?
        let format: ImageFormat
        let gain: Int
        let minimumScore: Double?
        let overwrites: Bool
        let json: Bool
        let reader: ImageReader

        init(_ arguments: Arguments) throws(UsageError) {
            try arguments.expectOperands(2...2, "A or B")
            inputs = try InputArguments(arguments)
            output = arguments.last("output")
            format = try arguments.format() ?? output.flatMap { ImageFormat(fileName: $0) } ?? .png
            gain = try arguments.integer("gain", in: 1...255) ?? 8
            minimumScore = try arguments.number("min-score")
            overwrites = arguments.has("overwrite")
            json = arguments.has("json")
            if json, output == "-" { throw UsageError("--json can’t be combined with --output -") }
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
        let inputs = await InputRun.resolve(options.inputs, console).list.inputs
        interruption.endAtOnce { [reader = options.reader] in
            let message = InterruptionMessage("The images weren’t compared.", inputs)
            return message.text(kept: await reader.keptDownloads())
        }
        guard inputs.count == 2 else { throw UsageError("A and B must denote two images, not \(inputs.count)") }
        guard await options.reader.isPrepared(console) else { return ExitStatus.failed }
        var report = ComparisonReport(inputs: inputs.map { InputLabel.redacted($0.text) })
        var status = ExitStatus.ok
        var label: String?
        do throws(ImageError) {
            var images: [PixelBuffer] = []
            for input in inputs {
                label = input.label
                images.append(try await pixels(input))
            }
            label = nil
            report.size = images[0].size
            report = try await BlockingWork.run { [images, report, options] () throws(ImageError) in
                try Self.compare(images, report, options)
            }
        } catch {
            report.error = error
            status = ExitStatus.failed
            console.report(label, error)
        }
        if options.json {
            console.printJSON(report.json)
        } else if options.output != "-" {
            console.print(report.lines)
        }
        if let limit = options.minimumScore, let comparison = report.comparison {
            let score = comparison.score ?? (comparison.isEqual ? 100 : -Double.infinity)
            if score < limit {
                console.report(
                    "the score \(NumberFormatting.decimal(score, digits: 2)) is less than "
                        + NumberFormatting.decimal(limit, digits: 2))
                status = ExitStatus.failed
            }
        }
        return await options.reader.finished(status, console)
    }

    private func pixels(_ input: ImageInput) async throws(ImageError) -> PixelBuffer {
        let data = try await options.reader.data(input)
        return try await BlockingWork.run(options.reader.limits) { [options] (context) throws(ImageError) in
            try options.reader.coders(for: input).decode(
                data, options: ImageDecodingOptions(frames: .first), context: context
            ).pixels
        }
    }

    /// Compares the images and writes the difference image. Blocks.
    private static func compare(
        _ images: [PixelBuffer], _ report: ComparisonReport, _ options: Options
    ) throws(ImageError) -> ComparisonReport {
        var report = report
        report.comparison = try ImageComparison(images[0], images[1])
        guard let output = options.output else { return report }
        let difference = try ImageComparison.difference(images[0], images[1], gain: options.gain)
        let context = ImageProcessingContext(limits: options.reader.limits)
        let data = try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: difference), as: ImageEncoding(format: options.format), context: context)
        try Files.write(data, to: output, overwrites: options.overwrites)
        report.outputs = [
            OutputRecord(
                path: output, format: options.format.rawValue, width: difference.size.width,
                height: difference.size.height, byteCount: data.count)
        ]
        return report
    }
}
