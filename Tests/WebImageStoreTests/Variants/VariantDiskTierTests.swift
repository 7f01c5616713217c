// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP

@testable import WebImageStore

private let url = CacheKey(["data", "http://example.org/a"])

private func headers(_ pairs: [String: String]) -> HTTPHeaderFields {
    HTTPHeaderFields(pairs.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value) })
}

/// Returns response `number` to a request with the fields `request`. The response varies on `vary`.
private func entry(
    _ number: Int, _ request: HTTPHeaderFields, vary: String?, separating: [String] = []
) -> CacheEntry {
    var response = HTTPResponseHead(statusCode: 200, headers: HTTPHeaderFields())
    response.headers["Vary"] = vary
    let time = Date(timeIntervalSince1970: 1_800_000_000 + Double(number))
    var head = StoredResponseHead(
        request: request, response: response, finalURL: "http://example.org/a", requestTime: time, responseTime: time)
    head.varyHeaders = StoredResponseHead.selectingHeaders(
        request: request, response: response.headers, separating: separating)
    return CacheEntry(key: url, head: head, data: Data("\(number)".utf8), storedAt: time)
}

extension VariantDiskTier {
    fileprivate func number(_ request: HTTPHeaderFields) async -> Int? {
        await variant(for: url, matching: request).flatMap { Int(String(decoding: $0.entry.data, as: UTF8.self)) }
    }
}

@Suite("Variants of one URL on disk")
struct VariantDiskTierTests {
    private let dark = headers(["Theme": "dark"])
    private let light = headers(["Theme": "light"])

    @Test("A response without Vary is stored in one file and serves all requests")
    func single() async throws {
        let folder = TestDirectory()
        let cache = try folder.open()
        let store = VariantDiskTier(cache)
        await store.store(entry(1, dark, vary: nil), matching: dark)
        await store.store(entry(2, light, vary: nil), matching: light)
        #expect(await store.number(dark) == 2)
        #expect(await cache.entries().count == 1)
        await cache.close()
    }

    @Test("Storing variants of many keys keeps no more lists in memory than allowed")
    func manyKeys() async throws {
        let folder = TestDirectory()
        let cache = try folder.open()
        let store = VariantDiskTier(cache)
        for number in 0..<(VariantDiskTier.listLimit + 8) {
            for request in [dark, light] {
                var entry = entry(number, request, vary: "Theme")
                entry.key = CacheKey(["data", "http://example.org/\(number)"])
                await store.store(entry, matching: request)
            }
            // Otherwise, the cache may drop entries that wait to be written.
            if number % 32 == 0 { await store.flush() }
        }
        #expect(store.listCount == 8)
        let first = CacheKey(["data", "http://example.org/0"])
        #expect(await store.variant(for: first, matching: dark)?.entry.data == Data("0".utf8))
        await cache.close()
    }

    @Test("Making room for lists keeps those that hide removed entries")
    func makingRoom() {
        var lists = [url: VariantDiskTier.KnownList(VaryIndex(), time: 0)]
        for number in 1..<VariantDiskTier.listLimit {
            var list = VaryIndex()
            if let head = entry(number, dark, vary: "Theme").head {
                _ = list.insert(VaryIndex.Variant(id: VariantDiskTier.front, stored: head), request: dark)
            }
            lists[CacheKey(["data", "\(number)"])] = VariantDiskTier.KnownList(list, time: 0)
        }
        VariantDiskTier.makeRoom(in: &lists)
        #expect(lists.count == 1 && lists[url]?.list.variants.isEmpty == true)
    }

    @Test("Two variants serve the requests that select them, even after a restart")
    func two() async throws {
        let folder = TestDirectory()
        var cache = try folder.open()
        var store = VariantDiskTier(cache)
        await store.store(entry(1, dark, vary: "Theme"), matching: dark)
        #expect(await cache.entries().count == 1)
        await store.store(entry(2, light, vary: "Theme"), matching: light)
        for _ in 0..<2 {
            #expect(await store.number(dark) == 1)
            #expect(await store.number(light) == 2)
            #expect(await store.number(HTTPHeaderFields()) == nil)
            await cache.close()
            cache = try folder.open()
            store = VariantDiskTier(cache)
        }
        await store.store(entry(3, dark, vary: "Theme"), matching: dark)
        #expect(await store.number(dark) == 3)
        #expect(await store.number(light) == 2)
        await cache.close()
    }

    @Test("A new response head for one variant doesn't change the other")
    func heads() async throws {
        let folder = TestDirectory()
        let cache = try folder.open()
        let store = VariantDiskTier(cache)
        await store.store(entry(1, dark, vary: "Theme"), matching: dark)
        var head = try #require(entry(9, light, vary: "Theme").head)
        head.head.headers["X-New"] = "1"
        // This variant isn't stored yet. The stored entry is another variant.
        await store.updateHead(head, for: url, matching: light)
        #expect(await store.variant(for: url, matching: dark)?.entry.head?.head.headers["X-New"] == nil)
        await store.store(entry(2, light, vary: "Theme"), matching: light)
        await store.updateHead(head, for: url, matching: light)
        #expect(await store.variant(for: url, matching: dark)?.entry.head?.head.headers["X-New"] == nil)
        #expect(await store.variant(for: url, matching: light)?.entry.head?.head.headers["X-New"] == "1")
        await cache.close()
    }

