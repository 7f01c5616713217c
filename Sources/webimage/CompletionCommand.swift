// SPDX-License-Identifier: MIT

import WebImageCommand
import WebImagePrograms

/// The command `webimage completion`.
struct CompletionCommand {
    private let shell: CompletionScript.Shell
    private let console: Console

    init(_ arguments: Arguments, _ console: Console) throws(UsageError) {
        let names = CompletionScript.Shell.allCases.map(\.rawValue).joined(separator: ", ")
        try arguments.expectOperands(1...1, "shell: \(names)")
        guard let shell = CompletionScript.Shell(rawValue: arguments.operands[0]) else {
            throw UsageError("unknown shell “\(arguments.operands[0])” (use one of \(names))")
        }
        self.shell = shell
        self.console = console
    }

    func run() -> Int32 {
        console.write(CompletionScript.text(for: shell))
        return ExitStatus.ok
    }
}
