// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

extension DiskCache {
    /// Writes the images of the cache and a manifest to a directory.
    ///
    /// The files have the extensions of their formats, and only the user of the process can read them. The manifest
    /// contains the keys, the HTTP responses, the store dates, the tags, and the custom values. Entries that aren't images are skipped. If the directory doesn't exist,
    /// this method creates it. An existing directory must be empty. Canceling the current task ends the export early,
    /// and the directory then has no manifest, so it can't be imported.
    ///
    /// - Parameters:
    ///   - directory: The file URL of the directory.
    ///   - isDecrypting: A Boolean value that indicates whether to export the entries of an encrypted cache. The default
    ///     is `false`.
    ///
    ///     - Warning: The exported files aren't encrypted. They contain the images and, in the manifest, the URLs.
    ///   - predicate: A closure that returns whether to export an entry. The cache calls it on one of its threads. By
    ///     default, all entries are exported.
    /// - Returns: A report of the exported entries.
    /// - Throws: ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)``,
    ///   ``ImageError/CacheFailure/exportNotDecrypted`` if the cache is encrypted and `isDecrypting` is `false`, or
    ///   ``ImageError/RequestFailure/managerShutDown`` if the cache is closed.
    public func exportImages(
        to directory: URL, decrypting isDecrypting: Bool = false,
        where predicate: @escaping @Sendable (EntryInfo) -> Bool = { _ in true }
    ) async throws(ImageError) -> MaintenanceReport {
        try await export(
            to: directory.absoluteFilePath, as: .images, decrypting: isDecrypting, where: predicate)
    }

    /// Writes entries to a directory for ``Configuration/readOnlyDirectories``.
    ///
    /// If the directory doesn't exist, this method creates it. An existing directory must be empty. Canceling the
    /// current task ends the export early.
    ///
    /// - Parameters:
    ///   - directory: The file URL of the directory.
    ///   - isDecrypting: A Boolean value that indicates whether to export the entries of an encrypted cache. The default
    ///     is `false`.
    ///
    ///     - Warning: The exported files aren't encrypted. They contain the images and the URLs.
    ///   - predicate: A closure that returns whether to export an entry. The cache calls it on one of its threads. By
    ///     default, all entries are exported.
    /// - Returns: A report of the exported entries.
    /// - Throws: ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)``,
    ///   ``ImageError/CacheFailure/exportNotDecrypted`` if the cache is encrypted and `isDecrypting` is `false`, or
    ///   ``ImageError/RequestFailure/managerShutDown`` if the cache is closed.
    public func exportEntries(
        to directory: URL, decrypting isDecrypting: Bool = false,
        where predicate: @escaping @Sendable (EntryInfo) -> Bool = { _ in true }
    ) async throws(ImageError) -> MaintenanceReport {
        try await export(
            to: directory.absoluteFilePath, as: .entries, decrypting: isDecrypting, where: predicate)
    }

    /// Writes entries to a directory.
    ///
    /// If the directory doesn't exist, this method creates it. An existing directory must be empty. Canceling the
    /// current task ends the export early. A directory of images without its manifest can't be imported.
    ///
    /// - Parameters:
    ///   - folder: The absolute path of the directory.
    ///   - form: The form of the export. The default is ``DiskExportForm/images``.
    ///   - isDecrypting: Whether to export the entries of an encrypted cache. The
    ///     exported files aren't encrypted. The default is `false`.
    ///   - matches: A closure that returns whether to export an entry. The cache calls it on one of its threads. By
    ///     default, all entries are exported.
    ///   - progress: A closure that receives the progress in entries.
    /// - Returns: A summary of the export.
    /// - Throws: ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)``,
    ///   ``ImageError/CacheFailure/exportNotDecrypted`` if the cache is encrypted and `isDecrypting` is `false`, or
    ///   ``ImageError/RequestFailure/managerShutDown`` if the cache is closed.
    package func export(
        to folder: String, as form: DiskExportForm = .images, decrypting isDecrypting: Bool = false,
        where matches: @escaping @Sendable (DiskCache.EntryInfo) -> Bool = { _ in true }, progress: DiskProgress? = nil
    ) async throws(ImageError) -> DiskCache.MaintenanceReport {
        guard state.cipher == nil || isDecrypting else { throw .cache(.exportNotDecrypted) }
        let all = await entries()
        let keys = await readers.run { _ in all.filter(matches).map(\.key) } ?? []
        let target = ExportDirectory(path: folder, form: form, files: state.files)
        try await running { _ throws(SystemCallError) in try target.prepare() }
        var transfer = DiskCache.MaintenanceReport()
        var lines: [ExportManifest.Entry] = []
        for (index, key) in keys.enumerated() {
            guard !Task.isCancelled else { return transfer }
            let written = try await running { reader throws(SystemCallError) in
                try reader.peek(key).flatMap { entry throws(SystemCallError) in try target.write(entry) }
            }
            if let written {
                transfer.entryCount += 1
                transfer.size += written.bytes
                lines.append(written.line)
            } else {
                transfer.skippedCount += 1
            }
            progress?(index + 1, keys.count)
        }
        let manifest = ExportManifest(entries: lines)
        try await running { _ throws(SystemCallError) in try target.finish(manifest) }
        return transfer
    }