    @Test("Credentials distinguish variants if configured, and so do missing credentials")
    func credentials() async throws {
        let folder = TestDirectory()
        let cache = try folder.open()
        let store = VariantDiskTier(cache)
        let nobody = HTTPHeaderFields()
        let anna = headers(["Authorization": "Basic YTpi"]).withHashedSecrets
        await store.store(entry(1, nobody, vary: nil, separating: ["Authorization"]), matching: nobody)
        #expect(await store.number(anna) == nil)
        await store.store(entry(2, anna, vary: nil, separating: ["Authorization"]), matching: anna)
        #expect(await store.number(anna) == 2)
        #expect(await store.number(nobody) == 1)
        for entry in await cache.entries() { #expect(!entry.key.canonical.contains("YTpi")) }
        await cache.close()
    }

    @Test("A response without Vary replaces all variants")
    func noLonger() async throws {
        let folder = TestDirectory()
        let cache = try folder.open()
        let store = VariantDiskTier(cache)
        await store.store(entry(1, dark, vary: "Theme"), matching: dark)
        await store.store(entry(2, light, vary: "Theme"), matching: light)
        await store.store(entry(3, dark, vary: nil), matching: dark)
        #expect(await store.number(light) == 3)
        #expect(await store.number(dark) == 3)
        await cache.close()
    }

    @Test("Removing all variants leaves no file, even if the list was only on disk")
    func removal() async throws {
        let folder = TestDirectory()
        var cache = try folder.open()
        var store = VariantDiskTier(cache)
        for isReopened in [false, true] {
            await store.store(entry(1, dark, vary: "Theme"), matching: dark)
            await store.store(entry(2, light, vary: "Theme"), matching: light)
            if isReopened {
                await cache.close()
                cache = try folder.open()
                store = VariantDiskTier(cache)
                await cache.settle()
            }
            store.removeAll(for: url)
            #expect(await store.number(dark) == nil)
            #expect(await store.number(light) == nil)
            await store.cleanedUp()
            #expect(await cache.entries().isEmpty)
        }
        await cache.close()
    }

    @Test("A response that is stored during the removal of all variants isn't removed", arguments: 0..<20)
    func removalBehind(_ round: Int) async throws {
        let folder = TestDirectory()
        var cache = try folder.open()
        var store = VariantDiskTier(cache)
        await store.store(entry(1, dark, vary: "Theme"), matching: dark)
        await store.store(entry(2, light, vary: "Theme"), matching: light)
        await cache.close()
        cache = try folder.open()
        store = VariantDiskTier(cache)
        store.removeAll(for: url)
        for _ in 0..<round { await Task.yield() }
        let vary = round.isMultiple(of: 2) ? nil : "Theme"
        await store.store(entry(3, dark, vary: vary), matching: dark)
        await store.cleanedUp()
        #expect(await store.number(dark) == 3)
        await cache.close()
        cache = try folder.open()
        #expect(await VariantDiskTier(cache).number(dark) == 3)
        await cache.close()
    }

    @Test("Random operations have the same results as with a list in memory", arguments: 0..<6)
    func model(_ seed: Int) async throws {
        let folder = TestDirectory()
        var random = SeededGenerator(seed: UInt64(seed) + 7)
        let requests =
            ["a", "b", "c"].map { headers(["X": $0]) } + [HTTPHeaderFields(), headers(["X": "a", "Y": "1"])]
        var model = VaryIndex()
        var cache = try folder.open()
        var store = VariantDiskTier(cache)
        for step in 0..<300 {
            let request = requests[Int.random(in: 0..<requests.count, using: &random)]
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<30:
                let vary = [nil, "X", "X", "X, Y", "Y"][Int.random(in: 0..<5, using: &random)]
                let entry = entry(step, request, vary: vary)
                let head = try #require(entry.head)
                if vary == nil { model = VaryIndex() }
                _ = model.insert(VaryIndex.Variant(id: "\(step)", stored: head), request: request)
                await store.store(entry, matching: request)
            case 30..<85:
                #expect(
                    await store.number(request).map { "\($0)" } == model.matching(request).first?.id, "step \(step)")
            case 85..<90:
                for variant in model.matching(request) { model.remove(variant.id) }
                await store.remove(matching: request, for: url)
            case 90..<93:
                model = VaryIndex()
                store.removeAll(for: url)
            case 93..<96: await cache.flush()
            default:
                await store.cleanedUp()
                await cache.close()
                cache = try folder.open()
                store = VariantDiskTier(cache)
            }
        }
        await cache.close()
    }
}
