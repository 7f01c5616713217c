// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

extension DiskCache {
    /// Imports a directory of images that ``exportImages(to:decrypting:where:)`` wrote.
    ///
    /// The cache verifies the digest of each file, detects its format, and checks it against the limits. Files that
    /// fail a check are skipped and listed in the result. If the cache has an entry with the same or a later store
    /// date, that entry remains. Canceling the current task ends the import early.
    ///
    /// - Parameters:
    ///   - directory: The file URL of the directory. Symbolic links in it aren't followed.
    ///   - limits: The limits for images. The default is ``ImageLimits/desktop``. A file that a decoder can reduce, such
    ///     as a baseline JPEG file, can have more than ``ImageLimits/maxPixels`` pixels.
    /// - Returns: A report of the imported entries.
    /// - Throws: ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)``,
    ///   ``ImageError/CacheFailure/corruptEntry(reason:)`` if the directory has no valid manifest, or
    ///   ``ImageError/RequestFailure/managerShutDown`` if the cache is closed.
    public func importImages(
        from directory: URL, limits: ImageLimits = .desktop
    ) async throws(ImageError) -> MaintenanceReport {
        try await importImages(from: directory.absoluteFilePath, limits: limits, progress: nil)
    }

    /// Imports image files as the data of the given URLs.
    ///
    /// Later requests for a URL find the imported image. The cache detects the format of each file and checks it
    /// against the limits. Files that fail a check are skipped and listed in the result by their paths. Canceling the
    /// current task ends the import early.
    ///
    /// - Parameters:
    ///   - files: The URLs and the file URLs of their images.
    ///   - tags: The tags of the new entries. The default is no tags.
    ///   - limits: The limits for images. The default is ``ImageLimits/desktop``. A file that a decoder can reduce, such
    ///     as a baseline JPEG file, can have more than ``ImageLimits/maxPixels`` pixels.
    /// - Returns: A report of the imported entries.
    public func importImages(
        _ files: some Sequence<(url: URL, file: URL)>, tags: Set<String> = [], limits: ImageLimits = .desktop
    ) async -> MaintenanceReport {
        let imports = files.map { pair in
            // The fragment isn't part of the identity of the data.
            let source = HostName.keyText(ofURL: pair.url.absoluteString).prefix { $0 != "#" }
            return DiskImport(path: pair.file.absoluteFilePath, key: .data(of: String(source)), tags: tags)
        }
        return await importImages(imports, limits: limits, progress: nil)
    }

    /// Imports a directory of images that ``export(to:as:where:progress:)`` wrote.
    ///
    /// The cache verifies the digest of each file, detects its format, probes it, and checks it against the limits.
    /// Files that fail a check are skipped and listed in the result. If the cache has an entry with the same or a later
    /// store date, that entry remains. Canceling the current task ends the import early.
    ///
    /// - Parameters:
    ///   - folder: The absolute path of the directory. Symbolic links in it aren't followed.
    ///   - limits: The limits for images. The default is ``ImageLimits/desktop``. A file that a decoder can reduce, such
    ///     as a baseline JPEG file, can have more than ``ImageLimits/maxPixels`` pixels.
    ///   - progress: A closure that receives the progress in entries.
    /// - Returns: A summary of the import.
    /// - Throws: ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)``,
    ///   ``ImageError/CacheFailure/corruptEntry(reason:)`` if the directory has no valid manifest, or
    ///   ``ImageError/RequestFailure/managerShutDown`` if the cache is closed.
    package func importImages(
        from folder: String, limits: ImageLimits = .desktop, progress: DiskProgress? = nil
    ) async throws(ImageError) -> DiskCache.MaintenanceReport {
        let data = try await running { reader throws(SystemCallError) in
            try reader.bytes(ExportManifest.name, beneath: folder, limit: ExportManifest.limit)
        }
        guard let manifest = try? JSONDecoder().decode(ExportManifest.self, from: data),
            manifest.format == ExportManifest.format, manifest.version == ExportManifest.version
        else { throw .cache(.corruptEntry(reason: "\(folder)/\(ExportManifest.name) isn't a cache manifest")) }
        return await importFiles(manifest.entries, progress) { reader, line in
            (line.file, reader.outcome { () throws(ImageError) in try reader.entry(line, in: folder, limits) })
        }
    }

    /// Imports image files under the given keys.
    ///
    /// The cache detects the format of each file, probes it, and checks it against the limits. Files that fail a check
    /// are skipped and listed in the result. Canceling the current task ends the import early.
    ///
    /// - Parameters:
    ///   - images: The files and their keys.
    ///   - limits: The limits for images. The default is ``ImageLimits/desktop``. A file that a decoder can reduce, such
    ///     as a baseline JPEG file, can have more than ``ImageLimits/maxPixels`` pixels.
    ///   - progress: A closure that receives the progress in files.
    /// - Returns: A summary of the import.
    package func importImages(
        _ images: [DiskImport], limits: ImageLimits = .desktop, progress: DiskProgress? = nil
    ) async -> DiskCache.MaintenanceReport {
        await importFiles(images, progress) { reader, importedImage in
            (importedImage.path, reader.outcome { () throws(ImageError) in try reader.entry(importedImage, limits) })
        }
    }

