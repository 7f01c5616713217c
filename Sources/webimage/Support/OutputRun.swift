// SPDX-License-Identifier: MIT

import WebImage
import WebImageCommand
import WebImagePrograms

/// The outputs that the options of a command specify.
struct OutputArguments: Sendable {
    /// The value of `--output`, or `nil`.
    var output: String?
    /// The value of `--output-dir`, or `nil`.
    let directory: String?
    let existing: OutputPlan.ExistingFiles
    let json: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        try arguments.checkOutputs()
        output = arguments.last("output")
        directory = arguments.last("output-dir")
        existing = try arguments.existingFiles
        json = arguments.has("json")
    }

    /// Throws a ``UsageError`` if the output isn't possible for these inputs.
    func plan(_ inputs: InputList) throws(UsageError) -> OutputPlan {
        let plan = try OutputPlan(
            output: output, directory: directory, isSingle: inputs.isSingle, existing: existing,
            isDirectory: Files.isDirectory, isFile: Files.isFile)
        guard let plan else { throw UsageError("missing --output") }
        return plan
    }
}

/// The part of a command that writes files for each of its inputs and reports them in order.
struct OutputRun: Sendable {
    /// All inputs of the command.
    let run: InputRun
    let inputs: [ImageInput]
    let plan: OutputPlan
    let json: Bool
    let reader: ImageReader
    /// The extension of the output format, or `nil` if it depends on the images.
    let fileExtension: String?

    /// Processes the inputs. Returns the exit status. `interruption` reports the written files if the user interrupts
    /// the command. Records aren't printed as text if standard output contains an image. `process` writes the files of
    /// an input, and `whenReported` is called after its record was reported.
    func perform(
        _ interruption: SignalHandler, printsRecords: Bool = true,
        _ process: @escaping @Sendable (ImageInput, OutputFacts, OutputWriter) async -> LabeledRecord,
        whenReported: (ImageRecord) -> Void = { _ in }
    ) async -> Int32 {
        let writer = await BlockingWork.value { OutputWriter(plan, inputs: inputs) }
        interruption.endAtOnce { [inputs, reader] in
            let message = writer.interruptionMessage(of: inputs)
            return message.text(kept: await reader.keptDownloads())
        }
        let facts = run.facts(inputs)
        writer.claim(facts, fileExtension: fileExtension)
        let reporter = RecordReporter(
            run.console, json: json, writesOutput: plan.isStandardOutput || !printsRecords)
        await run.each(inputs) {
            await process($1, facts[$0], writer)
        } deliver: { result in
            reporter.report(result)
            whenReported(result.record)
        }
        return await reader.finished(reporter.status, run.console)
    }
}
