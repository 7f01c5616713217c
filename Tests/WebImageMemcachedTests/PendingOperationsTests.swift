// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageMemcached
import WebImageStore
import WebImageTestSupport

@Suite("Writes that wait for memcached", .timeLimit(.minutes(1)))
struct PendingOperationsTests {
    private func entry(_ key: CacheKey, _ count: Int) -> CacheEntry { CacheEntry(key: key, data: Data(count: count)) }

    private func dropped(
        _ pending: inout PendingOperations, _ operation: PendingOperations.Operation, _ key: CacheKey
    ) -> Int {
        pending.add(operation, for: key)
    }

    @Test("The oldest entries are dropped, and removals stay")
    func limits() {
        var pending = PendingOperations(countLimit: 2, byteLimit: 100)
        let keys = (0..<5).map { CacheKey(["\($0)"]) }
        #expect(dropped(&pending, .remove, keys[0]) == 0)
        #expect(dropped(&pending, .store(entry(keys[1], 10)), keys[1]) == 0)
        #expect(dropped(&pending, .store(entry(keys[2], 10)), keys[2]) == 0)
        #expect(dropped(&pending, .store(entry(keys[3], 10)), keys[3]) == 1)
        #expect(pending.newest(for: keys[1]) == nil)
        #expect(dropped(&pending, .store(entry(keys[4], 95)), keys[4]) == 2)
        #expect(pending.byteCount == 95)
        #expect(pending.newest(for: keys[0]) != nil)
        #expect(pending.waitingCount == 2)
    }

    @Test("An operation on a key waits for the running one")
    func order() {
        var pending = PendingOperations(countLimit: 9, byteLimit: 100)
        let key = CacheKey(["a"])
        _ = pending.add(.store(entry(key, 1)), for: key)
        let first = pending.begin(key)
        #expect(first != nil)
        _ = pending.add(.remove, for: key)
        let early = pending.begin(key)
        #expect(early == nil)
        guard case .remove = pending.newest(for: key) else {
            Issue.record("A read must see the removal.")
            return
        }
        let hasNext = pending.finish(key)
        #expect(hasNext)
        let second = pending.begin(key)
        #expect(second != nil)
        let hasMore = pending.finish(key)
        #expect(!hasMore)
        #expect(pending.count == 0)
    }

    @Test("Random operations reach the server in order for each key, within the limits", arguments: 0..<30)
    func model(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var pending = PendingOperations(countLimit: 8, byteLimit: 200)
        var newest: [CacheKey: Int] = [:]
        var delivered: [CacheKey: Int] = [:]
        var running: [CacheKey: Int] = [:]
        let keys = (0..<6).map { CacheKey(["\($0)"]) }
        for step in 1...1_000 {
            let key = keys[Int.random(in: 0..<keys.count, using: &random)]
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                var new = entry(key, Int.random(in: 0...60, using: &random))
                new.userData = withUnsafeBytes(of: step) { Data($0) }
                _ = pending.add(.store(new), for: key)
                newest[key] = step
            case 1:
                guard case .store(let entry) = pending.begin(key), let mark = entry.userData else { continue }
                let number = mark.withUnsafeBytes { $0.loadUnaligned(as: Int.self) }
                #expect(running[key] == nil)
                #expect(number > delivered[key] ?? 0)
                #expect(number == newest[key])
                running[key] = number
            default:
                if let number = running.removeValue(forKey: key) { delivered[key] = number }
                _ = pending.finish(key)
            }
            #expect(pending.byteCount <= 200)
            #expect(pending.waitingCount <= 8)
        }
    }
}
