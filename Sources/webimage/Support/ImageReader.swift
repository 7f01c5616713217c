// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImagePrograms

/// A reader of encoded images from URLs, files, and standard input. All reads share a manager, which is created for the
/// first URL.
actor ImageReader {
    private let network: NetworkSetup
    private let cache: String?
    /// Whether the limits for pixels are ignored, because only headers are read.
    private let readsOnlyHeaders: Bool
    private let isVerbose: Bool
    private var manager: ImageManager?
    /// The resume data that the manager adds to the cache directory, or `nil` without a cache.
    private var kept: KeptDownloads?

    /// Creates a reader. `cache` is the directory of the disk cache, or `nil` for no disk cache.
    init(_ network: NetworkSetup, cache: String?, isVerbose: Bool, readsOnlyHeaders: Bool = false) {
        self.network = network
        self.cache = cache
        self.isVerbose = isVerbose
        self.readsOnlyHeaders = readsOnlyHeaders
    }

    /// Creates a reader for the options of a command. Without `operands`, all operands are inputs.
    init(
        _ arguments: Arguments, operands: [String]? = nil, readsOnlyHeaders: Bool = false
    ) throws(UsageError) {
        self.init(
            try NetworkSetup(try NetworkArguments(arguments), operands: operands ?? arguments.operands),
            cache: arguments.last("cache-dir"), isVerbose: arguments.has("verbose"), readsOnlyHeaders: readsOnlyHeaders)
    }

    nonisolated var limits: ImageLimits { network.arguments.limits.imageLimits() }

    /// The limits for long operations, whose time is only limited if an option limits it.
    nonisolated var limitsOfLongWork: ImageLimits { network.arguments.limits.imageLimits(limitsTime: false) }

    /// Returns the coders for the data of an input. Every command uses them.
    nonisolated func coders(for input: ImageInput) -> ImageCoderRegistry {
        ProgramCoders.coders(
            for: input.text, isolatesAllFormats: network.arguments.limits.isolatesAllFormats)
    }

    func data(_ input: ImageInput) async throws(ImageError) -> Data {
        if let failure = input.failure { throw failure }
        return try await data(input.text)
    }

    /// Returns the encoded image at `input`, which is a URL, a path, or `-` for standard input.
    func data(_ input: String) async throws(ImageError) -> Data {
        let limit = limits.maxEncodedBytes
        if input == "-" {
            return try await BlockingWork.run { () throws(ImageError) in try Files.read("-", limit: limit) }
        }
        let url = try Inputs.resolved(input)
        if url.isFileURL {
            // A path appears in errors as specified by the user.
            let path = Inputs.hasScheme(input) ? url.path(percentEncoded: false) : input
            return try await BlockingWork.run { () throws(ImageError) in try Files.read(path, limit: limit) }
        }
        var request = ImageRequest(url: url)
        if readsOnlyHeaders {
            var limits = ImageLimits.unlimited
            limits.maxEncodedBytes = limit
            request.limits = limits
        }
        return try await sharedManager().data(for: request)
    }

    /// Returns the path of an input that can be read several times, or `nil` for a URL or a stream.
    nonisolated func filePath(of input: ImageInput) throws(ImageError) -> String? {
        if let failure = input.failure { throw failure }
        guard input.text != "-", !Files.isOpenStream(input.text) else { return nil }
        let url = try Inputs.resolved(input.text)
        guard url.isFileURL else { return nil }
        // A path appears in errors as specified by the user.
        return Inputs.hasScheme(input.text) ? url.path(percentEncoded: false) : input.text
    }

    private func sharedManager() -> ImageManager {
        if let manager { return manager }
        if let path = cache.map(CacheDirectory.path) { kept = KeptDownloads(cache: path) }
        let made = ImageManager {
            $0.diskCache = cache.map { DiskCache.Configuration(path: CacheDirectory.path($0)) }
            // Another process resumes an interrupted download, so store all of them in files.
            $0.downloader.resume?.diskThreshold = 0
            $0.downloader.userAgent = "webimage/\(ProgramInfo.version)"
            network.apply(to: &$0)
            if isVerbose { $0.logToStandardError() }
        }
        manager = made
        return made
    }

    /// Writes the cookies and the cache. Call this method once, after the last read. Returns the reason why the cache
    /// didn't store images, or `nil` if it stored them. Throws an ``ImageError`` if the cookies can't be written.
    func finish() async throws(ImageError) -> String? {
        guard let manager else { return nil }
        var losses = manager.diskCacheError.map { "the disk cache isn’t available: \($0)" }
        if let cache = manager.diskCache, let configuration = manager.configuration.diskCache {
            losses = await CacheLosses.message(cache, configuration)
        }
        await manager.shutdown()
        try await BlockingWork.run { [network] () throws(ImageError) in try network.saveCookies() }
        return losses
    }

    /// Ends all downloads, and returns the number of those that a later command can resume.
    func keptDownloads() async -> Int {
        guard let manager, let kept else { return 0 }
        await manager.shutdown()
        await manager.downloader.partialDownloadsStored()
        return kept.count
    }
}

extension ImageReader {
    /// Reads an input, and processes its data on a thread that may block. `facts` is what the name of its output can
    /// contain. Returns the record, with the error of a failure.
    nonisolated func record(
        of input: ImageInput, _ facts: OutputFacts,
        _ process: @escaping @Sendable (Data, ImageCoderRegistry, ImageRecord) throws(ImageError) -> ImageRecord
    ) async -> LabeledRecord {
        var record = ImageRecord(input: input.text)
        record.index = facts.index
        do throws(ImageError) {
            let data = try await data(input)
            let coders = coders(for: input)
            record = try await BlockingWork.run { [record] () throws(ImageError) in
                try process(data, coders, record)
            }
        } catch {
            record.error = error
        }
        return LabeledRecord(input.label, record)
    }

    /// Checks the files of the network options, reads the cookies, and reports an error. Call this method once, before
    /// the first read. Returns the error of a file that can't be used, or `nil`.
    nonisolated func preparationError(_ console: Console) async -> ImageError? {
        await network.preparationError(console)
    }

    /// Finishes the reader and reports an error. Returns `status`, or the status of a failure if the cookies can't be
    /// written.
    nonisolated func finished(_ status: Int32, _ console: Console) async -> Int32 {
        do throws(ImageError) {
            if let losses = try await finish() { console.note(losses) }
            return status
        } catch {
            console.report(nil, error)
            return ExitStatus.failed
        }
    }
}

extension NetworkSetup {
    /// Checks the files of the options, reads the cookies, and reports an error. Returns the error of a file that can't be
    /// used, or `nil`.
    func preparationError(_ console: Console) async -> ImageError? {
        guard let failure = await BlockingWork.value({ prepare() }) else { return nil }
        console.report("--\(failure.option)", failure.error)
        return failure.error
    }
}
