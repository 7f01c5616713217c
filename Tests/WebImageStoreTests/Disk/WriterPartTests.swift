// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import Testing
import WebImageConcurrency
import WebImageTestSupport

@testable import WebImageStore

@Suite("Parts of the disk cache’s writer")
struct WriterPartTests {
    private let folder = TestDirectory()
    private let files = FaultyFileSystem()
    private let state: DiskCacheState
    private let index: CacheIndex

    init() throws {
        var configuration = folder.configuration()
        configuration.fileSystem = files
        configuration.minimumFreeFraction = 0.1
        try CacheLayout(configuration).prepare(files)
        state = DiskCacheState(configuration)
        index = try CacheIndex(writing: ":memory:")
    }

    /// Writes the files of entries without adding them to the index.
    private func write(_ numbers: Range<Int>) throws -> [IndexRow] {
        let entries = EntryFiles(state: state, writer: EntryWriter(state, session: 1))
        return try numbers.map { try entries.write(entry($0)) }
    }

    private func insert(_ rows: [IndexRow]) throws {
        try index.transaction { () throws(IndexError) in
            for row in rows { try index.insert(row) }
        }
    }

    private func exists(_ row: IndexRow) -> Bool { (try? files.status(at: state.layout.entry(row.name))) != nil }

    @Test("A comparison adds missing rows, deletes rows without files, and covers all shards again after a restart")
    func reconciliation() throws {
        let rows = try write(0..<6)
        try insert(Array(rows[..<2]))
        try files.remove(state.layout.entry(rows[0].name))
        let reconciler = Reconciler(state)
        reconciler.start(isPublishing: true)
        for _ in 0..<256 { _ = try reconciler.compareShard(with: index) }
        #expect(reconciler.isComplete)
        reconciler.start(isPublishing: false)
        #expect(!reconciler.isComplete)
        var (added, deleted): (Set<String>, Set<String>) = ([], [])
        while !reconciler.isComplete {
            for change in try reconciler.compareShard(with: index) {
                switch change {
                case .insert(let row): added.insert(row.name)
                case .delete(let name): deleted.insert(name)
                case .hide, .update: Issue.record("unexpected change")
                }
            }
        }
        #expect(added == Set(rows[2...].map(\.name)))
        #expect(deleted == [rows[0].name])
        #expect(reconciler.end()?.isPublishing == true)
        #expect(!reconciler.isRunning)
    }

    @Test("An eviction deletes files and rows until its goal is reached, and then notifies its callers")
    func eviction() throws {
        let rows = try write(0..<5)
        try insert(rows)
        let evictor = Evictor(state, SpaceReserve(state))
        let ends = Lock(0)
        evictor.addWaiter(nil) { ends.withLock { $0 += 1 } }
        evictor.evict(to: EvictionTarget(bytes: .max, entries: 2))
        #expect(evictor.isRunning)
        while try evictor.deleteSlice(of: index, at: state.now) {}
        evictor.finish()
        #expect(!evictor.isRunning)
        #expect(ends.withLock { $0 } == 1)
        #expect(try index.totals().entries == 2)
        #expect(rows.count { exists($0) } == 2)
        var report = DiskCache.MaintenanceReport()
        try evictor.discard(Array(1...5), from: index, &report)
        #expect(report.entryCount == 2)
        #expect(!rows.contains { exists($0) })
    }

    @Test("A sweep deletes all directories for trash in slices and reports the number of deleted files")
    func sweep() throws {
        let trash = TrashSweeper(state)
        for count in [3_000, 1] {
            let path = try #require(trash.makeDirectory())
            for number in 0..<count { files.close(try files.openFile("\(path)/\(number)", O_CREAT, mode: 0o600)) }
        }
        let progress = Lock<[Int]>([])
        let ends = Lock(0)
        trash.find()
        #expect(trash.takeRequest())
        #expect(!trash.takeRequest())
        trash.requestSweep({ count in progress.withLock { $0.append(count) } }, { ends.withLock { $0 += 1 } })
        #expect(trash.takeRequest())
        while trash.sweepSlice() {}
        #expect(ends.withLock { $0 } == 1)
        // The directories count, too.
        #expect(progress.withLock { $0.last } == 3_003)
        #expect(progress.withLock { $0.count } == 3)
        #expect(try files.names(in: state.layout.root).allSatisfy { !$0.hasPrefix(CacheLayout.trashPrefix) })
    }

    @Test("Without an index, the changes of a batch are discarded, and with one, a transaction writes them")
    func batch() throws {
        let rows = try write(0..<2)
        let batch = IndexBatch(state, SpaceReserve(state))
        batch.add(.insert(rows[0]))
        #expect(try batch.commit(to: nil, isLast: false) == false)
        #expect(try batch.commit(to: index, isLast: false) == false)
        batch.add(.insert(rows[1]))
        #expect(try batch.commit(to: index, isLast: false))
        #expect(try index.totals().entries == 1)
        // The file still exists, so another process may have stored the entry again.
        batch.add(.delete(name: rows[1].name))
        #expect(try batch.commit(to: index, isLast: false))
        #expect(try index.totals().entries == 1)
    }

    @Test("The free space is read again only before a write is rejected")
    func space() {
        let space = SpaceReserve(state)
        #expect(space.hasRoom(for: 1 << 40))
        files.set(space: FreeSpace(free: 300, total: 1_000))
        space.read()
        #expect(space.shortage() == -200)
        space.add(-150)
        files.set(space: FreeSpace(free: 250, total: 1_000))
        #expect(space.hasRoom(for: 50))
        #expect(space.shortage() == -50)
        #expect(space.hasRoom(for: 150))
        #expect(space.shortage() == -150)
        #expect(!space.hasRoom(for: 151))
    }
}
