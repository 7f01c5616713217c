// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms
import WebImageStore

/// The actions of the command.
extension CacheCommand {
    func verify(_ cache: DiskCache?) async -> Int32 {
        guard let cache else { return reportVerified(DiskCache.MaintenanceReport()) }
        return reportVerified(await showing("Verifying") { await cache.verify(progress: $0) })
    }

    func clear(_ cache: DiskCache?) async -> Int32 {
        let isWhole =
            options.olderThan == nil && options.host == nil && options.tag == nil && options.glob == nil
        return await removing(cache) { cache, progress in
            if isWhole {
                await cache.removeAll()
                await cache.deleteTrash(progress: progress)
            } else {
                // The disk cache interprets the glob pattern.
                let chosen = await chosenKeys(cache)
                let cutoff = options.olderThan.map { Date().addingTimeInterval(-$0) }
                let (host, tag) = (options.host, options.tag)
                await cache.remove(progress: progress) { entry in
                    cutoff.map { entry.storedAt <= $0 } ?? true && host.map(entry.isFrom) ?? true
                        && tag.map(entry.tags.contains) ?? true && chosen?.contains(entry.key) ?? true
                }
            }
        }
    }

    /// Returns the keys of the entries that match `--glob`, or `nil` if the option wasn't specified.
    private func chosenKeys(_ cache: DiskCache) async -> Set<CacheKey>? {
        guard let glob = options.glob else { return nil }
        return Set(await cache.entries(matching: glob).map(\.key))
    }

    /// Runs `work` and reports how much it removed.
    func removing(
        _ cache: DiskCache?, _ work: @Sendable (DiskCache, @escaping DiskProgress) async -> Void
    ) async -> Int32 {
        let failure = { options.action == .clear ? cache?.removalFailure : nil }
        let before = await cache?.info()
        if let cache {
            await showing("Removing", bytes: options.action == .trim) { await work(cache, $0) }
        }
        let after = await cache?.info()
        let left = after?.entryCount ?? 0
        let bytes = after?.size ?? 0
        let removed = max(0, (before?.entryCount ?? 0) - left)
        let freed = max(0, (before?.size ?? 0) - bytes)
        report(
            ["removed": .int(removed), "freedBytes": .int(freed), "entries": .int(left), "bytes": .int(bytes)],
            "Removed \(NumberFormatting.entries(removed)) (\(NumberFormatting.bytes(freed))); "
                + "\(NumberFormatting.entries(left)) (\(NumberFormatting.bytes(bytes))) "
                + (left == 1 ? "remains" : "remain"), error: failure())
        guard let failure = failure() else { return ExitStatus.ok }
        console.report(nil, failure)
        return ExitStatus.failed
    }

    func show(_ cache: DiskCache?) async -> Int32 {
        let wanted = URLCredentials.removed(from: options.operands[0])
        // The key contains the URL as it's loaded, not as it's written.
        let url = Inputs.hasScheme(wanted) ? URLText.url(wanted) : nil
        let source = url.map { $0.isFileURL ? wanted : SourceKey.of($0) } ?? wanted
        let found = await cache?.entries().first { entry in
            entry.source == wanted || entry.source == source || entry.key.canonical == wanted
                || wanted.utf8.count >= 6 && entry.key.fileName.hasPrefix(wanted)
        }
        guard let found else {
            return fail(.cache(.notInCache), "no cache entry matches “\(InputLabel.redacted(wanted))”")
        }
        report(on: found, await cache?.inspect(found.key))
        return ExitStatus.ok
    }

    func export(_ cache: DiskCache?) async -> Int32 {
        guard let cache else { return report(on: DiskCache.MaintenanceReport(), verb: "exported") }
        let folder = URL(filePath: options.operands[0]).absoluteURL.path(percentEncoded: false)
        let chosen = await chosenKeys(cache)
        let result = await showing("Exporting") { progress -> Result<DiskCache.MaintenanceReport, ImageError> in
            do throws(ImageError) {
                return .success(
                    try await cache.export(
                        to: folder, as: options.form, decrypting: options.decrypts,
                        where: { chosen?.contains($0.key) ?? true }, progress: progress))
            } catch {
                return .failure(error)
            }
        }
        return report(on: result, verb: "exported")
    }

    func importing(_ cache: DiskCache?) async -> Int32 {
        guard let cache else { return fail(.cache(.notInCache)) }
        let result = await showing("Importing") { progress -> Result<DiskCache.MaintenanceReport, ImageError> in
            do throws(ImageError) {
                if options.operands.count == 1, options.list == nil {
                    let folder = URL(filePath: options.operands[0]).absoluteURL.path(percentEncoded: false)
                    return .success(try await cache.importImages(from: folder, progress: progress))
                }
                let chosen = try await BlockingWork.run { () throws(ImageError) -> [DiskImport] in
                    try self.imageFiles()
                }
                return .success(await cache.importImages(chosen, progress: progress))
            } catch {
                return .failure(error)
            }
        }
        return report(on: result, verb: "imported")
    }

    /// Returns the pairs of URL and file from the command line and from the list. Blocks.
    private func imageFiles() throws(ImageError) -> [DiskImport] {
        var pairs = stride(from: 0, to: options.operands.count - 1, by: 2).map {
            (options.operands[$0], options.operands[$0 + 1])
        }
        if let list = options.list {
            let text = String(decoding: try Files.readStream(list, limit: 64 << 20), as: UTF8.self)
            for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
                let parts = line.split(maxSplits: 1, whereSeparator: { $0 == " " || $0 == "\t" })
                guard parts.count == 2 else { throw .request(.invalidURL(String(line))) }
                pairs.append((String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces)))
            }
        }
        var images: [DiskImport] = []
        for (url, path) in pairs {
            let source = SourceKey.of(try Inputs.url(url))
            images.append(
                DiskImport(path: path, key: .data(of: source), tags: Set([options.tag].compactMap { $0 })))
        }
        return images
    }
}
