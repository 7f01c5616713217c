// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImagePrograms

/// The command `webimage load`.
struct LoadCommand: Sendable {
    static let policies = CachePolicy.allCases.map(\.rawValue)

    private let options: LoadOptions
    private let console: Console
    private let interruption: SignalHandler

    init(_ options: LoadOptions, _ console: Console, _ interruption: SignalHandler) {
        self.options = options
        self.console = console
        self.interruption = interruption
    }

    func run() async -> Int32 {
        let inputs: [String]
        do throws(ImageError) {
            inputs = try await prepare()
        } catch {
            console.report("\(error)")
            return ExitStatus.failed
        }
        let trace = options.trace.map { _ in ChromeTraceObserver() }
        let manager = ImageManager { configuration in
            if let trace { configuration.observers = [trace] }
            configuration.diskCache = DiskCache.Configuration(path: CacheDirectory.path(options.cache))
            configuration.downloader.maxConnections = options.concurrency
            // Command-line users expect all URLs to load immediately, so don't limit the start rate.
            configuration.downloader.maxStartsPerSecond = nil
            configuration.downloader.userAgent = "webimage/\(WebImageTool.version)"
        }
        if let error = manager.diskCacheError { console.report("the disk cache isn’t available: \(error)") }
        let progress = ProgressPrinter(total: inputs.count, mode: progressMode, console: console)
        let rows = await interruption.cancelling { [self] in
            await ImageBatch(manager: manager, concurrency: options.concurrency).run(
                inputs: inputs, names: outputNames(inputs), load: load(with: manager), progress: progress
            ) { row in
                if options.json { console.print(row.json.text) }
            }
        }
        await manager.shutdown()
        progress.end()
        let isTraced = await write(trace)
        show(interruption.status == nil ? rows : rows.filter { $0.error != .cancelled })
        return isTraced && rows.count == inputs.count && rows.allSatisfy { $0.error == nil }
            ? ExitStatus.ok : ExitStatus.failed
    }

    private func prepare() async throws(ImageError) -> [String] {
        try await BlockingWork.run { [options] () throws(ImageError) in
            for folder in [options.output, options.previewOutput] {
                if let folder { try Files.makeDirectory(folder) }
            }
            return try Inputs.expanded(options.inputs)
        }
    }

    /// Returns `false` if the requested trace can't be written.
    private func write(_ trace: ChromeTraceObserver?) async -> Bool {
        guard let trace, let path = options.trace else { return true }
        do throws(ImageError) {
            try await BlockingWork.run { () throws(ImageError) in try Files.write(trace.jsonData(), to: path) }
            return true
        } catch {
            console.report("\(path): \(error)")
            return false
        }
    }

    private var progressMode: ProgressPrinter.Mode {
        if options.quiet || options.json && (console.out.isTerminal || !console.error.isTerminal) { return .none }
        return console.error.isTerminal ? .inPlace : .lines
    }

    /// Returns the file names in the order of the inputs, so that they don't depend on the order in which the loads
    /// finish.
    private func outputNames(_ inputs: [String]) -> [String] {
        guard options.output != nil || options.previewOutput != nil else { return [] }
        var names = OutputNames()
        return inputs.map { input in
            names.claim(for: (try? Inputs.url(input)) ?? URL(filePath: "/picture"))
        }
    }

    private func load(with manager: ImageManager) -> ImageBatchLoad {
        ImageBatchLoad(
            manager: manager, size: options.size, policy: CachePolicy(rawValue: options.policy) ?? .http,
            transformers: options.transformers, output: options.output, format: options.format,
            tags: options.tag.map { [$0] } ?? [],
            previews: options.preview.map {
                PreviewLoad(policy: $0 == "blurred" ? .blurred : .progressive, directory: options.previewOutput)
            })
    }

    /// Replaces the names of the rows with the last path component of the URL if that's unique.
    private static func named(_ rows: [LoadRow]) -> [LoadRow] {
        let names = rows.map { Inputs.lastPart($0.url) }
        let counts = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
        return zip(rows, names).map { row, name in
            var row = row
            if counts[name] == 1 { row.name = name }
            return row
        }
    }

    private func show(_ rows: [LoadRow]) {
        if !options.quiet, !options.json, !rows.isEmpty {
            console.print(LoadRow.table(Self.named(rows)).lines(console.out))
            console.remark(LoadRow.summary(rows))
        }
        // On a terminal, the table already contains the errors.
        let isSaid = options.json || !options.quiet && console.out.isTerminal && console.error.isTerminal
        guard !isSaid, interruption.status == nil else { return }
        for row in rows {
            if let error = row.error { console.report("\(row.url): \(error)") }
        }
    }
}
