// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand

/// `webimage cache`.
struct CacheCommand: Sendable {
    struct Options: Sendable {
        enum Action: String, CaseIterable {
            case path, info, list, verify, trim, clear
        }

        let action: Action
        let directory: String
        let size: Int?
        let json: Bool

        init(_ arguments: Arguments) throws(UsageError) {
            let names = Action.allCases.map(\.rawValue).joined(separator: ", ")
            try arguments.expectOperands(1...1, "action: \(names)")
            guard let action = Action(rawValue: arguments.operands[0]) else {
                throw UsageError("unknown action “\(arguments.operands[0])”; there are \(names)")
            }
            self.action = action
            directory = CacheFolder.path(arguments.last("cache"))
            size = try arguments.bytes("size")
            json = arguments.has("json")
            if size != nil, action != .trim { throw UsageError("--size goes with trim") }
        }
    }

    private let options: Options
    private let console: Console

    init(_ options: Options, _ console: Console) {
        self.options = options
        self.console = console
    }

    func run() async -> Int32 {
        guard options.action != .path else {
            tell(["path": .string(options.directory)], options.directory)
            return ExitStatus.ok
        }
        let configuration = DiskCacheConfiguration(directory: options.directory)
        // Looking after a cache that nobody has made yet does not make it.
        guard FileManager.default.fileExists(atPath: options.directory) else {
            return report(on: .init(path: options.directory, limit: configuration.sizeLimit))
        }
        do throws(ImageError) {
            let cache = try await Blocking.run { () throws(ImageError) in try DiskCache(configuration: configuration) }
            let outcome = await perform(cache, configuration)
            await cache.close()
            return report(on: outcome)
        } catch {
            console.report("\(error)")
            return ExitStatus.failed
        }
    }

    /// What an action found and left.
    private struct Outcome: Sendable {
        var path: String
        var limit: Int
        var info: DiskCacheInfo?
        var entries: [DiskEntrySummary] = []
        var verified = VerifyReport()
        /// Entries and bytes before.
        var before: (entries: Int, bytes: Int) = (0, 0)
    }

    private func perform(_ cache: DiskCache, _ configuration: DiskCacheConfiguration) async -> Outcome {
        var outcome = Outcome(path: options.directory, limit: configuration.sizeLimit)
        let before = await cache.info()
        outcome.before = (before.entries, before.bytes)
        switch options.action {
        case .path, .info: break
        case .list: outcome.entries = await cache.entries()
        case .verify: outcome.verified = await cache.verify()
        case .trim: await cache.trim(toBytes: options.size ?? configuration.sizeLimit)
        case .clear: await cache.removeAll()
        }
        outcome.info = await cache.info()
        return outcome
    }

    private func report(on outcome: Outcome) -> Int32 {
        switch options.action {
        case .path, .info: reportInfo(outcome)
        case .list: reportList(outcome)
        case .verify:
            let report = outcome.verified
            tell(
                [
                    "checked": .int(report.checked), "damaged": .int(report.damaged), "adopted": .int(report.adopted),
                    "missing": .int(report.missing),
                ],
                "\(report.checked) checked, \(report.damaged) damaged, \(report.adopted) adopted, "
                    + "\(report.missing) missing")
            return report.damaged > 0 ? ExitStatus.failed : ExitStatus.ok
        case .trim, .clear:
            let left = outcome.info?.entries ?? 0
            let bytes = outcome.info?.bytes ?? 0
            let removed = max(0, outcome.before.entries - left)
            let freed = max(0, outcome.before.bytes - bytes)
            tell(
                ["removed": .int(removed), "freed": .int(freed), "entries": .int(left), "bytes": .int(bytes)],
                "\(removed) removed (\(Figures.bytes(freed))), \(left) left (\(Figures.bytes(bytes)))")
        }
        return ExitStatus.ok
    }

    private func reportInfo(_ outcome: Outcome) {
        let info = outcome.info
        let counters = info?.counters ?? .init()
        let oldest = info?.oldest.map(CacheRow.timestamp)
        let share = Double(info?.bytes ?? 0) / Double(max(1, outcome.limit)) * 100
        tell(
            [
                "path": .string(outcome.path), "entries": .int(info?.entries ?? 0), "bytes": .int(info?.bytes ?? 0),
                "limit": .int(outcome.limit), "oldest": JSONValue(oldest), "hits": .int(counters.hits),
                "misses": .int(counters.misses), "suspended": JSONValue(info?.suspended),
            ],
            """
            path     \(DisplayText.safe(outcome.path))
            entries  \(info?.entries ?? 0)
            bytes    \(Figures.bytes(info?.bytes ?? 0)) of \(Figures.bytes(outcome.limit)) \
            (\(Figures.decimal(share, digits: 1)) %)
            oldest   \(oldest ?? "–")
            reads    \(counters.hits) hits, \(counters.misses) misses by this process
            """ + (info?.suspended.map { "\nwriting  \($0)" } ?? ""))
    }

    private func reportList(_ outcome: Outcome) {
        let rows = outcome.entries.map {
            CacheRow(
                key: $0.key, format: $0.format?.rawValue, bytes: $0.bytes, stored: $0.stored,
                lastAccess: $0.lastAccess, expires: $0.expires)
        }
        if options.json {
            console.print(rows.map(\.json.text))
        } else if rows.isEmpty {
            console.print("The cache is empty.")
        } else {
            console.print(CacheRow.table(rows, now: Date()).lines(console.out))
        }
    }

    private func tell(_ json: JSONValue, _ text: String) { console.print(options.json ? json.text : text) }
}
