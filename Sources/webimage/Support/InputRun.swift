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
    /// starts no further inputs.
    func each<Result: Sendable>(
        _ inputs: [ImageInput]? = nil, _ body: @escaping @Sendable (Int, ImageInput) async -> Result,
        deliver: (Result) async -> Void
    ) async {
        let inputs = inputs ?? list.inputs
        var waiting: [Int: Result] = [:]
        var delivered = 0
        await withTaskGroup(of: (Int, Result).self) { group in
            var next = 0
            func startOne() {
                guard next < inputs.count, !Task.isCancelled else { return }
                let index = next
                next += 1
                group.addTask { (index, await body(index, inputs[index])) }
            }
            for _ in 0..<jobs { startOne() }
            while let (index, result) = await group.next() {
                waiting[index] = result
                while let result = waiting.removeValue(forKey: delivered) {
                    await deliver(result)
                    delivered += 1
                }
                startOne()
            }
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
