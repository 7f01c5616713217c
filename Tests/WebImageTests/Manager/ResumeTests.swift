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
        let picture = try noise(side: 500)
        let server = try LoopbackServer { request in
            var response = ServerResponse.ok(picture, type: "image/png")
            response.fields["ETag"] = "\"one\""
            guard let range = request.fields["Range"], let start = Int(range.filter(\.isNumber)) else {
                return response.with { $0.bodyCut = 500_000 }
            }
            response.status = 206
            response.body = picture.dropFirst(start)
            response.fields["Content-Range"] = "bytes \(start)-\(picture.count - 1)/\(picture.count)"
            return response
        }
        var fixture = try ManagerFixture { $0.downloader.retry = .never }
        let url = server.url("/a")
        await #expect(throws: ImageError.self) { try await fixture.manager.image(from: url) }
        // The part is written behind the answer.
        let parts = fixture.folder.file("cache/partial")
        await untilTrue {
            (try? FileManager.default.contentsOfDirectory(atPath: parts))?.contains { $0.hasSuffix(".part") } == true
        }
        fixture = try await fixture.restarted { $0.downloader.retry = .never }
        let response = try await fixture.manager.response(for: ImageRequest(url))
        #expect(response.image.size == PixelSize(width: 500, height: 500))
        #expect(server.requests.map { $0.fields["Range"] } == [nil, "bytes=500000-"])
        #expect(server.requests.last?.fields["If-Range"] == "\"one\"")
        #expect(response.metrics?.resumedBytes == 500_000)
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
