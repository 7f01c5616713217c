// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImage
import WebImageCommand
import WebImagePrograms

/// The inputs of a command, which are processed with limited concurrency and reported in order.
struct InputRun: Sendable {
    let list: InputList
    let jobs: Int
    let console: Console

    /// Resolves the inputs and prints notes about them. `jobs` is the number of concurrent images if the user didn't
    /// specify it.
    static func resolve(
        _ arguments: InputArguments, jobs: Int = ProcessInfo.processInfo.activeProcessorCount, _ console: Console
    ) async -> InputRun {
        let list = await BlockingWork.value {
            InputList(arguments.operands, lists: arguments.lists, isRecursive: arguments.isRecursive)
        }
        for note in list.notes { console.note(note) }
        return InputRun(list: list, jobs: max(1, arguments.jobs ?? jobs), console: console)
    }

    /// Processes `inputs`, and passes the results to `deliver` in the order of the inputs. Canceling the current task
    /// starts no further inputs. At most `window` inputs are started that aren't delivered yet, so that results don't
    /// accumulate in memory while an earlier input is slow. By default, the number isn't limited.
    func each<Result: Sendable>(
        _ inputs: [ImageInput]? = nil, window: Int = .max,
        _ body: @escaping @Sendable (Int, ImageInput) async -> Result, deliver: (Result) async -> Void
    ) async {
        let inputs = inputs ?? list.inputs
        var order = OrderedDelivery<Result>(count: inputs.count, jobs: jobs, window: window)
        await withTaskGroup(of: (Int, Result).self) { group in
            func startMore() {
                while !Task.isCancelled, let index = order.start() {
                    group.addTask { (index, await body(index, inputs[index])) }
                }
            }
            startMore()
            while let (index, result) = await group.next() {
                order.add(result, of: index)
                while let result = order.nextResult() { await deliver(result) }
                startMore()
            }
        }
    }

    /// Ends a command that can't process any input because of an error that was reported. With `--json`, prints the object
    /// that `object` returns for each input. Returns the exit status.
    func fail(
        _ inputs: [ImageInput]? = nil, json: Bool, _ object: (_ index: Int, ImageInput) -> JSONValue
    ) -> Int32 {
        guard json else { return ExitStatus.failed }
        for (index, input) in (inputs ?? list.inputs).enumerated() { console.printJSON(object(index, input)) }
        return ExitStatus.failed
    }

    /// Ends a command like ``fail(_:json:_:)``, with the objects of ``ImageRecord``.
    func fail(_ error: ImageError, of inputs: [ImageInput]? = nil, json: Bool) -> Int32 {
        fail(inputs, json: json) { index, input in
            var record = ImageRecord(input: input.text)
            record.index = index
            record.error = error
            return record.json()
        }
    }

    /// Returns the facts about each input that its output name can contain. The names are unique in each directory.
    func facts(_ inputs: [ImageInput]? = nil) -> [OutputFacts] {
        let inputs = inputs ?? list.inputs
        var names = OutputNames()
        return inputs.enumerated().map { index, input in
            OutputFacts(
                name: names.claim(input.stem, in: input.folder), directory: input.directory, folder: input.folder,
                index: index, count: inputs.count)
        }
    }
}
