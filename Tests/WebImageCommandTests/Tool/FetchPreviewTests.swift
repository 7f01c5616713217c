// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport
import WebImageTesting

@Suite("The webimage fetch command: Previews", .timeLimit(.minutes(5)))
struct FetchPreviewTests {
    /// Returns a server that sends a JPEG in four chunks. If `gates` isn't empty, each chunk waits for its gate.
    private func server(progressive: Bool, gates: [TestGate]) throws -> LoopbackServer {
        let data = try ImageCoderRegistry.standard.encode(
            SampleImages.image(width: 900, height: 600), as: .jpeg(quality: 95, isProgressive: progressive),
            context: ImageProcessingContext())
        let response = LoopbackServer.Response.ok(data, contentType: "image/jpeg").with {
            $0.chunkSize = (data.count + 3) / 4
            $0.chunkGates = gates
        }
        return try LoopbackServer(routes: ["/a/photo.jpg": response])
    }

    @Test(
        "Previews are written with numbers and reported with the number of received bytes",
        arguments: [("progressive", false), ("progressive", true), ("blurred", true)])
    func written(_ style: String, progressive: Bool) async throws {
        let tool = try ToolProcess()
        let gates = (0..<4).map { _ in TestGate() }
        let server = try server(progressive: progressive, gates: gates)
        defer { server.stop() }
        let running = try tool.start([
            "fetch", server.url("/a/photo.jpg").absoluteString, "--previews", style, "--preview-dir", "seen", "--json",
            "--size", "300x200",
        ])
        gates.prefix(3).forEach { $0.open() }
        await untilTrue { (try? tool.read("seen/photo-1.png")) != nil }
        gates[3].open()
        let result = try await running.result
        #expect(result.status == 0, "\(result.error)")
        let object = try #require(try result.objects.first)
        let previews = try #require(object["previews"] as? [[String: Any]])
        #expect(!previews.isEmpty)
        for (index, preview) in previews.enumerated() {
            let name = "seen/photo-\(index + 1).png"
            #expect(preview["output"] as? String == name)
            #expect(preview["width"] as? Int == 300 && preview["height"] as? Int == 200)
            #expect(preview["byteCount"] as? Int ?? 0 > 0)
            #expect(try ImageInfo(data: tool.read(name)).size == PixelSize(width: 300, height: 200))
        }
    }

    @Test("An image without early data has no previews, and the summary counts them")
    func none() async throws {
        let tool = try ToolProcess()
        let server = try server(progressive: false, gates: [])
        defer { server.stop() }
        let url = server.url("/a/photo.jpg").absoluteString
        let result = try await tool.run("fetch", url, "--previews", "blurred")
        #expect(result.status == 0)
        #expect(result.out.contains("0 previews"))
        let plain = try await tool.run("fetch", url, "--cache-policy", "reload", "--json")
        #expect(try plain.objects.first?["previews"] == nil)
    }

    @Test("A directory for previews requires the previews option, and the style must be valid")
    func usage() async throws {
        let tool = try ToolProcess()
        #expect(try await tool.run("fetch", "x.png", "--preview-dir", "seen").status == 64)
        #expect(try await tool.run("fetch", "x.png", "--previews", "sharp").status == 64)
    }
}
