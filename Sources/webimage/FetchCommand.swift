// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms

/// The command `webimage fetch`.
struct FetchCommand: Sendable {
    private let options: FetchOptions
    private let network: NetworkSetup
    private let console: Console
    private let interruption: SignalHandler

    init(_ options: FetchOptions, _ console: Console, _ interruption: SignalHandler) throws(UsageError) {
        self.options = options
        self.console = console
        self.interruption = interruption
        network = try NetworkSetup(options.network, operands: options.inputs.operands)
    }

    func run() async throws(UsageError) -> Int32 {
        let run = await InputRun.resolve(options.inputs, jobs: 32, console)
        let plan = try OutputPlan(
            output: options.output, directory: options.outputDirectory, isSingle: run.list.isSingle,
            existing: options.existing, isDirectory: Files.isDirectory, isFile: Files.isFile)
        if let error = await network.preparationError(console) { return fail(run, error) }
        let key: DiskCache.EncryptionKey?
        do throws(ImageError) {
            key = try await prepare()
        } catch {
            console.report(nil, error)
            return fail(run, error)
        }
        let trace = options.trace.map { _ in ChromeTraceObserver() }
        let manager = makeManager(trace, key, jobs: run.jobs)
        if let error = manager.diskCacheError { console.report("the disk cache isn’t available: \(error)") }
        let inputs = run.list.inputs
        let directory = CacheDirectory.path(options.cache)
        let kept = await BlockingWork.value { KeptDownloads(cache: directory) }
        let progress = ProgressPrinter(total: inputs.count, mode: progressMode, console: console)
        let writer = await BlockingWork.value { plan.map { OutputWriter($0, inputs: inputs) } }
        let facts = run.facts()
        writer?.claim(facts, fileExtension: options.encoding.format?.fileExtension)
        let rows = await interruption.cancelling { [self] in
            await ImageBatch(manager: manager, concurrency: run.jobs).run(
                inputs: inputs, facts: facts, load: load(with: manager, writer), progress: progress
            ) { row in
                if options.json, row.error != .cancelled { console.printJSON(row.json) }
            }
        }
        let isCached = await checkCache(manager)
        await manager.shutdown()
        progress.end()
        let isSaved = await saveCookies()
        let isTraced = await write(trace)
        show(interruption.status == nil ? rows : rows.filter { $0.error != .cancelled })
        if interruption.isBySignal {
            await manager.downloader.partialDownloadsStored()
            let count = await BlockingWork.value { kept.count }
            let message = InterruptionMessage(rows.filter { $0.error == nil }.count, of: inputs, "loaded")
            console.writeError(message.text(kept: count))
        }
        return isTraced && isSaved && isCached && rows.count == inputs.count && rows.allSatisfy { $0.error == nil }
            ? ExitStatus.ok : ExitStatus.failed
    }

    /// Ends the command because of an error that was reported and that doesn't concern a single input.
    private func fail(_ run: InputRun, _ error: ImageError) -> Int32 {
        run.fail(json: options.json) { index, input in
            var row = FetchRow(label: input.label, input: input.text)
            row.index = index
            row.error = error
            // The objects have the member with this option.
            row.previews = options.previews == nil ? nil : []
            return row.json
        }
    }

    private func makeManager(_ trace: ChromeTraceObserver?, _ key: DiskCache.EncryptionKey?, jobs: Int) -> ImageManager
    {
        ImageManager { configuration in
            if let trace { configuration.observers.append(trace) }
            if options.verbose { configuration.logToStandardError() }
            configuration.diskCache = DiskCache.Configuration(path: CacheDirectory.path(options.cache))
            configuration.diskCache?.encryptionKey = key
            // Another process resumes an interrupted download, so store all of them in files.
            configuration.downloader.resume?.diskThreshold = 0
            configuration.downloader.maxConnections = jobs
            // Command-line users expect all URLs to load immediately, so don't limit the start rate.
            configuration.downloader.maxStartsPerSecond = nil
            configuration.downloader.userAgent = "webimage/\(ProgramInfo.version)"
            network.apply(to: &configuration)
        }
    }

