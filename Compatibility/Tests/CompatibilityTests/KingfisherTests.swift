// SPDX-License-Identifier: MIT

import Foundation
import KingfisherCompat
import Testing
import WebImageTesting

@testable import KingfisherProgram

extension ProgramTests {
    @Suite("A program for Kingfisher")
    @MainActor
    struct KingfisherTests {
        let origin: Origin
        let shop: Shop

        init() throws {
            origin = try Origin()
            shop = try Shop(baseURL: origin.baseURL, cacheDirectory: origin.directory)
        }

        @Test("Products come from the server, from memory, and from disk")
        func tiers() async throws {
            let first = try await shop.product("photo.png", options: [.waitForCache])
            #expect(first.cacheType == .none && first.image.size == CGSize(width: 40, height: 20))
            #expect(first.image.pixel(3, 3) == Origin.red && first.image.pixel(36, 3) == Origin.blue)
            #expect(try await shop.product("photo.png").cacheType == .memory)
            #expect(shop.imageInMemory("photo.png") == first.image && shop.cacheType(of: "photo.png") == .memory)
            shop.cache.clearMemoryCache()
            #expect(shop.cacheType(of: "photo.png") == .disk && shop.imageInMemory("photo.png") == nil)
            let cached = try await shop.cachedImage("photo.png")
            #expect(cached.cacheType == .disk && cached.image?.size.width == 40)
            #expect(origin.count("/photo.png") == 1)
            #expect(try await shop.product("photo.png", options: [.forceRefresh]).cacheType == .none)
            #expect(origin.count("/photo.png") == 2)
        }

        @Test("Processors have their pixels, and their identifiers find the images")
        func processors() async throws {
            let thumbnail = try await shop.thumbnail("photo.png", side: 20)
            #expect(thumbnail.size == CGSize(width: 20, height: 10) && thumbnail.pixel(0, 0)?.alpha == 0)
            #expect(try await shop.sketch("photo.png").size == CGSize(width: 10, height: 5))
            #expect(shop.cacheType(of: "photo.png", processor: SketchProcessor()) == .memory)
            let detail = try await shop.detail("photo.png", size: CGSize(width: 4, height: 4))
            #expect(detail.size == CGSize(width: 4, height: 4))
            #expect(detail.pixel(0, 0) == Origin.red && detail.pixel(3, 0) == Origin.blue)
            #expect(origin.count("/photo.png") == 1)
        }

        @Test("The builder loads, tints, and stores only in memory")
        func builder() async throws {
            let result = try await shop.tinted("photo.png", color: .green)
            #expect(result.image.size == CGSize(width: 20, height: 10))
            #expect(result.image.pixel(1, 1) == UIColor.green.pixelColor)
            shop.cache.clearMemoryCache()
            #expect(shop.cacheType(of: "photo.png") == .none)
        }

        @Test("The progress ends with the size of the file")
        func progress() async throws {
            _ = try await shop.product("large.jpg")
            let last = try #require(shop.progress.last)
            #expect(last.received == last.total && last.total > 8_192)
        }

        @Test("Alternative sources and request modifiers work")
        func requests() async throws {
            let result = try await shop.partnerImage("missing.png", mirror: "a.png")
            #expect(result.image.size.width == 8 && result.source.url == shop.url("a.png"))
            #expect(result.originalSource.url == shop.url("missing.png"))
            #expect(try await shop.invoice("private.png", token: "42").size.width == 40)
        }

        @Test("Data providers and downloads work without a server and without a cache")
        func sources() async throws {
            let data = try await shop.download("photo.png")
            #expect(shop.cacheType(of: "photo.png") == .none)
            #expect(try await shop.badge(data, key: "badge").pixel(0, 0) == Origin.red)
        }

        @Test("A canceled load and failures have their errors")
        func failures() async throws {
            let origin = origin
            #expect(await shop.cancelledLoad("slow.png") { await origin.server.waitForRequests(count: 1) })
            let error = await #expect(throws: KingfisherError.self) { try await shop.product("missing.png") }
            #expect(error?.isInvalidResponseStatusCode(404) == true && error?.errorCode == 2002)
            await #expect { try await shop.product("b.png", options: [.onlyFromCache]) } throws: { error in
                if case KingfisherError.cacheError(.imageNotExisting) = error { true } else { false }
            }
            #expect(origin.count("/b.png") == 0)
        }

        @Test("Stored images are found under their keys, and removed images aren't")
        func storage() async throws {
            let drawing = UIImage(decoded: try Origin.photo(width: 4, height: 4))
            #expect(try await shop.save(drawing, key: "drawing")?.pixel(3, 3) == Origin.blue)
            _ = try await shop.product("a.png")
            await shop.remove("a.png")
            #expect(try await shop.cachedImage("a.png").cacheType == .none)
            #expect(await shop.clear() == 0)
            #expect(shop.cacheType(of: "drawing") == .none)
        }

        @Test("A prefetcher reports skipped, failed, and completed images")
        func prefetch() async throws {
            _ = try await shop.product("a.png")
            #expect(await shop.prefetch(["a.png", "b.png", "missing.png"]) == [1, 1, 1])
            #expect(try await shop.product("b.png").cacheType == .memory)
        }
    }
}
