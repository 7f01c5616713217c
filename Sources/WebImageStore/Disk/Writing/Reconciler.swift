// SPDX-License-Identifier: MIT

import Glibc
import Synchronization
import WebImageConcurrency

/// The comparison of all files with the index, which proceeds shard by shard.
final class Reconciler {
    typealias Completion = @Sendable (DiskCache.MaintenanceReport) -> Void

    struct Comparison {
        fileprivate var nextShard = 0
        fileprivate var report = DiskCache.MaintenanceReport()
        fileprivate var completions: [Completion] = []
        /// The readers have no data yet, so the result must be published.
        let isPublishing: Bool

        func finish() {
            for completion in completions { completion(report) }
        }
    }

    private let state: DiskCacheState
    private var comparison: Comparison?

    init(_ state: DiskCacheState) { self.state = state }

    var isRunning: Bool { comparison != nil }
    var isComplete: Bool { comparison?.nextShard == 256 }

    /// Starts a comparison. If one is running, it starts again.
    func start(isPublishing: Bool, _ completion: @escaping Completion = { _ in }) {
        // The index may have been replaced after the first shards were compared, so compare all of them.
        var next = Comparison(isPublishing: isPublishing || comparison?.isPublishing == true)
        next.completions = (comparison?.completions ?? []) + [completion]
        comparison = next
    }

    /// Calls the completion after the readers know the entries on disk.
    func settle(_ completion: @escaping DiskCacheState.Completion) {
        guard comparison?.isPublishing == true else { return completion() }
        comparison?.completions.append { _ in completion() }
    }

    func end() -> Comparison? {
        defer { comparison = nil }
        return comparison
    }

    /// The changes add the files that the index doesn't contain and delete the rows without a file.
    func compareShard(with index: CacheIndex) throws(IndexError) -> [IndexChange] {
        guard let shard = comparison?.nextShard else { return [] }
        comparison?.nextShard += 1
        // If the directory can't be read, its files are unknown.
        guard let found = namesOfFiles(shard) else { return [] }
        let known = try index.names(inShard: shard)
        var changes = known.subtracting(found).map { IndexChange.delete(name: $0) }
        comparison?.report.missingCount += changes.count
        for name in found where !known.contains(name) {
            if let row = state.row(ofFile: name) {
                changes.append(.insert(row))
                comparison?.report.recoveredCount += 1
            } else {
                removeStranger(name, shard: shard)
            }
        }
        return changes
    }

    /// Returns `nil` if the directory can't be read. A missing directory has no files.
    private func namesOfFiles(_ shard: Int) -> Set<String>? {
        do throws(SystemCallError) {
            return Set(try state.files.names(in: state.layout.shard(shard)))
        } catch {
            return error.code == ENOENT ? [] : nil
        }
    }

    private func removeStranger(_ name: String, shard: Int) {
        let path = "\(state.layout.shard(shard))/\(name)"
        // An entry file is complete when it gets its name. Other files may still be written, so only old ones are
        // deleted.
        guard let facts = try? state.files.status(at: path), facts.kind == .file,
            CacheLayout.isEntryName(name) || abs(state.now - facts.modified) > 3_600,
            (try? state.files.remove(path)) != nil
        else { return }
        comparison?.report.corruptCount += 1
        state.shared.withLock { $0.counters.corrupt += 1 }
    }
}
