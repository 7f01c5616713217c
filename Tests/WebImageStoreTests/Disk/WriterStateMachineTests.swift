// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing

@testable import WebImageStore

@Suite("Decisions of the disk writer")
struct WriterStateMachineTests {
    private func idle() -> WriterStateMachine {
        var state = WriterStateMachine(sizeLimit: 1 << 30)
        state.ageChecked(now: 0)
        return state
    }

    @Test("A batch is committed after 0.25 seconds or 256 rows")
    func batches() {
        var state = idle()
        state.rowAdded(now: 1)
        #expect(state.next(now: 1, hasJob: false) == .wait(0.25))
        #expect(state.next(now: 1.2, hasJob: true) == .job)
        #expect(state.next(now: 1.25, hasJob: true) == .commit)
        state.committed()
        for _ in 0..<255 { state.rowAdded(now: 2) }
        #expect(state.next(now: 2, hasJob: true) == .job)
        state.rowAdded(now: 2)
        #expect(state.next(now: 2, hasJob: true) == .commit)
    }

    @Test("A batch of one twentieth of the size limit is committed immediately")
    func largeBatch() {
        var state = WriterStateMachine(sizeLimit: 1_000)
        state.ageChecked(now: 0)
        state.rowAdded(bytes: 50, now: 1)
        #expect(state.next(now: 1, hasJob: true) == .commit)
    }

    @Test("Access times are committed after 30 seconds or 256 accesses")
    func accesses() {
        var state = idle()
        state.accessed(count: 1, now: 1)
        #expect(state.next(now: 1, hasJob: false) == .wait(30))
        #expect(state.next(now: 31, hasJob: false) == .commit)
        state.accessed(count: 256, now: 2)
        #expect(state.next(now: 2, hasJob: false) == .commit)
    }

    @Test("Pauses double from 1 minute to 15 minutes, and a successful write resets them")
    func pauses() {
        var state = idle()
        var now = 0.0
        for expected in [60.0, 120, 240, 480, 900, 900] {
            #expect(state.writeFailed(ENOSPC, now: now) == true)
            #expect(state.pausedUntil == now + expected)
            #expect(!state.acceptsWrites(now: now + expected - 1))
            now += expected
            #expect(state.acceptsWrites(now: now))
        }
        state.writeSucceeded()
        #expect(state.writeFailed(EROFS, now: now) == false)
        #expect(state.pausedUntil == now + 60)
        state.writeSucceeded()
        #expect(state.writeFailed(EMFILE, now: now) == false)
        #expect(state.acceptsWrites(now: now))
    }

    @Test("Eviction alternates with jobs and continues when there are no jobs")
    func eviction() {
        var state = idle()
        state.recordOverLimit(now: 1)
        #expect(state.next(now: 1, hasJob: false) == .evict)
        #expect(state.next(now: 1, hasJob: true) == .job)
        for _ in 0..<WriterStateMachine.jobsPerSlice { state.jobDone() }
        #expect(state.next(now: 1, hasJob: true) == .evict)
        state.sliceDone(again: true, delay: 0.5, now: 1)
        #expect(state.next(now: 1, hasJob: false) == .wait(0.5))
        state.sliceDone(again: false, now: 2)
        #expect(state.next(now: 2, hasJob: false) == .wait(3_598))
    }

    @Test("The pauses between slices end after a wait, even if the uptime remains the same")
    func pausesWithoutClock() {
        var state = idle()
        state.trashFound(now: 1)
        #expect(state.next(now: 1, hasJob: false) == .sweep)
        state.sweepDone(again: true, now: 1)
        guard case .wait(let pause) = state.next(now: 1, hasJob: false) else { return #expect(Bool(false)) }
        #expect(abs(pause - 0.002) < 1e-9)
        state.waited()
        #expect(state.next(now: 1, hasJob: false) == .sweep)
        state.sweepDone(again: false, now: 1)
        state.recordOverLimit(now: 1)
        state.sliceDone(again: true, delay: 0.5, now: 1)
        #expect(state.next(now: 1, hasJob: false) == .wait(0.5))
        state.waited()
        #expect(state.next(now: 1, hasJob: true) == .job)
        #expect(state.next(now: 1, hasJob: false) == .evict)
        state.sliceDone(again: false, now: 1)
        // A wait starts neither an eviction nor a sweep.
        state.waited()
        #expect(state.next(now: 1, hasJob: false) == .wait(3_599))
    }

    @Test("A failed batch isn't retried immediately")
    func failedBatch() {
        var state = idle()
        for _ in 0..<256 { state.rowAdded(now: 1) }
        state.commitFailed(now: 1)
        #expect(state.next(now: 1, hasJob: false) == .wait(1))
        #expect(state.next(now: 2, hasJob: false) == .commit)
    }

    @Test("Entries that wait to be written can be found and replaced, and their number is limited")
    func staging() {
        var staging = PendingWrites(entryLimit: 2, byteLimit: 10_000)
        guard case .write(_, let first) = staging.stage(entry(1)) else { return #expect(Bool(false)) }
        guard case .write(_, let second) = staging.stage(entry(1, version: 1)) else { return #expect(Bool(false)) }
        #expect(staging.current(key(1), ticket: first) == nil)
        guard case .entry(let found) = staging.current(key(1), ticket: second) else { return #expect(Bool(false)) }
        #expect(found.data == bytes(1, version: 1))
        #expect(staging.stage(entry(2)) != nil)
        #expect(staging.stage(entry(3)) == nil)
        #expect(staging.stage(entry(1, count: 9_000)) == nil)
        #expect(staging.finish(key(1), ticket: first) == false)
        #expect(staging.finish(key(1), ticket: second) == true)
        #expect(staging.stage(entry(3)) != nil)
        _ = staging.removeAll()
        #expect(staging.stage(EntryMetadataUpdate(head: head(etag: "x")), for: key(3)) == nil)
        guard case .removed = staging.overlay(for: key(9)) else { return #expect(Bool(false)) }
        staging.finishRemoveAll()
        #expect(staging.overlay(for: key(9)) == nil)
        #expect(staging.digests.isEmpty)
    }
}
