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
        network = try NetworkSetup(options.network, operands: options.inputs)
    }

    func run() async -> Int32 {
        let inputs: [String]
        let key: DiskCache.EncryptionKey?
        do throws(ImageError) {
            (inputs, key) = try await prepare()
        } catch {
            console.report("\(error)")
            return ExitStatus.failed
        }
        if options.output != nil, inputs.count > 1 {
            console.report(FetchOptions.tooManyImages.message)
            return ExitStatus.usage
        }
        let trace = options.trace.map { _ in ChromeTraceObserver() }
        let manager = makeManager(trace, key)
        if let error = manager.diskCacheError { console.report("the disk cache isn’t available: \(error)") }
        let progress = ProgressPrinter(total: inputs.count, mode: progressMode, console: console)
        let rows = await interruption.cancelling { [self] in
            await ImageBatch(manager: manager, concurrency: options.jobs).run(
                inputs: inputs, names: outputNames(inputs), load: load(with: manager), progress: progress
            ) { row in
                if options.json { console.printJSON(row.json) }
            }
        }
        await manager.shutdown()
        progress.end()
        let isSaved = await saveCookies()
        let isTraced = await write(trace)
        show(interruption.status == nil ? rows : rows.filter { $0.error != .cancelled })
        if [ExitStatus.interrupted, ExitStatus.terminated].contains(interruption.status) {
            // Resume data isn't encrypted, so the manager stores it only without an encryption key.
            let isKept = manager.diskCacheError == nil && key == nil
            console.writeError(
                isKept ? "Interrupted. Partial downloads are kept and will be resumed.\n" : "Interrupted.\n")
        }
        return isTraced && isSaved && rows.count == inputs.count && rows.allSatisfy { $0.error == nil }
            ? ExitStatus.ok : ExitStatus.failed
    }

    private func makeManager(_ trace: ChromeTraceObserver?, _ key: DiskCache.EncryptionKey?) -> ImageManager {
        ImageManager { configuration in
            if let trace { configuration.observers.append(trace) }
            if options.verbose { configuration.observers.append(LogObserver(level: .debug)) }
            configuration.diskCache = DiskCache.Configuration(path: CacheDirectory.path(options.cache))
            configuration.diskCache?.encryptionKey = key
            configuration.downloader.maxConnections = options.jobs
            // Command-line users expect all URLs to load immediately, so don't limit the start rate.
            configuration.downloader.maxStartsPerSecond = nil
            configuration.downloader.userAgent = "webimage/\(ProgramInfo.version)"
            network.apply(to: &configuration)
        }
    }

    /// Returns the inputs and the encryption key after creating the output directories and reading the cookies.
    private func prepare() async throws(ImageError) -> (inputs: [String], key: DiskCache.EncryptionKey?) {
        try await BlockingWork.run { [options, network] () throws(ImageError) in
            let key = try options.encryptionKeyFile.map { path throws(ImageError) in
                try EncryptionKeyFile.key(at: path)
            }
            if let format = options.encoding.format, !ImageCoderRegistry.standard.canEncode(format) {
                throw .processing(.noEncoder(format))
            }
            for directory in [options.outputDirectory, options.previewDirectory] {
                if let directory { try Files.makeDirectory(directory) }
            }
            try network.loadCookies()
            return (try Inputs.expanded(options.inputs, lists: options.lists), key)
        }
    }

    /// Returns `false` if the cookies can't be written.
    private func saveCookies() async -> Bool {
        do throws(ImageError) {
            try await BlockingWork.run { [network] () throws(ImageError) in try network.saveCookies() }
            return true
        } catch {
            console.report("\(error)")
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
            console.report("\(path): \(error)")
            return false
        }
    }

    /// A Boolean value that indicates whether standard output contains the image instead of the table.
    private var writesToStandardOutput: Bool { options.output == "-" }

    private var progressMode: ProgressPrinter.Mode {
        if options.quiet || options.verbose { return .none }
        if options.json && (console.out.isTerminal || !console.error.isTerminal) { return .none }
        if writesToStandardOutput && console.out.isTerminal { return .none }
        return console.error.isTerminal ? .inPlace : .lines
    }

    /// Returns the file names in the order of the inputs, so that they don't depend on the order in which the loads
    /// finish.
    private func outputNames(_ inputs: [String]) -> [String] {
        guard options.output != nil || options.outputDirectory != nil || options.previewDirectory != nil else {
            return []
        }
        var names = OutputNames()
        return inputs.map { input in
            names.claim(for: (try? Inputs.url(input)) ?? URL(filePath: "/image"))
        }
    }

    private func load(with manager: ImageManager) -> ImageBatchLoad {
        var output: ImageBatchLoad.Output?
        if let file = options.output { output = .file(file) }
        if let directory = options.outputDirectory { output = .directory(directory) }
        return ImageBatchLoad(
            manager: manager, size: options.size, policy: CachePolicy(rawValue: options.policy) ?? .http,
            transformers: options.transformers, output: output, keepsExistingFiles: options.keepsExistingFiles,
            encoding: options.encodesAgain ? options.encoding : nil, tags: options.tag.map { [$0] } ?? [],
            previews: options.previews.map {
                PreviewLoad(policy: $0 == "blurred" ? .blurred : .progressive, directory: options.previewDirectory)
            })
    }

    /// Replaces the names of the rows with the last path component of the URL if that's unique.
    private static func named(_ rows: [FetchRow]) -> [FetchRow] {
        let names = rows.map { Inputs.lastPart($0.url) }
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
            if let error = row.error { console.report("\(row.url): \(error.shortMessage) (\(error.code))") }
        }
    }
}
