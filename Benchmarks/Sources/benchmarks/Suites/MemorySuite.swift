// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// A suite that compares lookups in the memory cache with NSCache and with a dictionary that's protected by a lock.
enum MemorySuite: Suite {
    static let name = "memory"
    static let summary = "memory cache: hit, miss, and store, 1,000 and 100,000 entries, one and two threads"

    private static let operations = 400_000

    static func cases(_ settings: Settings) throws -> [Case] {
        var cases: [Case] = []
        for (count, bound) in [(1_000, 35e-9), (100_000, 300e-9)] {
            let stores = try Stores(count)
            let label = "\(count) entries"
            cases.append(
                Case(
                    name: "hit, \(label)", contenders: stores.contenders(threads: 1) { $0.hit($1) },
                    goals: [.atMost(bound, .cpu), .ratio(.cpu, to: "NSCache", atMost: 0.25)]))
            if count == 1_000 {
                cases.append(
                    Case(
                        name: "hit, \(label), two threads", contenders: stores.contenders(threads: 2) { $0.hit($1) },
                        goals: [.atMost(250e-9, .wall)]))
            }
            cases.append(
                Case(name: "miss, \(label)", contenders: stores.contenders(threads: 1) { $0.miss($1) }, goals: []))
            cases.append(
                Case(name: "store, \(label)", contenders: stores.contenders(threads: 1) { $0.store($1) }, goals: []))
        }
        return cases
    }

    /// The same entries in each kind of store.
    private struct Stores {
        let all: [(String, any PictureStore)]

        init(_ count: Int) throws {
            let image = try smallPicture()
            let keys = (0..<count).map {
                CacheKey(["https://images.example.com/photos/\($0)/large.jpg?w=640&fit=crop", "256x256"])
            }
            let absent = (0..<count).map { CacheKey(["https://images.example.com/absent/\($0).jpg"]) }
            let order = pseudoRandomOrder(65_536, below: count)
            let own = OwnStore(keys, absent, order, image)
            all = [
                ("WebImage", own), ("WebImage, key copied from a list", CopiedKeyStore(own)),
                ("dictionary protected by a lock", DictionaryStore(keys, absent, order, image)),
                ("NSCache", FoundationStore(keys, absent, order, image)),
            ]
        }

        func contenders(threads: Int, _ work: @escaping @Sendable (any PictureStore, Int) -> Void) -> [Contender] {
            all.map { name, store in
                Contender(name) { _ in
                    // The threads run in parallel, so divide by the number of operations of one thread.
                    timed(operations) {
                        guard threads > 1 else {
                            for step in 0..<operations { work(store, step) }
                            return
                        }
                        DispatchQueue.concurrentPerform(iterations: threads) { thread in
                            for step in 0..<operations { work(store, step &+ thread &* 31_337) }
                        }
                    }
                }
            }
        }
    }

    private static func smallPicture() throws -> DecodedImage {
        DecodedImage(pixels: try PixelCanvas(size: PixelSize(width: 16, height: 16)).finish(isOpaque: false))
    }
}

/// Returns `count` numbers below `bound` in a fixed pseudorandom order.
func pseudoRandomOrder(_ count: Int, below bound: Int) -> [Int] {
    var state: UInt64 = 88_172_645_463_325_252
    return (0..<count).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(bound))
    }
}
