// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP

@testable import WebImageStore

private let url = CacheKey(["data", "http://example.org/a"])

private func fields(_ pairs: [String: String]) -> HTTPFields {
    HTTPFields(pairs.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value) })
}

/// The answer number `number` to a request with `request`, varying on `vary`.
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

@Suite("Answers of one URL side by side on disk")
struct VariantStoreTests {
    private let dark = fields(["Theme": "dark"])
    private let light = fields(["Theme": "light"])

    @Test("what does not vary is one file, and answers everyone")
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

    @Test("two variants answer those who select them, also after a restart, and a third is a miss")
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

    @Test("a new head for one variant leaves the other as it was")
    func heads() async throws {
        let folder = TestFolder()
        let cache = try folder.open()
        let store = VariantStore(cache)
        await store.store(answer(1, dark, vary: "Theme"), request: dark)
        var head = try #require(answer(9, light, vary: "Theme").head)
        head.head.fields["X-New"] = "1"
        // Nothing of it is stored yet: what lies there is another answer.
        await store.updateHead(head, for: url, matching: light)
        #expect(await store.answer(for: url, matching: dark)?.entry.head?.head.fields["X-New"] == nil)
        await store.store(answer(2, light, vary: "Theme"), request: light)
        await store.updateHead(head, for: url, matching: light)
        #expect(await store.answer(for: url, matching: dark)?.entry.head?.head.fields["X-New"] == nil)
        #expect(await store.answer(for: url, matching: light)?.entry.head?.head.fields["X-New"] == "1")
        await cache.close()
    }

    @Test("credentials keep answers apart where that is asked for, absent ones too")
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

    @Test("an answer that does not vary any more takes the place of all")
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

    @Test("removing all leaves no file, also where the list was on disk only")
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

    @Test("what is stored while the list of what was removed is being read stays", arguments: 0..<20)
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

    @Test("random operations never give what a list in memory would not", arguments: 0..<6)
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