    private func importFiles<Line: Sendable>(
        _ lines: [Line], _ progress: DiskProgress?,
        _ read: @escaping @Sendable (EntryReader, Line) -> (String, Result<CacheEntry, ImageError>)
    ) async -> DiskCache.MaintenanceReport {
        await settle()
        var transfer = DiskCache.MaintenanceReport()
        var waiting = 0
        for (index, line) in lines.enumerated() where !Task.isCancelled {
            let limit = state.configuration.maxPendingBytes
            switch await readers.run({ read($0, line) }) {
            case (_, .success(let entry))?:
                if let own = await readers.run({ $0.peek(entry.key) }) ?? nil, own.storedAt >= entry.storedAt {
                    transfer.skippedCount += 1
                    break
                }
                store(entry)
                transfer.entryCount += 1
                transfer.size += entry.data.count
                waiting += entry.data.count
            case (let name, .failure(let error))?: transfer.failures[name] = error
            case nil: return transfer
            }
            // Flush regularly so that the cache doesn't drop imported entries because too many writes are pending.
            if waiting > limit / 4 || index % 64 == 63 {
                await flush()
                waiting = 0
            }
            progress?(index + 1, lines.count)
        }
        await flush()
        return transfer
    }
}

extension EntryReader {
    func outcome(_ work: () throws(ImageError) -> CacheEntry) -> Result<CacheEntry, ImageError> {
        do throws(ImageError) { return .success(try work()) } catch { return .failure(error) }
    }

    /// Returns the contents of a file in a directory without following symbolic links. This method blocks.
    func bytes(_ name: String, beneath folder: String, limit: Int) throws(SystemCallError) -> Data {
        let file = try state.files.open(name, beneath: folder)
        defer { state.files.close(file) }
        let contents = try state.files.contents(of: file, path: "\(folder)/\(name)", limit: limit)
        let size = contents.status.size
        return contents.consumeBytes().data(in: 0..<size)
    }

    /// Returns the entry for an item of a manifest. This method blocks.
    func entry(_ line: ExportManifest.Entry, in folder: String, _ limits: ImageLimits) throws(ImageError) -> CacheEntry
    {
        guard !line.file.isEmpty, !line.file.hasPrefix("."), !line.file.contains("/"), !line.file.utf8.contains(0)
        else {
            throw .cache(.corruptEntry(reason: "“\(line.file)” isn't a file name"))
        }
        if let head = line.head, let problem = head.problem { throw .cache(.corruptEntry(reason: problem)) }
        let payload: Data
        do throws(SystemCallError) {
            payload = try bytes(line.file, beneath: folder, limit: limit(limits))
        } catch {
            throw error.imported
        }
        guard ContentDigest(of: payload).text == line.digest else {
            throw .cache(.corruptEntry(reason: "\(line.file) differs from the exported file"))
        }
        let now = state.clock.now()
        let stored = Date(timeIntervalSince1970: min(max(line.stored, 0), now.timeIntervalSince1970))
        var entry = CacheEntry(
            key: CacheKey(canonical: line.key), head: line.head, data: payload, userData: line.attachment,
            tags: Set(line.tags ?? []), storedAt: stored)
        // A manifest can come from anywhere, so its numbers can have any value.
        entry.timeToLive = line.lifetime.map { .seconds($0 >= 0 ? min($0, CacheEntry.longestLifetime) : 0) }
        return try checked(entry, limits)
    }

    /// This method blocks.
    func entry(_ importedImage: DiskImport, _ limits: ImageLimits) throws(ImageError) -> CacheEntry {
        let payload: Data
        do throws(SystemCallError) {
            let file = try state.files.open(importedImage.path, flags: O_RDONLY | O_NONBLOCK | O_CLOEXEC, mode: 0)
            defer { state.files.close(file) }
            let contents = try state.files.contents(of: file, path: importedImage.path, limit: limit(limits))
            let size = contents.status.size
            payload = contents.consumeBytes().data(in: 0..<size)
        } catch {
            throw error.imported
        }
        let entry = CacheEntry(
            key: importedImage.key, data: payload, tags: importedImage.tags, storedAt: state.clock.now())
        return try checked(entry, limits)
    }

    private func limit(_ limits: ImageLimits) -> Int { min(limits.maxEncodedBytes, state.entrySizeLimit) }

    private func checked(_ entry: CacheEntry, _ limits: ImageLimits) throws(ImageError) -> CacheEntry {
        var entry = entry
        guard !entry.data.isEmpty else { throw .decoding(.noData) }
        guard let format = ImageFormat(sniffing: entry.data) else { throw .decoding(.unknownFormat) }
        guard format.isImage else { throw .decoding(.notAnImage(format)) }
        let probe = try ImageInfo(data: entry.data)
        // The requested sizes are unknown, so accept every file that a request for some size would accept.
        try limits.checkAtAnySize(probe, encodedBytes: entry.data.count)
        entry.probe = probe
        guard EntryFile.fitsLimits(entry) else {
            throw .cache(.corruptEntry(reason: "the key, head, tags, or attachment are too large"))
        }
        return entry
    }
}

extension SystemCallError {
    fileprivate var imported: ImageError {
        .cache(.systemCallFailed(operation: operation, path: path, errno: code))
    }
}

extension StoredResponseHead {
    /// The reason why a response with this head must not be cached, or `nil` if it can be cached.
    fileprivate var problem: String? {
        if !(200..<300).contains(head.statusCode) || head.statusCode == 206 {
            return "a response with status \(head.statusCode) can't be imported"
        }
        if CacheControl(head.headers).noStore { return "the response doesn't allow storing" }
        for line in head.headers.lines + varyHeaders.lines {
            let isToken = !line.name.isEmpty && line.name.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != 58 }
            let isText = !line.value.unicodeScalars.contains { $0.value < 32 && $0.value != 9 || $0.value == 127 }
            if !isToken || !isText { return "a header field of the response isn't valid" }
        }
        return nil
    }
}
