// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A comparison of all files with the index that proceeds shard by shard.
struct IndexReconciliation {
    var nextShard = 0
    var report = DiskCache.MaintenanceReport()
    /// A Boolean value that indicates whether to publish the result to the readers because they have no data yet.
    var publishing: Bool
    var completions: [@Sendable (DiskCache.MaintenanceReport) -> Void] = []

    func finish() {
        for completion in completions { completion(report) }
    }
}

extension DiskCacheWriter {
    func startReconciliation(
        publishing: Bool, _ completion: @escaping @Sendable (DiskCache.MaintenanceReport) -> Void
    ) {
        guard index != nil else { return completion(DiskCache.MaintenanceReport()) }
        var next = IndexReconciliation(publishing: publishing || reconciliation?.publishing == true)
        next.completions = (reconciliation?.completions ?? []) + [completion]
        reconciliation = next
        steps.isReconciling = true
    }

    /// Calls the completion after the readers know the entries on disk.
    func settle(_ completion: @escaping DiskCacheState.Completion) {
        guard reconciliation?.publishing == true else { return completion() }
        reconciliation?.completions.append { _ in completion() }
    }

    /// Compares one shard. Adds files that the index doesn't contain and deletes rows without a file.
    func reconcileShard() {
        guard var work = reconciliation, let index else { return endReconciliation() }
        commit()
        let shard = work.nextShard
        work.nextShard += 1
        reconciliation = work
        defer { if work.nextShard == 256 { endReconciliation() } }
        // If the directory can't be read, its files are unknown.
        guard let found = namesOfFiles(shard) else { return }
        do throws(IndexError) {
            let known = try index.names(inShard: shard)
            for name in known where !found.contains(name) {
                add(.delete(name: name))
                work.report.missingCount += 1
            }
            for name in found where !known.contains(name) {
                if let row = describe(name) {
                    add(.insert(row), bytes: row.size)
                    work.report.recoveredCount += 1
                } else {
                    removeStranger(name, shard: shard, report: &work.report)
                }
            }
        } catch {
            indexFailed(error)
        }
        reconciliation?.report = work.report
    }

    /// Returns the names of the files in a shard, or `nil` if the directory can't be read. A missing directory has no
    /// files.
    private func namesOfFiles(_ shard: Int) -> Set<String>? {
        do throws(SystemCallError) {
            return Set(try files.names(in: layout.shard(shard)))
        } catch {
            return error.code == ENOENT ? [] : nil
        }
    }

    private func endReconciliation() {
        steps.isReconciling = false
        guard let work = reconciliation else { return }
        reconciliation = nil
        commit()
        if work.publishing { publishKnown() }
        work.finish()
    }

    /// Deletes a file that isn't a valid entry, after making sure that no process can still be writing it.
    private func removeStranger(_ name: String, shard: Int, report: inout DiskCache.MaintenanceReport) {
        let path = "\(layout.shard(shard))/\(name)"
        guard let facts = try? files.status(at: path), facts.kind == .file,
            CacheLayout.isEntryName(name) || abs(now - facts.modified) > 3_600
        else { return }
        guard (try? files.remove(path)) != nil else { return }
        report.corruptCount += 1
        state.shared.withLock { $0.counters.corrupt += 1 }
    }

    /// Returns the row for a file from its first sections, or `nil` if the file isn't an entry with that name.
    func describe(_ name: String) -> IndexRow? {
        guard CacheLayout.isEntryName(name),
            let file = try? state.openEntry(name)
        else { return nil }
        defer { files.close(file) }
        guard let facts = try? files.status(of: file), facts.kind == .file, state.trusts(facts) else { return nil }
        guard let (head, payload) = sections(of: file, size: facts.size, name: name), state.name(of: head.key) == name
        else { return nil }
        let size = facts.allocated > 0 ? facts.allocated : facts.size
        var row = row(of: head, name: name, size: size)
        row.payload = payload
        row.accessed = min(row.accessed, now)
        row.renewed = min(row.renewed, now)
        return row
    }

    /// Returns all sections except the payload, and the size of the payload.
    private func sections(of file: Int32, size: Int, name: String) -> (CacheEntry, Int)? {
        var wanted = min(size, 16_384)
        var bytes: [UInt8] = []
        while true {
            let missing = wanted - bytes.count
            var more = [UInt8](repeating: 0, count: missing)
            let count = try? more.withUnsafeMutableBytes { buffer throws(SystemCallError) in
                try files.readAll(file, into: buffer)
            }
            guard count == missing else { return nil }
            bytes += more
            let step = bytes.withUnsafeBytes { raw -> Result<(CacheEntry, Int), EntryFileError>? in
                do throws(EntryFileError) {
                    switch try state.decodeSections(raw, fileSize: size, name: name) {
                    case .entry(let entry, let payload): return .success((entry, payload))
                    case .incomplete(let required):
                        wanted = required
                        return nil
                    }
                } catch {
                    return .failure(error)
                }
            }
            if let step { return try? step.get() }
        }
    }
}
