// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageCommand
import WebImagePrograms
import WebImageTestSupport

@Suite("The album and its server", .timeLimit(.minutes(5)))
struct AlbumServerTests {
    private func manager() -> ImageManager {
        ImageManager {
            $0.diskCache = nil
            $0.downloader.maxStartsPerSecond = nil
        }
    }

    @Test("Each URL leads to its image, regardless of the number of copies")
    func copies() async throws {
        let album = try SampleAlbum()
        let server = try AlbumServer(album.album)
        defer { server.stop() }
        let contents = GalleryContents(album.album, on: server, count: 9)
        #expect(Set(contents.items.map(\.url)).count == 9)
        let manager = manager()
        for item in contents.items {
            let image = try await manager.image(for: item.url)
            #expect(image.size.width == SampleAlbum.widths[item.number % 4], "\(item.url)")
        }
        await manager.shutdown()
    }

    @Test(
        "The options --public-only and --proxy don't affect the album, only other servers",
        arguments: [["--public-only"], ["--proxy", "http://127.0.0.1:9"]])
    func exemption(options: [String]) async throws {
        let album = try SampleAlbum()
        let server = try AlbumServer(album.album)
        let other = try AlbumServer(album.album)
        defer {
            server.stop()
            other.stop()
        }
        let arguments = try Arguments(options, for: Commands.gallery)
        let setup = try NetworkSetup(try NetworkArguments(arguments), operands: [])
        let manager = ImageManager {
            $0.diskCache = nil
            setup.apply(to: &$0)
            $0.downloader.retry = .never
            $0.loaders.append(AlbumLoader(server, $0.downloader))
        }
        for (index, url) in server.urls.prefix(4).enumerated() {
            #expect(try await manager.image(for: url).size.width == SampleAlbum.widths[index])
        }
        let foreign = try #require(other.urls.first)
        await #expect(throws: ImageError.self) { try await manager.image(for: foreign) }
        #expect(other.traffic.requests == 0)
        await manager.shutdown()
    }

    @Test("Every image is fresh after its load, also behind a redirect")
    func freshness() async throws {
        let album = try SampleAlbum()
        let server = try AlbumServer(album.album)
        defer { server.stop() }
        let manager = manager()
        for url in server.urls.prefix(4) {
            _ = try await manager.load(url).response
            #expect(try await manager.load(url).response.source == .memoryCache, "\(url)")
        }
        await manager.shutdown()
    }

    @Test("The server fails as configured, and succeeds after the failures are disabled")
    func failures() async throws {
        let album = try SampleAlbum()
        let server = try AlbumServer(album.album)
        defer { server.stop() }
        let url = try #require(server.urls.first)
        let manager = manager()
        server.behavior = SimulatedNetwork(failures: 100)
        var request = ImageRequest(url: url)
        request.network.retry = .never
        await #expect(throws: ImageError.self) { try await manager.image(for: request) }
        server.behavior = SimulatedNetwork()
        request.caching.bypassesFailureCache = true
        #expect(try await manager.image(for: request).size.width == SampleAlbum.widths[0])
        await manager.shutdown()
    }

    @Test("The bundled BlurHashes match the images")
    func hashes() throws {
        let folder = URL(filePath: #filePath).appending(path: "../../../../Sources/webimage/Album").standardized
        let album = try Album.find(environment: ["WEBIMAGE_ALBUM": folder.path(percentEncoded: false)])
        for entry in album.entries where !entry.isCorrupt {
            let data = try #require(album.data(entry))
            var options = ImageDecodingOptions()
            options.size = .fit(width: 64, height: 64)
            options.frames = .first
            let pixels = try ImageCoderRegistry.standard.decode(
                data, options: options,
                context: ImageProcessingContext()
            ).pixels
            let ratio = try #require(entry.aspectRatio)
            #expect(abs(Double(pixels.width) / Double(pixels.height) - ratio) < 0.1, "\(entry.file)")
            let ours = try BlurHash(encoding: pixels).pixels(size: PixelSize(width: 8, height: 8)).packedBytes()
            let theirs = try BlurHash(try #require(entry.blurHash)).pixels(size: PixelSize(width: 8, height: 8))
                .packedBytes()
            let difference = zip(ours, theirs).map { abs(Int($0) - Int($1)) }.reduce(0, +) / ours.count
            #expect(difference < 16, "\(entry.file): \(difference)")
        }
    }
}
