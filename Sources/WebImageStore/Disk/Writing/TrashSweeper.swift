// SPDX-License-Identifier: MIT

import Synchronization

/// The gradual deletion of files that were set aside in directories for trash.
///
/// On ext4, creating files right after deleting many others is up to 20 times slower. New entries must therefore not share
/// a directory with removed ones.
final class TrashSweeper {
    private static let slice = 2_048

    private let files: any FileSystem
    private let layout: CacheLayout
    private var waiters: [(progress: SweepProgress?, completion: DiskCacheState.Completion)] = []
    private var swept = 0
    private var isDue = false

    init(_ state: DiskCacheState) {
        files = state.files
        layout = state.layout
    }

    func makeDirectory() -> String? {
        for _ in 0..<8 {
            let path = layout.newTrash
            if (try? files.makeDirectory(path)) != nil { return path }
        }
        return nil
    }

    func find() { if next() != nil { isDue = true } }
    func requestSweep() { isDue = true }

    func requestSweep(_ progress: SweepProgress?, _ completion: @escaping DiskCacheState.Completion) {
        waiters.append((progress, completion))
        requestSweep()
    }

    func takeRequest() -> Bool {
        defer { isDue = false }
        return isDue
    }

    /// Deletes one slice of the trash. Returns `false` if the sweep has ended.
    func sweepSlice() -> Bool {
        var budget = Self.slice
        guard let trash = next(), delete(trash, &budget) else {
            swept = 0
            notifyWaiters()
            return false
        }
        swept += Self.slice - budget
        for waiter in waiters { waiter.progress?(swept) }
        return true
    }

    func notifyWaiters() {
        let waiters = waiters
        self.waiters = []
        for waiter in waiters { waiter.completion() }
    }

    private func next() -> String? {
        (try? files.names(in: layout.root))?.first { $0.hasPrefix(CacheLayout.trashPrefix) }.map {
            "\(layout.root)/\($0)"
        }
    }

    /// Deletes a tree until the budget is used up. Returns `false` if a file can't be deleted.
    private func delete(_ folder: String, _ budget: inout Int) -> Bool {
        guard let names = try? files.names(in: folder) else { return false }
        for name in names {
            guard budget > 0 else { return true }
            let path = "\(folder)/\(name)"
            if (try? files.status(at: path))?.kind == .directory {
                guard delete(path, &budget) else { return false }
            } else {
                guard (try? files.remove(path)) != nil else { return false }
                budget -= 1
            }
        }
        guard budget > 0 else { return true }
        budget -= 1
        return (try? files.removeDirectory(folder)) != nil
    }
}
