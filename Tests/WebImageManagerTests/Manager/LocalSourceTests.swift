// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport

@testable import WebImage

@Suite("Files and data URLs", .timeLimit(.minutes(5)))
struct LocalSourceTests {
    @Test("An image from a data URL is decoded once, cached in memory, and not stored on disk")
    func dataURL() async throws {
        let picture = try TestImages.png(3)
        let url = try #require(URL(string: "data:image/png;base64,\(picture.base64EncodedString())"))
        let fixture = try ManagerFixture()
        #expect(try await fixture.manager.response(for: ImageRequest(url: url)).source == .local)
        #expect(try fixture.manager.load(url).result?.get().source == .memoryCache)
        await fixture.manager.diskCache?.flush()
        #expect(await fixture.manager.diskCache?.entries().isEmpty == true)
    }

    @Test("Data of more than 1 MiB in a data URL fails with a limit error, unless the configuration allows it")
    func largeDataURL() async throws {
        // PNG readers ignore data after the end of the image.
        let picture = try TestImages.png(3)
        let limit = 1 << 20
        func url(_ count: Int) throws -> URL {
            let data = picture + Data(repeating: 0, count: count - picture.count)
            return try #require(URL(string: "data:image/png;base64,\(data.base64EncodedString())"))
        }
        let manager = try ManagerFixture().manager
        _ = try await manager.image(for: url(limit))
        let large = try url(limit + 1)
        do throws(ImageError) {
            _ = try await manager.image(for: large)
            Issue.record("the data was loaded")
        } catch {
            guard case .limitExceeded(let failure) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(failure.kind == .encodedSize && failure.limit == limit && failure.actual == limit + 1)
        }
        let larger = try ManagerFixture { $0.maxDataURLBytes = limit + 1 }
        _ = try await larger.manager.image(for: url(limit + 1))
    }

    @Test("A file is decoded once until it changes, and isn't stored in the disk cache")
    func file() async throws {
        let folder = try TestImages.temporaryDirectory()
        let url = URL(filePath: folder.file("a.png"))
        try TestImages.png(1).write(to: url)
        let fixture = try ManagerFixture()
        #expect(try await fixture.manager.response(for: ImageRequest(url: url)).source == .local)
        // Another thread checks whether the file has changed.
        #expect(fixture.manager.load(url).result == nil)
        #expect(fixture.manager.cachedImage(for: ImageRequest(url: url)) != nil)
        #expect(try await fixture.manager.response(for: ImageRequest(url: url)).source == .memoryCache)
        try TestImages.png(2, width: 20, height: 10).write(to: url)
        let changed = try await fixture.manager.response(for: ImageRequest(url: url))
        #expect(changed.source == .local)
        #expect(changed.image.size == PixelSize(width: 20, height: 10))
        #expect(await fixture.manager.diskCache?.entries().isEmpty == true)
    }

    @Test("A missing file throws an error with its path")
    func missing() async throws {
        let fixture = try ManagerFixture()
        await #expect(throws: ImageError.request(.fileNotFound(path: "/no/such/picture.png"))) {
            try await fixture.manager.image(for: URL(filePath: "/no/such/picture.png"))
        }
    }
}
