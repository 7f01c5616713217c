// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("A download that was lost goes on after a restart", .timeLimit(.minutes(1)))
struct ResumeTests {
    @Test("what came before is not asked for again, and the picture is whole")
    func afterRestart() async throws {
        let server = try losingServer()
        let lost = try ManagerFixture { $0.downloader.retry = .never }
        let url = server.url("/a")
        await #expect(throws: ImageError.self) { try await lost.manager.image(from: url) }
        await untilTrue { parts(lost).count == 1 }
        let fixture = try await lost.restarted { $0.downloader.retry = .never }
        let response = try await fixture.manager.response(for: ImageRequest(url))
        #expect(response.image.size == PixelSize(width: 500, height: 500))
        #expect(server.requests.map { $0.fields["Range"] } == [nil, "bytes=500000-"])
        #expect(server.requests.last?.fields["If-Range"] == "\"one\"")
        #expect(response.metrics?.resumedBytes == 500_000)
    }

    @Test("removing all that is stored, or one URL, forgets its parts in memory and on disk", arguments: [true, false])
    func forgetting(all: Bool) async throws {
        let server = try losingServer()
        let fixture = try ManagerFixture {
            $0.downloader.retry = .never
            $0.downloader.resume?.diskThreshold = 600_000
        }
        let other = server.url("/other")
        // What was lost under a redirect is forgotten by the URL that was asked for.
        let urls = [server.url("/a"), server.url("/redirect"), server.url("/large"), other]
        for url in urls { await #expect(throws: ImageError.self) { try await fixture.manager.image(from: url) } }
        await untilTrue { parts(fixture).count == 1 }
        if all {
            await fixture.manager.removeAllCached()
            #expect(parts(fixture).isEmpty)
        } else {
            for url in urls.dropLast() { await fixture.manager.removeCached(ImageRequest(url)) }
            await untilTrue { parts(fixture).isEmpty }
        }
        for url in urls { _ = try? await fixture.manager.image(from: url) }
        let asked = server.requests.filter { $0.path != "/redirect" }.suffix(4).map { $0.fields["Range"] }
        #expect(asked == [nil, nil, nil, all ? nil : "bytes=500000-"])
    }

    /// Loses the connection in the middle of each whole body, and gives the rest when it is asked for.
    private func losingServer() throws -> LoopbackServer {
        let picture = try noise(side: 500)
        return try LoopbackServer { request in
            if request.path == "/redirect" { return .redirect(to: "/target") }
            var response = ServerResponse.ok(picture, type: "image/png")
            response.fields["ETag"] = "\"one\""
            guard let range = request.fields["Range"], let start = Int(range.filter(\.isNumber)) else {
                return response.with { $0.bodyCut = request.path == "/large" ? 700_000 : 500_000 }
            }
            response.status = 206
            response.body = picture.dropFirst(start)
            response.fields["Content-Range"] = "bytes \(start)-\(picture.count - 1)/\(picture.count)"
            return response
        }
    }

    /// Files of parts; they are written behind the answer.
    private func parts(_ fixture: ManagerFixture) -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: fixture.folder.file("cache/partial"))
        return names?.filter { $0.hasSuffix(".part") } ?? []
    }

    /// A PNG that does not get smaller by compression.
    private func noise(side: Int) throws -> Data {
        var random = SeededGenerator(seed: 5)
        let canvas = try PixelCanvas(size: PixelSize(width: side, height: side))
        canvas.withUnsafeMutableBytes { bytes in
            for index in bytes.indices {
                bytes[index] = index % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: random.next())
            }
        }
        let image = Image(pixels: canvas.finish(isOpaque: true))
        let data = try CoderRegistry.standard.encode(image, as: .png(), context: CodingContext())
        return data
    }
}
