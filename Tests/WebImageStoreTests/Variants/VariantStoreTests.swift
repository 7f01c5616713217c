// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP

@testable import WebImageStore

private let url = CacheKey(["data", "http://example.org/a"])

private func fields(_ pairs: [String: String]) -> HTTPFields {
    HTTPFields(pairs.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value) })
}

/// Returns response `number` to a request with the fields `request`. The response varies on `vary`.
private func answer(
    _ number: Int, _ request: HTTPFields, vary: String?, separating: [String] = []
) -> DiskEntry {
    var response = ResponseHead(status: 200, fields: HTTPFields())
    response.fields["Vary"] = vary
    let time = Date(timeIntervalSince1970: 1_800_000_000 + Double(number))
    var head = StoredHead(
        request: request, response: response, finalURL: "http://example.org/a", requestTime: time, responseTime: time)
    head.varying = StoredHead.selecting(request: request, response: response.fields, separating: separating)
    return DiskEntry(key: url, head: head, payload: Data("\(number)".utf8), stored: time)
}

extension VariantStore {
    fileprivate func number(_ request: HTTPFields) async -> Int? {
        await answer(for: url, matching: request).flatMap { Int(String(decoding: $0.entry.payload, as: UTF8.self)) }
    }
}

@Suite("Variants of one URL on disk")
struct VariantStoreTests {
    private let dark = fields(["Theme": "dark"])
    private let light = fields(["Theme": "light"])

    @Test("A response without Vary is stored in one file and serves all requests")
    func single() async throws {
        let folder = TestFolder()
        let cache = try folder.open()
        let store = VariantStore(cache)
        await store.store(answer(1, dark, vary: nil), request: dark)
        await store.store(answer(2, light, vary: nil), request: light)
        #expect(await store.number(dark) == 2)
        #expect(await cache.entries().count == 1)
        await cache.close()
    }

    @Test("Storing variants of many keys keeps no more lists in memory than allowed")
    func manyKeys() async throws {
        let folder = TestFolder()
        let cache = try folder.open()
        let store = VariantStore(cache)
        for number in 0..<(VariantStore.listLimit + 8) {
            for request in [dark, light] {
                var entry = answer(number, request, vary: "Theme")
                entry.key = CacheKey(["data", "http://example.org/\(number)"])
                await store.store(entry, request: request)
            }
            // Otherwise, the cache may drop entries that wait to be written.
            if number % 32 == 0 { await store.flush() }
        }
        #expect(store.listCount == 8)
        let first = CacheKey(["data", "http://example.org/0"])
        #expect(await store.answer(for: first, matching: dark)?.entry.payload == Data("0".utf8))
        await cache.close()
    }

    @Test("Making room for lists keeps those that hide removed entries")
    func makingRoom() {
        var lists = [url: VariantList()]
        for number in 1..<VariantStore.listLimit {
            var list = VariantList()
            if let head = answer(number, dark, vary: "Theme").head {
                _ = list.insert(VariantList.Variant(id: VariantStore.front, stored: head), request: dark)
            }
            lists[CacheKey(["data", "\(number)"])] = list
        }
        VariantStore.makeRoom(in: &lists)
        #expect(lists.count == 1 && lists[url]?.variants.isEmpty == true)
    }

    @Test("Two variants serve the requests that select them, even after a restart")
    func two() async throws {
        let folder = TestFolder()
        var cache = try folder.open()
        var store = VariantStore(cache)
        await store.store(answer(1, dark, vary: "Theme"), request: dark)
        #expect(await cache.entries().count == 1)
        await store.store(answer(2, light, vary: "Theme"), request: light)
        for _ in 0..<2 {
            #expect(await store.number(dark) == 1)
            #expect(await store.number(light) == 2)
            #expect(await store.number(HTTPFields()) == nil)
            await cache.close()
            cache = try folder.open()
            store = VariantStore(cache)
        }
        await store.store(answer(3, dark, vary: "Theme"), request: dark)
        #expect(await store.number(dark) == 3)
        #expect(await store.number(light) == 2)
        await cache.close()
    }

