// SPDX-License-Identifier: MIT

import Foundation
import WebImageCommand
import WebImagePrograms

/// The command `webimage doctor`.
struct DoctorCommand: Sendable {
    private let directory: String
    private let json: Bool
    private let server: ServerHealth?
    private let console: Console

    init(_ arguments: Arguments, _ console: Console) throws(UsageError) {
        if let operand = arguments.operands.first { throw UsageError("unexpected argument “\(operand)”") }
        directory = CacheDirectory.path(arguments.last("cache-dir"))
        json = arguments.has("json")
        for option in ["config", "nginx"] where arguments.has(option) && !arguments.has("server") {
            throw UsageError("--\(option): this option needs --server")
        }
        server =
            arguments.has("server")
            ? ServerHealth(
                environment: ProcessInfo.processInfo.environment, configurationFile: arguments.last("config"),
                nginxFile: arguments.last("nginx")) : nil
        self.console = console
    }

    func run() async -> Int32 {
        let doctor = Doctor(
            version: ProgramInfo.version, cacheDirectory: directory,
            environment: ProcessInfo.processInfo.environment, server: server)
        let report = await BlockingWork.value { doctor.report() }
        if json {
            console.printJSON(report.json)
        } else {
            console.print(report.lines(console.out))
        }
        return report.isUnsafe ? ExitStatus.failed : ExitStatus.ok
    }
}
