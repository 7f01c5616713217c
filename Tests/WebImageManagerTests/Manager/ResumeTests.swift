// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Downloads that resume after a restart", .timeLimit(.minutes(5)))
struct ResumeTests {
    @Test("After a restart, a download requests only the missing bytes, and the image is complete")
    func afterRestart() async throws {
        let server = try losingServer()
        let lost = try ManagerFixture { $0.downloader.retry = .never }
        let url = server.url("/a")
        await #expect(throws: ImageError.self) { try await lost.manager.image(for: url) }
        await untilTrue { parts(lost).count == 1 }
        let fixture = try await lost.restarted { $0.downloader.retry = .never }
        let response = try await fixture.manager.response(for: ImageRequest(url: url))
        #expect(response.image.size == PixelSize(width: 500, height: 500))
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=500000-"])
        #expect(server.requests.last?.headers["If-Range"] == "\"one\"")
        #expect(response.metrics?.resumedByteCount == 500_000)
    }

    @Test("If the disk cache is encrypted, resume data isn't written to disk, and downloads resume from memory")
    func encrypted() async throws {
        let server = try losingServer()
        let fixture = try ManagerFixture {
            $0.downloader.retry = .never
            $0.diskCache?.encryptionKey = DiskCache.EncryptionKey()
        }
        let url = server.url("/a")
        await #expect(throws: ImageError.self) { try await fixture.manager.image(for: url) }
        #expect(try await fixture.manager.image(for: url).size == PixelSize(width: 500, height: 500))
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=500000-"])
        await fixture.manager.shutdown()
        let cache = fixture.directory.file("cache")
        #expect(try FileManager.default.contentsOfDirectory(atPath: cache).allSatisfy { $0.hasPrefix("key-") })
    }

    @Test("Removing all entries or one URL removes the resume data in memory and on disk", arguments: [true, false])
    func forgetting(all: Bool) async throws {
        let server = try losingServer()
        let fixture = try ManagerFixture {
            $0.downloader.retry = .never
            $0.downloader.resume?.diskThreshold = 600_000
        }
        let other = server.url("/other")
        // The resume data of a redirected download is removed with the requested URL.
        let urls = [server.url("/a"), server.url("/redirect"), server.url("/large"), other]
        for url in urls { await #expect(throws: ImageError.self) { try await fixture.manager.image(for: url) } }
        await untilTrue { parts(fixture).count == 1 }
        if all {
            await fixture.manager.removeAllCachedImages()
            #expect(parts(fixture).isEmpty)
        } else {
            for url in urls.dropLast() { await fixture.manager.removeCachedImage(for: ImageRequest(url: url)) }
            await untilTrue { parts(fixture).isEmpty }
        }
        for url in urls { _ = try? await fixture.manager.image(for: url) }
        let asked = server.requests.filter { $0.path != "/redirect" }.suffix(4).map { $0.headers["Range"] }
        #expect(asked == [nil, nil, nil, all ? nil : "bytes=500000-"])
    }

    @Test("When `shutdown()` returns, the received parts of all running downloads are stored in complete files")
    func shutdown() async throws {
        let picture = try noise(dimension: 500)
        let server = try LoopbackServer { _ in
            LoopbackServer.Response.ok(picture, contentType: "image/png").with {
                $0.headers["ETag"] = "\"one\""
                $0.stallsBodyAfter = 400_000
            }
        }
        for _ in 0..<3 {
            let fixture = try ManagerFixture {
                $0.downloader.progressInterval = .zero
                $0.downloader.maxConnectionsPerHost = 8
            }
            let tasks = (0..<8).map { fixture.manager.load(server.url("/\($0)")) }
            for task in tasks { await untilTrue { task.currentProgress?.receivedByteCount == 400_000 } }
            await fixture.manager.shutdown()
            let names = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.file("cache/partial"))
            #expect(names.count == 8 && names.allSatisfy { $0.hasSuffix(".part") })
        }
    }

    /// Returns a server that closes the connection in the middle of each full body and serves range requests
    /// completely.
    private func losingServer() throws -> LoopbackServer {
        let picture = try noise(dimension: 500)
        return try LoopbackServer { request in
            if request.path == "/redirect" { return .redirect(to: "/target") }
            var response = LoopbackServer.Response.ok(picture, contentType: "image/png")
            response.headers["ETag"] = "\"one\""
            guard let range = request.headers["Range"], let start = Int(range.filter(\.isNumber)) else {
                return response.with { $0.truncatesBodyAfter = request.path == "/large" ? 700_000 : 500_000 }
            }
            response.statusCode = 206
            response.body = picture.dropFirst(start)
            response.headers["Content-Range"] = "bytes \(start)-\(picture.count - 1)/\(picture.count)"
            return response
        }
    }

    /// Returns the names of the resume data files. They're written in the background.
    private func parts(_ fixture: ManagerFixture) -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: fixture.directory.file("cache/partial"))
        return names?.filter { $0.hasSuffix(".part") } ?? []
    }

    /// Returns a PNG that compression doesn't make smaller.
    private func noise(dimension: Int) throws -> Data {
        var random = SeededGenerator(seed: 5)
        let canvas = try PixelCanvas(size: PixelSize(width: dimension, height: dimension))
        canvas.withUnsafeMutableBytes { bytes in
            for index in bytes.indices {
                bytes[index] = index % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: random.next())
            }
        }
        let image = DecodedImage(pixels: canvas.finish(isOpaque: true))
        let data = try ImageCoderRegistry.standard.encode(image, as: .png, context: ImageProcessingContext())
        return data
    }
}