    @Test("A new response head for one variant doesn't change the other")
    func heads() async throws {
        let folder = TestFolder()
        let cache = try folder.open()
        let store = VariantStore(cache)
        await store.store(answer(1, dark, vary: "Theme"), request: dark)
        var head = try #require(answer(9, light, vary: "Theme").head)
        head.head.fields["X-New"] = "1"
        // This variant isn't stored yet. The stored entry is another variant.
        await store.updateHead(head, for: url, matching: light)
        #expect(await store.answer(for: url, matching: dark)?.entry.head?.head.fields["X-New"] == nil)
        await store.store(answer(2, light, vary: "Theme"), request: light)
        await store.updateHead(head, for: url, matching: light)
        #expect(await store.answer(for: url, matching: dark)?.entry.head?.head.fields["X-New"] == nil)
        #expect(await store.answer(for: url, matching: light)?.entry.head?.head.fields["X-New"] == "1")
        await cache.close()
    }

    @Test("Credentials distinguish variants if configured, and so do missing credentials")
    func credentials() async throws {
        let folder = TestFolder()
        let cache = try folder.open()
        let store = VariantStore(cache)
        let nobody = HTTPFields()
        let anna = fields(["Authorization": "Basic YTpi"]).withHashedSecrets
        await store.store(answer(1, nobody, vary: nil, separating: ["Authorization"]), request: nobody)
        #expect(await store.number(anna) == nil)
        await store.store(answer(2, anna, vary: nil, separating: ["Authorization"]), request: anna)
        #expect(await store.number(anna) == 2)
        #expect(await store.number(nobody) == 1)
        for entry in await cache.entries() { #expect(!entry.key.contains("YTpi")) }
        await cache.close()
    }

    @Test("A response without Vary replaces all variants")
    func noLonger() async throws {
        let folder = TestFolder()
        let cache = try folder.open()
        let store = VariantStore(cache)
        await store.store(answer(1, dark, vary: "Theme"), request: dark)
        await store.store(answer(2, light, vary: "Theme"), request: light)
        await store.store(answer(3, dark, vary: nil), request: dark)
        #expect(await store.number(light) == 3)
        #expect(await store.number(dark) == 3)
        await cache.close()
    }

    @Test("Removing all variants leaves no file, even if the list was only on disk")
    func removal() async throws {
        let folder = TestFolder()
        var cache = try folder.open()
        var store = VariantStore(cache)
        for isReopened in [false, true] {
            await store.store(answer(1, dark, vary: "Theme"), request: dark)
            await store.store(answer(2, light, vary: "Theme"), request: light)
            if isReopened {
                await cache.close()
                cache = try folder.open()
                store = VariantStore(cache)
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
        let folder = TestFolder()
        var cache = try folder.open()
        var store = VariantStore(cache)
        await store.store(answer(1, dark, vary: "Theme"), request: dark)
        await store.store(answer(2, light, vary: "Theme"), request: light)
        await cache.close()
        cache = try folder.open()
        store = VariantStore(cache)
        store.removeAll(for: url)
        for _ in 0..<round { await Task.yield() }
        let vary = round.isMultiple(of: 2) ? nil : "Theme"
        await store.store(answer(3, dark, vary: vary), request: dark)
        await store.cleanedUp()
        #expect(await store.number(dark) == 3)
        await cache.close()
        cache = try folder.open()
        #expect(await VariantStore(cache).number(dark) == 3)
        await cache.close()
    }

    @Test("Random operations have the same results as with a list in memory", arguments: 0..<6)
    func model(_ seed: Int) async throws {
        let folder = TestFolder()
        var random = SeededGenerator(seed: UInt64(seed) + 7)
        let requests = ["a", "b", "c"].map { fields(["X": $0]) } + [HTTPFields(), fields(["X": "a", "Y": "1"])]
        var model = VariantList()
        var cache = try folder.open()
        var store = VariantStore(cache)
        for step in 0..<300 {
            let request = requests[Int.random(in: 0..<requests.count, using: &random)]
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<30:
                let vary = [nil, "X", "X", "X, Y", "Y"][Int.random(in: 0..<5, using: &random)]
                let entry = answer(step, request, vary: vary)
                let head = try #require(entry.head)
                if vary == nil { model = VariantList() }
                _ = model.insert(VariantList.Variant(id: "\(step)", stored: head), request: request)
                await store.store(entry, request: request)
            case 30..<85:
                #expect(
                    await store.number(request).map { "\($0)" } == model.matching(request).first?.id, "step \(step)")
            case 85..<90:
                for variant in model.matching(request) { model.remove(variant.id) }
                await store.remove(matching: request, for: url)
            case 90..<93:
                model = VariantList()
                store.removeAll(for: url)
            case 93..<96: await cache.flush()
            default:
                await store.cleanedUp()
                await cache.close()
                cache = try folder.open()
                store = VariantStore(cache)
            }
        }
        await cache.close()
    }
}
