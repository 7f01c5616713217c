// SPDX-License-Identifier: MIT

import Foundation
import NukeCompat
import Testing
import WebImageTesting

@testable import NukeProgram

extension ProgramTests {
    @Suite("A program for Nuke")
    @MainActor
    struct NukeTests {
        let origin: Origin
        let feed: Feed

        init() throws {
            origin = try Origin()
            feed = try Feed(baseURL: origin.baseURL, cacheDirectory: origin.directory.appending(path: "feed"))
        }

        @Test("Photos come from the server, from memory, and from disk")
        func tiers() async throws {
            let first = try await feed.response("photo.png")
            #expect(first.cacheType == nil && first.image.size == CGSize(width: 40, height: 20))
            #expect(first.image.pixel(3, 3) == Origin.red && first.image.pixel(36, 3) == Origin.blue)
            #expect((first.urlResponse as? HTTPURLResponse)?.statusCode == 200 && first.container.type == .png)
            #expect(try await feed.response("photo.png").cacheType == .memory)
            #expect(feed.photoInMemory("photo.png") == first.image)
            #expect(feed.memoryUse.count == 1 && feed.memoryUse.cost >= 40 * 20 * 4)
            feed.clearMemory()
            #expect(feed.photoInMemory("photo.png") == nil)
            await feed.dataCache.flush()
            #expect(feed.isOnDisk("photo.png"))
            feed.clearMemory()
            #expect(try await feed.response("photo.png").cacheType == .disk)
            #expect(origin.count("/photo.png") == 1)
            #expect(try await feed.response("photo.png", options: .reloadIgnoringCachedData).cacheType == nil)
            #expect(origin.count("/photo.png") == 2)
            let data = await feed.dataCache.data(for: feed.url("photo.png").absoluteString)
            #expect(data.flatMap { AssetType($0) } == .png)
        }

        @Test("Processors have their pixels")
        func processors() async throws {
            let avatar = try await feed.avatar("photo.png", side: 16)
            #expect(avatar.size == CGSize(width: 16, height: 16) && avatar.pixel(0, 0)?.alpha == 0)
            #expect(avatar.pixel(4, 8) == Origin.red && avatar.pixel(12, 8) == Origin.blue)
            #expect(try await feed.covering("photo.png", side: 10).size == CGSize(width: 20, height: 10))
            let duotone = try await feed.duotone("photo.png")
            #expect(duotone.size == CGSize(width: 4, height: 4))
            #expect(try await feed.thumbnail("photo.png", maxPixelSize: 20).size == CGSize(width: 20, height: 10))
            #expect(origin.count("/photo.png") == 1)
        }

        @Test("Closures report the progress and the image with its scale")
        func closures() async throws {
            let result: Result<UIImage, any Error> = await withCheckedContinuation { continuation in
                _ = feed.photo("large.jpg") { continuation.resume(returning: $0) }
            }
            #expect(try result.get().size == CGSize(width: 300, height: 200))
            let last = try #require(feed.progress.last)
            #expect(last.completed == last.total && last.fraction == 1)
        }

        @Test("Previews arrive while the photo is downloaded")
        func previews() async throws {
            // The server sends the second half of the file after the first preview.
            var sizes: [CGSize] = []
            let photo = try await feed.showPreviews(of: "halves.jpg") { preview in
                sizes.append(preview.size)
                origin.gate.open()
            }
            #expect(!sizes.isEmpty && sizes.allSatisfy { $0 == photo.size })
        }

        @Test("Data, generated images, and requests of Foundation load")
        func sources() async throws {
            let data = try await feed.data("photo.png")
            #expect(AssetType(data) == .png)
            #expect(try await feed.chart("chart", data: data).pixel(0, 0) == Origin.red)
            #expect(try await feed.privatePhoto("private.png", token: "42").size.width == 40)
        }

        @Test("A canceled request fails with the error for cancellations")
        func cancellation() async {
            let origin = origin
            #expect(await feed.cancelledLoad("slow.png") { await origin.server.waitForRequests(count: 1) })
        }

        @Test("Failures have their errors")
        func failures() async throws {
            await #expect { try await feed.response("missing.png") } throws: { error in
                (error as? ImagePipeline.Error)?.dataLoadingError != nil
            }
            await #expect { try await feed.response("a.png", options: .returnCacheDataDontLoad) } throws: { error in
                if case ImagePipeline.Error.dataMissingInCache = error { true } else { false }
            }
            #expect(origin.count("/a.png") == 0)
            await #expect { try await feed.pipeline.image(for: ImageRequest(url: nil)) } throws: { error in
                if case ImagePipeline.Error.imageRequestMissing = error { true } else { false }
            }
        }

        @Test("Images are stored in memory and removed from it")
        func storage() throws {
            let image = UIImage(decoded: try Origin.photo(width: 4, height: 4))
            feed.savePreview(image, for: "drawing")
            #expect(feed.photoInMemory("drawing") == image)
            feed.remove("drawing")
            #expect(feed.photoInMemory("drawing") == nil)
        }

        @Test("Prefetched photos are in memory")
        func prefetch() async throws {
            await feed.prefetch(["a.png", "b.png"])
            #expect(feed.photoInMemory("a.png")?.size.width == 8)
            #expect(try await feed.response("b.png").cacheType == .memory)
            #expect(origin.count("/a.png") == 1 && origin.count("/b.png") == 1)
        }

        @Test("The model of a view loads, fails, and resets")
        func model() async throws {
            let model = PhotoModel(pipeline: feed.pipeline)
            #expect(await model.load(feed.url("photo.png"))?.size == CGSize(width: 20, height: 10))
            #expect(await model.load(feed.url("missing.png")) == nil)
            #expect(await model.load(nil) == nil)
            #expect(model.states == ["start", "success", "start", "failure", "failure"] && !model.isLoading)
            model.reset()
            #expect(model.isEmpty)
        }
    }
}
