// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms

/// The command `webimage animate`.
struct AnimateCommand: Sendable {
    private let options: AnimateOptions
    private let reader: ImageReader
    private let console: Console
    private let interruption: SignalHandler

    init(
        _ options: AnimateOptions, _ reader: ImageReader, _ console: Console, _ interruption: SignalHandler
    ) {
        self.options = options
        self.reader = reader
        self.console = console
        self.interruption = interruption
    }

    func run() async throws(UsageError) -> Int32 {
        let run = await InputRun.resolve(options.inputs, console)
        let inputs = run.list.inputs
        guard !inputs.isEmpty else {
            throw UsageError("there are no images (use URLs, paths, or a list that isn’t empty)")
        }
        let durations = try options.durations(count: inputs.count)
        let plan = try plan()
        interruption.endAtOnce { [reader] in
            let message = InterruptionMessage("No file was written.", inputs)
            return message.text(kept: await reader.keptDownloads())
        }
        var report = AnimationReport(
            inputs: inputs.map { InputLabel.redacted($0.text) }, durations: durations, loopCount: options.loopCount)
        if let error = await reader.preparationError(console) {
            report.error = error
            if options.json { console.printJSON(report.json) }
            return ExitStatus.failed
        }
        var status = ExitStatus.ok
        do throws(ImageError) {
            try await check(plan, inputs)
            let found = await sources(of: run)
            if let error = found.error { throw error }
            report = try await write(inputs, found.sources, plan, report)
        } catch {
            status = ExitStatus.failed
            report.error = error
        }
        if options.json {
            console.printJSON(report.json)
        } else if !plan.isStandardOutput {
            console.print(report.lines)
        }
        for note in report.notes { console.note(note) }
        return await reader.finished(status, console)
    }

    /// Returns the plan for a single file.
    private func plan() throws(UsageError) -> OutputPlan {
        let plan = try OutputPlan(
            output: options.output, directory: nil, isSingle: true, existing: options.overwrites ? .overwrite : .fail,
            isDirectory: Files.isDirectory, isFile: Files.isFile)
        switch plan?.destination {
        case .file, .standardOutput: break
        case .directory, .template, nil:
            throw UsageError("--output: “\(options.output)” isn’t a file (use the name of a file without placeholders)")
        }
        guard let plan else { throw UsageError("missing --output (use --output OUT)") }
        return plan
    }

    /// Throws an ``ImageError`` if the file can't be encoded or there are too many images, and reports it.
    private func check(_ plan: OutputPlan, _ inputs: [ImageInput]) async throws(ImageError) {
        do throws(ImageError) {
            let format = options.encoding.formatOrAutomatic
            guard ImageCoderRegistry.standard.canEncode(format) else { throw .processing(.noEncoder(format)) }
            let limit = reader.limits.maxFrames
            guard inputs.count <= limit else {
                throw .limitExceeded(ImageError.LimitFailure(.frameCount, limit: limit, actual: inputs.count))
            }
        } catch {
            console.report(nil, error)
            throw error
        }
    }

    /// Returns the encoded images, and the first error after reporting all errors. Images from URLs and from standard
    /// input are read, and files are only found.
    private func sources(of run: InputRun) async -> (sources: [AnimateFrames.Source], error: ImageError?) {
        let held = HeldBytes(limit: reader.limits.maxDecodedBytes)
        var sources: [AnimateFrames.Source] = []
        var firstError: ImageError?
        await run.each { [reader] (_, input) -> (ImageInput, Result<AnimateFrames.Source, ImageError>) in
            do throws(ImageError) {
                return (input, .success(try await Self.source(of: input, reader, held)))
            } catch {
                return (input, .failure(error))
            }
        } deliver: { input, result in
            switch result {
            case .success(let source): sources.append(source)
            case .failure(let error):
                console.report(input.label, error)
                firstError = firstError ?? error
            }
        }
        return (sources, firstError)
    }

    private static func source(
        of input: ImageInput, _ reader: ImageReader, _ held: HeldBytes
    ) async throws(ImageError) -> AnimateFrames.Source {
        let path = try await BlockingWork.run { () throws(ImageError) -> String? in
            guard let path = try reader.filePath(of: input) else { return nil }
            guard Files.status(path) != nil else { throw .request(.fileNotFound(path: path)) }
            return path
        }
        if let path { return .file(path) }
        let data = try await reader.data(input)
        try held.add(data.count)
        return .data(data)
    }

    /// Encodes and writes the animation, and reports errors.
    private func write(
        _ inputs: [ImageInput], _ sources: [AnimateFrames.Source], _ plan: OutputPlan, _ report: AnimationReport
    ) async throws(ImageError) -> AnimationReport {
        let printer = WorkPrinter(TaskProgressDisplay("Encoding"), console)
        defer { printer.end() }
        let result = await BlockingWork.value { [options, reader] () -> Result<AnimationReport, Failure> in
            var frames: AnimateFrames?
            do throws(ImageError) {
                let writer = OutputWriter(plan, inputs: inputs)
                _ = try writer.reserve(options.output, index: 0)
                let made = AnimateFrames(inputs, sources, options, reader)
                frames = made
                return .success(try Self.write(made, writer, options, reader, report, printer))
            } catch {
                return .failure(Failure(label: frames?.failedInput?.label, error: error))
            }
        }
        switch result {
        case .success(let report): return report
        case .failure(let failure):
            console.report(failure.label, failure.error)
            throw failure.error
        }
    }

    /// Encodes and writes the animation. Blocks.
    private static func write(
        _ frames: AnimateFrames, _ writer: OutputWriter, _ options: AnimateOptions, _ reader: ImageReader,
        _ report: AnimationReport, _ printer: WorkPrinter
    ) throws(ImageError) -> AnimationReport {
        var report = report
        let first = try frames.frame(at: 0)
        let format = options.encoding.formatOrAutomatic
        let count = report.durations.count
        let animation = try ImageAnimation(
            frameDurations: report.durations.map { Duration.milliseconds($0) }, loopCount: options.loopCount,
            size: first.size
        ) { (index) throws(ImageError) in
            printer.update(done: index, total: count)
            return try frames.frame(at: index)
        }
        // Long animations take a long time to encode. The user can interrupt the command, so don't limit the time.
        let data = try ImageCoderRegistry.standard.encode(
            DecodedImage(animation: animation), as: options.encoding,
            context: ImageProcessingContext(limits: reader.limitsOfLongWork))
        try writer.write(data, to: options.output)
        report.size = first.size
        report.output = OutputRecord(
            path: options.output, format: format.rawValue, width: first.width, height: first.height,
            byteCount: data.count)
        report.notes =
            frames.notes
            + OutputLosses.notes(frameCount: 1, from: nil, in: format, isLossless: options.encoding.isLossless)
        return report
    }
}

extension AnimateCommand {
    /// An error with the short form of the input that caused it, or `nil` if no input did.
    private struct Failure: Error {
        let label: String?
        let error: ImageError
    }

    /// The sum of the sizes of all encoded images that are held in memory. The class is thread-safe.
    private final class HeldBytes: Sendable {
        private let sum = Atomic<Int>(0)
        private let limit: Int

        init(limit: Int) { self.limit = limit }

        /// Adds the size of an image. Throws an ``ImageError`` if the sum exceeds the limit.
        func add(_ count: Int) throws(ImageError) {
            guard sum.add(count, ordering: .relaxed).newValue > limit else { return }
            let size = NumberFormatting.bytes(limit)
            throw .request(
                .rejected(
                    reason:
                        "the images that aren’t files have more than \(size) together (use --max-memory, or download "
                        + "them to files first)"))
        }
    }
}