    func running<Value: Sendable>(
        _ work: @escaping @Sendable (EntryReader) throws(SystemCallError) -> Value
    ) async throws(ImageError) -> Value {
        let result = await readers.run { reader -> Result<Value, SystemCallError> in
            do throws(SystemCallError) { return .success(try work(reader)) } catch { return .failure(error) }
        }
        switch result {
        case .success(let value): return value
        case .failure(let failure):
            throw .cache(.systemCallFailed(operation: failure.operation, path: failure.path, errno: failure.code))
        // All closed components throw this error. It isn't transient, because a closed cache never opens again.
        case nil: throw .request(.managerShutDown)
        }
    }
}

/// The directory that an export fills. Its methods block.
private struct ExportDirectory {
    let path: String
    let form: DiskExportForm
    let files: any FileSystem
    private var layout: CacheLayout { CacheLayout(root: path) }

    init(path: String, form: DiskExportForm, files: any FileSystem) {
        self.path = path
        self.form = form
        self.files = files
    }

    func prepare() throws(SystemCallError) {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw SystemCallError("mkdir", path, EINVAL) }
        try layout.makePath(path[...], files)
        // The user may name a directory through a symbolic link.
        guard try files.names(in: "\(path)/.").isEmpty else { throw SystemCallError("mkdir", path, ENOTEMPTY) }
        if form == .entries { try files.makeDirectory(layout.blobs) }
    }

    /// Writes one entry. Returns `nil` if the form of the export doesn't include the entry.
    func write(_ entry: CacheEntry) throws(SystemCallError) -> (line: ExportManifest.Entry, bytes: Int)? {
        let name = entry.key.fileName
        var line = ExportManifest.Entry(
            file: name, key: entry.key.canonical, digest: ContentDigest(of: entry.data).text,
            stored: entry.storedAt.timeIntervalSince1970, tags: entry.tags.isEmpty ? nil : entry.tags.sorted(),
            lifetime: entry.lifetime, attachment: entry.userData, head: entry.head)
        switch form {
        case .entries:
            try layout.makeDirectory("\(layout.blobs)/\(name.prefix(2))", files)
            guard let bytes = EntryFile.bytes(of: entry) else { throw SystemCallError("checksum", name, ENOMEM) }
            try write(bytes, layout.entry(name))
        case .images:
            guard let format = ImageFormat(sniffing: entry.data), format.isImage else { return nil }
            line.file = "\(name.prefix(32)).\(format.fileExtension)"
            try write([UInt8](entry.data), "\(path)/\(line.file)")
        }
        return (line, entry.data.count)
    }

    func finish(_ manifest: ExportManifest) throws(SystemCallError) {
        guard form == .images else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        let file = "\(path)/\(ExportManifest.name)"
        guard let data = try? encoder.encode(manifest) else { throw SystemCallError("write", file, EINVAL) }
        try write([UInt8](data), file)
    }

    private func write(_ bytes: [UInt8], _ path: String) throws(SystemCallError) {
        let file = try files.openFile(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        defer { files.close(file) }
        let result = bytes.withUnsafeBytes { bytes -> Result<Void, SystemCallError> in
            do throws(SystemCallError) { return .success(try files.writeAll(file, bytes)) } catch {
                return .failure(error)
            }
        }
        try result.get()
    }
}

extension EntryFile {
    /// Returns the complete file of an entry, or `nil` if memory can't be allocated.
    static func bytes(of entry: CacheEntry) -> [UInt8]? {
        let prefix = prefix(of: entry)
        let sum = prefix.withUnsafeBytes { prefix in
            entry.data.withUnsafeBytes { checksum(prefix: prefix, payload: $0) }
        }
        return sum.map { sum in prefix + entry.data + withUnsafeBytes(of: sum.littleEndian) { [UInt8]($0) } }
    }
}

extension EntryReader {
    /// Returns the entry of a key like a read, but counts neither a read nor a use. This method blocks.
    func peek(_ key: CacheKey) -> CacheEntry? {
        let name = state.name(of: key)
        guard let contents = try? state.contents(ofEntry: name, limit: state.readableFileSize),
            var entry = try? state.decode(contents.consumeBytes(), name: name, key: key, verify: true)
        else { return nil }
        let mustAsk = state.shared.withLock { $0.mustQueryIndex(for: key.storedDigest) }
        if mustAsk, let update = update(name, stored: entry.storedAt) { update.apply(to: &entry) }
        return entry
    }
}
