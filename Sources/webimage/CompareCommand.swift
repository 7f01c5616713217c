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
        var report = ComparisonReport(inputs: inputs.map { InputLabel.redacted($0.text) })
        if let error = await options.reader.preparationError(console) {
            report.error = error
            if options.json { console.printJSON(report.json) }
            return ExitStatus.failed
        }
        var status = ExitStatus.ok
        var label: String?
        do throws(ImageError) {
            var images: [PixelBuffer] = []
            for input in inputs {
                label = input.label
                let (pixels, note) = try await pixels(input)
                images.append(pixels)
                if let note { report.notes.append(note) }
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
        for note in report.notes { console.note(note) }
        if let failure = lowScore(report) {
            report.notes.append(failure)
            status = ExitStatus.failed
        }
        if options.json {
            console.printJSON(report.json)
        } else if options.output != "-" {
            console.print(report.lines)
        }
        if let failure = lowScore(report) { console.report(failure) }
        return await options.reader.finished(status, console)
    }

    /// Returns the message about a score that is less than the requested minimum, or `nil`.
    private func lowScore(_ report: ComparisonReport) -> String? {
        guard let limit = options.minimumScore, let comparison = report.comparison else { return nil }
        let score = comparison.score ?? (comparison.isEqual ? 100 : -Double.infinity)
        guard score < limit else { return nil }
        return "the score \(NumberFormatting.decimal(score, digits: 2)) is less than "
            + NumberFormatting.decimal(limit, digits: 2)
    }

    /// Returns the pixels of the first frame, and a note if there are further ones.
    private func pixels(_ input: ImageInput) async throws(ImageError) -> (PixelBuffer, note: String?) {
        let data = try await options.reader.data(input)
        return try await BlockingWork.run(options.reader.limits) { [options] (context) throws(ImageError) in
            let pixels = try options.reader.coders(for: input).decode(
                data, options: ImageDecodingOptions(frames: .first), context: context
            ).pixels
            let note = OutputLosses.firstFrameNote((try? ImageInfo(data: data)), "compared")
            return (pixels, note.map { "\(input.label): \($0)" })
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