    /// Reports images that the disk cache didn't store. Returns `false` if storing them is the only purpose of the
    /// command.
    private func checkCache(_ manager: ImageManager) async -> Bool {
        guard let cache = manager.diskCache, let configuration = manager.configuration.diskCache,
            let message = await CacheLosses.message(cache, configuration)
        else { return true }
        let isWritten = options.output != nil || options.outputDirectory != nil
        if isWritten { console.note(message) } else { console.report(message) }
        return isWritten
    }

    /// Returns the encryption key after creating the directory of the previews.
    private func prepare() async throws(ImageError) -> DiskCache.EncryptionKey? {
        try await BlockingWork.run { [options] () throws(ImageError) in
            let key = try options.encryptionKeyFile.map { path throws(ImageError) in
                try EncryptionKeyFile.key(at: path)
            }
            if let format = options.encoding.format, !ImageCoderRegistry.standard.canEncode(format) {
                throw .processing(.noEncoder(format))
            }
            if let directory = options.previewDirectory { try Files.makeDirectory(directory) }
            return key
        }
    }

    /// Returns `false` if the cookies can't be written.
    private func saveCookies() async -> Bool {
        do throws(ImageError) {
            try await BlockingWork.run { [network] () throws(ImageError) in try network.saveCookies() }
            return true
        } catch {
            console.report(nil, error)
            return false
        }
    }

    /// Returns `false` if the requested trace can't be written.
    private func write(_ trace: ChromeTraceObserver?) async -> Bool {
        guard let trace, let path = options.trace else { return true }
        do throws(ImageError) {
            try await BlockingWork.run { () throws(ImageError) in try Files.write(trace.jsonData(), to: path) }
            return true
        } catch {
            console.report(nil, error)
            return false
        }
    }

    /// Whether standard output contains the image instead of the table.
    private var writesToStandardOutput: Bool { options.output == "-" }

    private var progressMode: ProgressPrinter.Mode {
        if options.quiet || options.verbose { return .none }
        if options.json && (console.out.isTerminal || !console.error.isTerminal) { return .none }
        if writesToStandardOutput && console.out.isTerminal { return .none }
        if console.error.isTerminal { return .inPlace }
        // The table reports each image, so a line would report it twice.
        return writesToStandardOutput ? .lines : .none
    }

    private func load(with manager: ImageManager, _ writer: OutputWriter?) -> ImageBatchLoad {
        ImageBatchLoad(
            manager: manager, size: options.size, resampling: options.resampling,
            policy: CachePolicy(rawValue: options.policy) ?? .http,
            transformers: options.transformers, writer: writer,
            encoding: options.encodesAgain ? options.encoding : nil, tags: options.tag.map { [$0] } ?? [],
            previews: options.previews.map {
                PreviewLoad(policy: $0 == "blurred" ? .blurred : .progressive, directory: options.previewDirectory)
            })
    }

    /// Replaces the names of the rows with the last path component of the URL if that's unique.
    private static func named(_ rows: [FetchRow]) -> [FetchRow] {
        let names = rows.map { Inputs.lastPart($0.label) }
        let counts = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
        return zip(rows, names).map { row, name in
            var row = row
            if counts[name] == 1 { row.name = name }
            return row
        }
    }

    private func show(_ rows: [FetchRow]) {
        if !options.json, !writesToStandardOutput, !rows.isEmpty {
            console.print(FetchRow.table(Self.named(rows)).lines(console.out))
            console.remark(FetchRow.summary(rows))
        }
        for row in rows {
            if !options.json, !writesToStandardOutput { console.print(row.outputLines) }
        }
        for row in rows {
            for note in row.notes { console.note("\(row.label): \(note)") }
            if let error = row.error { console.report(row.label, error) }
        }
    }
}
