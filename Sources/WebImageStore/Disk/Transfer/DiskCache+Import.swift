// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

extension DiskCache {
    /// Imports a directory of images that ``export(to:as:where:progress:)`` wrote.
    ///
    /// The cache verifies the digest of each file, detects its format, probes it, and checks it against the limits.
    /// Files that fail a check are skipped and listed in the result. If the cache has an entry with the same or a later
    /// store date, that entry remains. Canceling the current task ends the import early.
    ///
    /// - Parameters:
    ///   - folder: The absolute path of the directory. Symbolic links in it aren't followed. <!-- prose-lint: allow -->
    ///   - limits: The limits for images. The default is ``Limits/desktop``.
    ///   - progress: A closure that receives the progress in entries.
    /// - Returns: A summary of the import.
    /// - Throws: ``CacheError/system(operation:path:errno:)``, or ``CacheError/corrupt(reason:)`` if the directory has
    ///   no valid manifest.
    public func importFolder(
        _ folder: String, limits: Limits = .desktop, progress: DiskProgress? = nil
    ) async throws(ImageError) -> DiskTransfer {
        let data = try await running { reader throws(FileFailure) in
            try reader.bytes(ExportManifest.name, beneath: folder, limit: ExportManifest.limit)
        }
        guard let manifest = try? JSONDecoder().decode(ExportManifest.self, from: data),
            manifest.format == ExportManifest.format, manifest.version == ExportManifest.version
        else { throw .cache(.corrupt(reason: "\(folder)/\(ExportManifest.name) isn't a cache manifest")) }
        return await take(manifest.entries, progress) { reader, line in
            (line.file, reader.outcome { () throws(ImageError) in try reader.entry(line, in: folder, limits) })
        }
    }

    /// Imports image files under the given keys.
    ///
    /// The cache detects the format of each file, probes it, and checks it against the limits. Files that fail a check
    /// are skipped and listed in the result. Canceling the current task ends the import early.
    ///
    /// - Parameters:
    ///   - pictures: The files and their keys. <!-- prose-lint: allow -->
    ///   - limits: The limits for images. The default is ``Limits/desktop``.
    ///   - progress: A closure that receives the progress in files.
    /// - Returns: A summary of the import.
    public func importPictures(
        _ pictures: [DiskImport], limits: Limits = .desktop, progress: DiskProgress? = nil
    ) async -> DiskTransfer {
        await take(pictures, progress) { reader, picture in
            (picture.path, reader.outcome { () throws(ImageError) in try reader.entry(picture, limits) })
        }
    }

