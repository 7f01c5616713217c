// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import WebImageCore
import WebImageHTTP

@testable import WebImageStore

/// The targets of the formats that the cache reads.
enum Formats {
    static let targets = [
        FuzzTarget("entry", maxLength: 2_048, seeds: { [Data(EntryFuzzing.seed)] }, run: entry),
        FuzzTarget("key", maxLength: 256, seeds: { [Data("4:data21:https://u:p@a.example".utf8)] }, run: key),
        FuzzTarget(
            "vary-index", maxLength: 1_024,
            seeds: {
                var list = VaryIndex()
                let fields: HTTPHeaderFields = ["accept": "image/png"]
                let time = Date(timeIntervalSince1970: 1_700_000_000)
                let variant = VaryIndex.Variant(id: "a", names: ["accept"], varyHeaders: fields, responseTime: time)
                _ = list.insert(variant, request: fields)
                return (try? [JSONEncoder().encode(list)]) ?? []
            }, dictionary: ["\"id\":", "\"names\":", "\"lines\":", "\"value\":", "\"responseTime\":"], run: varyIndex),
        FuzzTarget(
            text: "pressure", maxLength: 256,
            seeds: [
                "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3\n",
                "low 0\nhigh 1\nmax 2\noom 3\noom_kill 4\n", "max\n", "1073741824\n",
            ], dictionary: ["total=", "18446744073709551615", "some ", "full ", "oom "], run: pressure),
        FuzzTarget(
            "ghost-uses", maxLength: 512,
            seeds: { [Data(GhostUses.encoded([(tag: 1, uses: 2), (tag: -1, uses: 255)]))] }, run: ghostUses),
        FuzzTarget(
            "memory-eviction", maxLength: 512, seeds: { [Data([0, 1, 2, 64, 65, 128, 129, 192, 3, 4, 0, 192])] },
            run: memoryEviction),
    ]

    private static func ghostUses(_ bytes: UnsafeRawBufferPointer) {
        var ghosts = GhostUses()
        ghosts.add(encoded: bytes)
        require(ghosts.count <= bytes.count / 9, "More entries than the slice contains are remembered.")
        ghosts.limit(to: 3)
        require(ghosts.count <= 3, "More entries than the limit are remembered.")
    }

    /// Each byte is a change of the table for one of 64 keys. The table must have the same entries as a dictionary.
    private static func memoryEviction(_ bytes: UnsafeRawBufferPointer) {
        var table = AdaptiveFIFOTable<Int>()
        var costs: [CacheKey.Digest: Int] = [:]
        for (step, byte) in bytes.enumerated() {
            let digest = CacheKey.Digest(high: 0, low: UInt64(byte & 63) &* 0x9E37_79B9_7F4A_7C15)
            switch byte >> 6 {
            case 0:
                let standing = table.standing(of: digest)
                _ = table.remove(digest)
                table.insert(step, for: digest, info: CachedImageInfo(cost: step % 5), standing: standing)
                costs[digest] = step % 5
            case 1: _ = table.findLasting(digest)
            case 2:
                require((table.remove(digest) == nil) == (costs[digest] == nil), "An entry is missing.")
                costs[digest] = nil
            default:
                let evicted = table.evict()
                require((evicted == nil) == costs.isEmpty, "The table evicts no entry.")
                if let evicted { require(costs.removeValue(forKey: evicted.digest) == evicted.note.cost) }
            }
            require(table.count == costs.count && table.cost == costs.values.reduce(0, +), "The totals differ.")
            require(Set(table.order) == Set(costs.keys), "The order lacks an entry.")
        }
    }

    private static func entry(_ bytes: UnsafeRawBufferPointer) {
        require(EntryFuzzing.roundTrip(bytes), "An entry that was read can't be written and read again.")
        // After a valid header, more mutations reach the sections.
        let whole = EntryFuzzing.seed.prefix(48) + bytes
        require([UInt8](whole).withUnsafeBytes { EntryFuzzing.roundTrip($0) })
        _ = try? CacheEntry(serialized: Data(bytes))
    }

    private static func key(_ bytes: UnsafeRawBufferPointer) {
        let text = String(decoding: bytes, as: UTF8.self)
        _ = CacheKey.components(ofKey: text)
        _ = CacheKey.source(ofKey: text).map(CacheKey.host)
        let fields = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let key = CacheKey(fields)
        require(key.components == fields, "The fields of a key change.")
        require(CacheKey(canonical: key.canonical) == key && CacheLayout.isEntryName(key.fileName))
        // Foundation's search of strings traps for some text that contains NUL, so search bytes.
        guard let (url, credentials) = URLCredentials.split(text), !credentials.isEmpty,
            Data(url.utf8).range(of: Data(credentials.utf8)) == nil
        else { return }
        let canonical = Data(CacheKey.data(of: text).canonical.utf8)
        require(canonical.range(of: Data("//\(credentials)@".utf8)) == nil, "A key contains credentials.")
    }

    private static func varyIndex(_ bytes: UnsafeRawBufferPointer) {
        guard var list = try? JSONDecoder().decode(VaryIndex.self, from: Data(bytes)) else { return }
        let request: HTTPHeaderFields = ["Accept": "image/png"]
        for variant in list.matching(request) { require(variant.matches(request)) }
        let new = VaryIndex.Variant(id: "new", names: [], varyHeaders: HTTPHeaderFields(), responseTime: .distantPast)
        let removed = list.insert(new, request: request)
        require(list.variants.count <= VaryIndex.limit && list.variants.last == new, "A list exceeds its limit.")
        require(!list.variants.contains { removed.contains($0.id) }, "A removed variant remains.")
        guard let written = try? JSONEncoder().encode(list) else { return }
        require((try? JSONDecoder().decode(VaryIndex.self, from: written)) == list, "A list of variants changes.")
    }

    private static func pressure(_ text: String) {
        var samples = text.split(separator: "---", omittingEmptySubsequences: false).map { part in
            let part = String(part)
            var sample = PressureSample(stalls: [PressureFiles.stall(part)])
            sample.events = PressureFiles.events(part)
            sample.limit = PressureFiles.number(part)
            sample.workingSet = PressureFiles.values(part)["some"]
            return sample
        }
        samples.append(PressureSample(stalls: [.init(some: 5, full: 5)], events: .init()))
        for (before, sample) in zip(samples, samples.dropFirst()) {
            for seconds in [0, 2.0] { _ = PressureReading.level(sample, before: before, seconds: seconds) }
        }
    }
}
