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
    /// A Boolean value that indicates whether the limits for pixels are ignored, because only headers are read.
    private let readsOnlyHeaders: Bool
    private let isVerbose: Bool
    private var manager: ImageManager?

    /// Creates a reader. `cache` is the directory of the disk cache, or `nil` for no disk cache.
    init(_ network: NetworkSetup, cache: String?, isVerbose: Bool, readsOnlyHeaders: Bool = false) {
        self.network = network
        self.cache = cache
        self.isVerbose = isVerbose
        self.readsOnlyHeaders = readsOnlyHeaders
    }

    /// The limits for decoding.
    nonisolated var limits: ImageLimits { network.arguments.limits() }

    /// Returns the encoded image at `input`, which is a URL, a path, or `-` for standard input.
    ///
    /// - Throws: An ``ImageError`` if the image can't be read.
    func data(_ input: String) async throws(ImageError) -> Data {
        let limit = limits.maxEncodedBytes
        if input == "-" {
            return try await BlockingWork.run { () throws(ImageError) in try Files.read("-", limit: limit) }
        }
        let url = try Inputs.url(input)
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

    private func sharedManager() async throws(ImageError) -> ImageManager {
        if let manager { return manager }
        try await BlockingWork.run { [network] () throws(ImageError) in try network.loadCookies() }
        // Another call may have created the manager in the meantime.
        if let manager { return manager }
        let made = ImageManager {
            $0.diskCache = cache.map { DiskCache.Configuration(path: CacheDirectory.path($0)) }
            $0.downloader.userAgent = "webimage/\(ProgramInfo.version)"
            network.apply(to: &$0)
            if isVerbose { $0.observers = [LogObserver(level: .debug)] }
        }
        manager = made
        return made
    }

    /// Writes the cookies and the cache. Call this method once, after the last read.
    ///
    /// - Throws: An ``ImageError`` if the cookies can't be written.
    func finish() async throws(ImageError) {
        guard let manager else { return }
        await manager.shutdown()
        try await BlockingWork.run { [network] () throws(ImageError) in try network.saveCookies() }
    }
}

extension ImageReader {
    /// Finishes the reader and reports an error.
    ///
    /// - Returns: `status`, or the status of a failure if the cookies can't be written.
    nonisolated func finished(_ status: Int32, _ console: Console) async -> Int32 {
        do throws(ImageError) {
            try await finish()
            return status
        } catch {
            console.report("\(error)")
            return ExitStatus.failed
        }
    }
}
