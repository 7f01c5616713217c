// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

extension DiskCache {
    /// Writes entries to a folder, which is made where it is missing and must be empty. `progress` counts entries.
    /// Cancelling the task ends the work early; without its manifest the folder cannot be imported.
    ///
    /// - Parameters:
    ///   - folder: an absolute path.
    ///   - matches: which entries; default all. Called on a thread of the cache.
    /// - Throws: ``CacheError/system(operation:path:errno:)``.
    public func export(
        to folder: String, as form: DiskExportForm = .pictures,
        where matches: @escaping @Sendable (DiskEntrySummary) -> Bool = { _ in true }, progress: DiskProgress? = nil
    ) async throws(ImageError) -> DiskTransfer {
        let all = await entries()
        let keys = await readers.run { _ in all.filter(matches).map { CacheKey(canonical: $0.key) } } ?? []
        let target = ExportFolder(path: folder, form: form, files: state.files)
        try await running { _ throws(FileFailure) in try target.prepare() }
        var transfer = DiskTransfer()
        var lines: [ExportManifest.Entry] = []
        for (index, key) in keys.enumerated() {
            guard !Task.isCancelled else { return transfer }
            let written = try await running { reader throws(FileFailure) in
                try reader.peek(key).flatMap { entry throws(FileFailure) in try target.write(entry) }
            }
            if let written {
                transfer.entries += 1
                transfer.bytes += written.bytes
                lines.append(written.line)
            } else {
                transfer.skipped += 1
            }
            progress?(index + 1, keys.count)
        }
        let manifest = ExportManifest(entries: lines)
        try await running { _ throws(FileFailure) in try target.finish(manifest) }
        return transfer
    }

    /// Runs `work` on a thread for reading.
    func running<Value: Sendable>(
        _ work: @escaping @Sendable (EntryReader) throws(FileFailure) -> Value
    ) async throws(ImageError) -> Value {
        let result = await readers.run { reader -> Result<Value, FileFailure> in
            do throws(FileFailure) { return .success(try work(reader)) } catch { return .failure(error) }
        }
        switch result {
        case .success(let value): return value
        case .failure(let failure):
            throw .cache(.system(operation: failure.operation, path: failure.path, errno: failure.code))
        case nil: throw .cache(.suspended(reason: "the cache is closed"))
        }
    }
}

/// The folder that an export fills. Its methods block.
private struct ExportFolder {
    let path: String
    let form: DiskExportForm
    let files: any FileSystem
    private var layout: CacheLayout { CacheLayout(root: path) }

    init(path: String, form: DiskExportForm, files: any FileSystem) {
        self.path = path
        self.form = form
        self.files = files
    }

    func prepare() throws(FileFailure) {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw FileFailure("mkdir", path, EINVAL) }
        try layout.makePath(path[...], files)
        guard try files.names(in: path).isEmpty else { throw FileFailure("mkdir", path, ENOTEMPTY) }
        if form == .entries { try files.makeDirectory(layout.blobs) }
    }

    /// Writes one entry; nil where it is not for this form.
    func write(_ entry: DiskEntry) throws(FileFailure) -> (line: ExportManifest.Entry, bytes: Int)? {
        let name = entry.key.fileName
        var line = ExportManifest.Entry(
            file: name, key: entry.key.canonical, digest: ContentDigest(of: entry.payload).text,
            stored: entry.stored.timeIntervalSince1970, tags: entry.tags.isEmpty ? nil : entry.tags.sorted(),
            attachment: entry.attachment, head: entry.head)
        switch form {
        case .entries:
            try layout.makeDirectory("\(layout.blobs)/\(name.prefix(2))", files)
            guard let bytes = EntryFile.bytes(of: entry) else { throw FileFailure("checksum", name, ENOMEM) }
            try write(bytes, layout.entry(name))
        case .pictures:
            guard let format = ImageFormat.sniff(entry.payload), format.isPicture else { return nil }
            line.file = "\(name.prefix(32)).\(format.fileExtension)"
            try write([UInt8](entry.payload), "\(path)/\(line.file)")
        }
        return (line, entry.payload.count)
    }

    func finish(_ manifest: ExportManifest) throws(FileFailure) {
        guard form == .pictures else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        let file = "\(path)/\(ExportManifest.name)"
        guard let data = try? encoder.encode(manifest) else { throw FileFailure("write", file, EINVAL) }
        try write([UInt8](data), file)
    }

    private func write(_ bytes: [UInt8], _ path: String) throws(FileFailure) {
        let file = try files.openFile(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
        defer { files.close(file) }
        let result = bytes.withUnsafeBytes { bytes -> Result<Void, FileFailure> in
            do throws(FileFailure) { return .success(try files.writeAll(file, bytes)) } catch { return .failure(error) }
        }
        try result.get()
    }
}

extension EntryFile {
    /// The whole file of `entry`; nil without memory.
    static func bytes(of entry: DiskEntry) -> [UInt8]? {
        let prefix = prefix(of: entry)
        let sum = prefix.withUnsafeBytes { prefix in
            entry.payload.withUnsafeBytes { checksum(prefix: prefix, payload: $0) }
        }
        return sum.map { sum in prefix + entry.payload + withUnsafeBytes(of: sum.littleEndian) { [UInt8]($0) } }
    }
}

extension EntryReader {
    /// The entry of `key` as a read would give it, but neither counted nor used. Blocks.
    func peek(_ key: CacheKey) -> DiskEntry? {
        let name = key.fileName
        let limit = state.configuration.entryLimit + 4 * EntryFile.sectionLimit
        guard let contents = try? state.files.contents(state.layout.entry(name), limit: limit),
            var entry = try? EntryFile.decode(contents.takeBytes(), key: key, verify: true)
        else { return nil }
        let mustAsk = state.shared.withLock { $0.mustAskIndex(for: key) }
        if mustAsk, let update = update(name, stored: entry.stored) { update.apply(to: &entry) }
        return entry
    }
}