    private func take<Line: Sendable>(
        _ lines: [Line], _ progress: DiskProgress?,
        _ read: @escaping @Sendable (EntryReader, Line) -> (String, Result<DiskEntry, ImageError>)
    ) async -> DiskTransfer {
        await settle()
        var transfer = DiskTransfer()
        var waiting = 0
        for (index, line) in lines.enumerated() where !Task.isCancelled {
            let limit = state.configuration.stagingLimit
            switch await readers.run({ read($0, line) }) {
            case (_, .success(let entry))?:
                if let own = await readers.run({ $0.peek(entry.key) }) ?? nil, own.stored >= entry.stored {
                    transfer.skipped += 1
                    break
                }
                store(entry)
                transfer.entries += 1
                transfer.bytes += entry.payload.count
                waiting += entry.payload.count
            case (let name, .failure(let error))?: transfer.failures.append(.init(name: name, error: error))
            case nil: return transfer
            }
            // Flush regularly so that the cache doesn't drop imported entries because too many writes are pending.
            if waiting > limit.bytes / 4 || index % 64 == 63 {
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
    func outcome(_ work: () throws(ImageError) -> DiskEntry) -> Result<DiskEntry, ImageError> {
        do throws(ImageError) { return .success(try work()) } catch { return .failure(error) }
    }

    /// Returns the contents of a file in a directory without following symbolic links. This method blocks.
    func bytes(_ name: String, beneath folder: String, limit: Int) throws(FileFailure) -> Data {
        let file = try state.files.open(name, beneath: folder)
        defer { state.files.close(file) }
        let contents = try state.files.contents(of: file, path: "\(folder)/\(name)", limit: limit)
        let size = contents.status.size
        return contents.takeBytes().data(in: 0..<size)
    }

    /// Returns the entry for an item of a manifest. This method blocks.
    func entry(_ line: ExportManifest.Entry, in folder: String, _ limits: Limits) throws(ImageError) -> DiskEntry {
        guard !line.file.isEmpty, !line.file.hasPrefix("."), !line.file.contains("/"), !line.file.utf8.contains(0)
        else {
            throw .cache(.corrupt(reason: "“\(line.file)” isn't a file name"))
        }
        if let head = line.head, let problem = head.problem { throw .cache(.corrupt(reason: problem)) }
        let payload: Data
        do throws(FileFailure) {
            payload = try bytes(line.file, beneath: folder, limit: limit(limits))
        } catch {
            throw error.imported
        }
        guard ContentDigest(of: payload).text == line.digest else {
            throw .cache(.corrupt(reason: "\(line.file) differs from the exported file"))
        }
        let now = state.clock.now()
        let stored = Date(timeIntervalSince1970: min(max(line.stored, 0), now.timeIntervalSince1970))
        return try checked(
            DiskEntry(
                key: CacheKey(canonical: line.key), head: line.head, payload: payload, attachment: line.attachment,
                tags: Set(line.tags ?? []), stored: stored), limits)
    }

    /// Returns the entry for an image file. This method blocks.
    func entry(_ picture: DiskImport, _ limits: Limits) throws(ImageError) -> DiskEntry {
        let payload: Data
        do throws(FileFailure) {
            let file = try state.files.open(picture.path, flags: O_RDONLY | O_NONBLOCK | O_CLOEXEC, mode: 0)
            defer { state.files.close(file) }
            let contents = try state.files.contents(of: file, path: picture.path, limit: limit(limits))
            let size = contents.status.size
            payload = contents.takeBytes().data(in: 0..<size)
        } catch {
            throw error.imported
        }
        let entry = DiskEntry(key: picture.key, payload: payload, tags: picture.tags, stored: state.clock.now())
        return try checked(entry, limits)
    }

    private func limit(_ limits: Limits) -> Int { min(limits.maxEncodedBytes, state.configuration.entryLimit) }

    /// Returns the entry with its probe if its payload is an image within the limits.
    private func checked(_ entry: DiskEntry, _ limits: Limits) throws(ImageError) -> DiskEntry {
        var entry = entry
        guard !entry.payload.isEmpty else { throw .decode(.empty) }
        guard let format = ImageFormat.sniff(entry.payload) else { throw .decode(.unknownFormat) }
        guard format.isPicture else { throw .decode(.notAnImage(format)) }
        let probe = try ImageProbe(reading: entry.payload)
        try limits.check(probe, encodedBytes: entry.payload.count)
        entry.probe = probe
        guard EntryFile.canHold(entry) else {
            throw .cache(.corrupt(reason: "the key, head, tags, or attachment are too large"))
        }
        return entry
    }
}

extension FileFailure {
    fileprivate var imported: ImageError {
        .cache(.system(operation: operation, path: path, errno: code))
    }
}

extension StoredHead {
    /// The reason why a response with this head must not be cached, or `nil` if it can be cached.
    fileprivate var problem: String? {
        if !(200..<300).contains(head.status) || head.status == 206 {
            return "a response with status \(head.status) can't be imported"
        }
        if CacheControl(head.fields).noStore { return "the response doesn't allow storing" }
        for line in head.fields.lines + varying.lines {
            let isToken = !line.name.isEmpty && line.name.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != 58 }
            let isText = !line.value.unicodeScalars.contains { $0.value < 32 && $0.value != 9 || $0.value == 127 }
            if !isToken || !isText { return "a header field of the response isn't valid" }
        }
        return nil
    }
}
