// SPDX-License-Identifier: MIT

import Foundation

@main
struct Main {
    static func main() async {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == QueueProbe.word { return try await QueueProbe.run() }
            if arguments.first == ScaleProbe.word { return try await ScaleProbe.run(Array(arguments.dropFirst())) }
            let settings = try Settings(arguments)
            guard !settings.wantsHelp else { return print(Settings.help) }
            defer { try? FileManager.default.removeItem(atPath: settings.folder) }
            try await run(settings)
        } catch let error as Settings.Unusable {
            FileHandle.standardError.write(Data("benchmarks: \(error.reason)\n\(Settings.help)\n".utf8))
            exit(64)
        } catch {
            FileHandle.standardError.write(Data("benchmarks: \(error)\n".utf8))
            exit(70)
        }
    }

    private static func run(_ settings: Settings) async throws {
        var reports: [CaseReport] = []
        let runner = Runner(rounds: settings.rounds)
        for suite in allSuites where settings.suites.isEmpty || settings.suites.contains(suite.name) {
            do {
                for item in try await suite.cases(settings)
                where settings.filter.map({ item.name.contains($0) }) ?? true {
                    let report = try await runner.run(item, suite: suite.name)
                    reports.append(report)
                    if !settings.wantsJSON { FileHandle.standardOutput.write(Data("\(report.text)\n\n".utf8)) }
                }
            } catch let skipped as Skipped {
                FileHandle.standardError.write(Data("\(suite.name) skipped: \(skipped.reason)\n".utf8))
            }
            // With a filter, the files would lose the other cases of the suite.
            if settings.filter == nil {
                try ReportFiles(settings).write(reports.filter { $0.suite == suite.name }, suite: suite.name)
            }
        }
        if settings.wantsJSON {
            print(String(decoding: try ReportFiles.json(reports), as: UTF8.self))
        } else {
            let missed = reports.flatMap { report in report.verdicts.filter { !$0.isMet }.map { (report, $0) } }
            let total = reports.reduce(0) { $0 + $1.verdicts.count }
            print("\(total - missed.count) of \(total) goals met")
            for (report, verdict) in missed { print("  \(report.suite): \(report.name): \(verdict.text)") }
        }
    }
}
