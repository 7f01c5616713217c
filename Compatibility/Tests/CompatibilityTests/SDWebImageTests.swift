// SPDX-License-Identifier: MIT

import SDWebImageCompat
import Testing
import WebImage
import WebImageTesting

@testable import SDWebImageProgram

extension ProgramTests {
    @Suite("A program for SDWebImage")
    @MainActor
    struct SDWebImageTests {
        let origin: Origin
        let album: PhotoAlbum

        init() throws {
            origin = try Origin()
            album = PhotoAlbum(baseURL: origin.baseURL, cacheDirectory: origin.directory.path(percentEncoded: false))
        }

        @Test("Photos come from the server, from memory, and from disk")
        func tiers() async throws {
            let first = try await album.photo(at: album.url("photo.png"))
            #expect(first.cacheType == .none && first.image.size == CGSize(width: 40, height: 20))
            #expect(first.image.pixel(3, 3) == Origin.red && first.image.pixel(36, 3) == Origin.blue)
            #expect(first.data.map { NSData.sd_imageFormat(forImageData: $0) } == .PNG)
            let second = try await album.photo(at: album.url("photo.png"))
            #expect(second.cacheType == .memory && second.image == first.image && second.data == nil)
            let withData = try await album.photo(at: album.url("photo.png"), options: .queryMemoryData)
            #expect(withData.cacheType != .none && withData.data == first.data)
            #expect(album.photoInMemory("photo.png") == first.image)
            album.clearMemory()
            #expect(album.photoInMemory("photo.png") == nil)
            #expect(await album.cachedType(of: "photo.png") == .disk)
            #expect(try await album.photo(at: album.url("photo.png")).cacheType == .disk)
            #expect(origin.count("/photo.png") == 1)
            #expect(origin.server.requests.first?.headers["X-Client"] == "album")
        }

        @Test("The cache key filter removes the query")
        func keyFilter() async throws {
            _ = try await album.photo(
                at: album.url("photo.png").appending(queryItems: [.init(name: "token", value: "1")]))
            let other = album.url("photo.png").appending(queryItems: [.init(name: "token", value: "2")])
            #expect(try await album.photo(at: other).cacheType == .memory)
            #expect(album.photoOnDisk("photo.png")?.size == CGSize(width: 40, height: 20))
        }

        @Test("Thumbnails and transformers have their pixels")
        func transformers() async throws {
            let thumbnail = try await album.thumbnail(of: "photo.png", side: 20)
            #expect(thumbnail.size == CGSize(width: 20, height: 10))
            #expect(thumbnail.pixel(0, 0)?.alpha == 0 && thumbnail.sd_isTransformed)
            let negative = try await album.negative(of: "photo.png")
            #expect(negative.size == CGSize(width: 36, height: 16))
            #expect(negative.pixel(1, 1) == Origin.blue && negative.pixel(34, 1) == Origin.red)
            #expect(origin.count("/photo.png") == 1)
        }

        @Test("The progress ends with the size of the file")
        func progress() async throws {
            _ = try await album.photo(at: album.url("large.jpg"))
            let last = try #require(album.progress.last)
            #expect(last.received == last.expected && last.expected > 8_192)
        }

        @Test("A refreshed photo arrives twice if it changed")
        func refresh() async throws {
            _ = try await album.photo(at: album.url("changing.png"))
            let (stream, continuation) = AsyncStream<CGFloat>.makeStream()
            album.refresh("changing.png") { image, _ in continuation.yield(image?.size.width ?? 0) }
            var widths: [CGFloat] = []
            for await width in stream {
                widths.append(width)
                if widths.count == 2 { break }
            }
            #expect(widths == [8, 10])
        }

        @Test("A canceled load completes with the code 2002")
        func cancellation() async {
            let (origin, album) = (origin, album)
            let code = await album.cancelledLoad(of: "slow.png") { await origin.server.waitForRequests(count: 1) }
            #expect(code == 2002)
            #expect(!album.isLoading)
        }

        @Test("A missing photo and a missing URL complete with their codes")
        func failures() async throws {
            let error = await #expect(throws: SDWebImageError.self) {
                try await album.photo(at: album.url("missing.png"))
            }
            #expect(error?.code == .invalidDownloadStatusCode)
            #expect(error?.errorUserInfo[SDWebImageErrorDownloadStatusCodeKey] as? Int == 404)
            await #expect(throws: SDWebImageMissing.self) {
                try await album.photo(at: album.url("a.png"), options: .fromCacheOnly)
            }
            #expect(origin.count("/a.png") == 0)
        }

        @Test("Stored images are found under their names, and removed images aren't")
        func storage() async throws {
            let drawing = UIImage(decoded: try Origin.photo(width: 4, height: 4))
            let found = await album.saveDrawing(drawing, name: "drawing")
            #expect(found?.pixel(0, 0) == Origin.red && found?.pixel(3, 3) == Origin.blue)
            _ = try await album.photo(at: album.url("a.png"))
            await album.removePhoto("a.png")
            #expect(await album.cachedType(of: "a.png") == .none)
            let (count, _) = await album.clear()
            #expect(count == 0 && album.photoOnDisk("drawing") == nil)
        }

        @Test("Prefetched photos are cached, and failures are counted")
        func prefetch() async throws {
            let (finished, skipped) = await album.prefetch(["a.png", "b.png", "missing.png"])
            #expect(finished == 3 && skipped == 1)
            #expect(try await album.photo(at: album.url("a.png")).cacheType == .memory)
            #expect(origin.count("/a.png") == 1)
        }

        @Test("A downloader sends its header field and decrypts")
        func downloader() async throws {
            let image = try await album.secretPhoto("secret", token: "42")
            #expect(image.size == CGSize(width: 40, height: 20) && image.pixel(3, 3) == Origin.red)
            #expect(origin.server.requests.first?.headers["Authorization"] == "Bearer 42")
        }

        @Test("Animations, encoders, and the coder of the program work")
        func coders() async throws {
            let durations = album.frameDurations(of: try Origin.animation())
            #expect(durations == [0.1, 0.2, 0.3])
            let jpeg = try #require(album.jpeg(UIImage(decoded: try Origin.photo(width: 16, height: 16))))
            #expect(NSData.sd_imageFormat(forImageData: jpeg) == .JPEG)
            album.registerCoder()
            let gray = try await album.photo(at: album.url("gray.txt")).image
            #expect(gray.pixel(0, 0) == PixelColor(red: 120, green: 120, blue: 120))
        }
    }
}
