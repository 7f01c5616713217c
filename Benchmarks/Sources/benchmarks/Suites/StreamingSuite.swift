// SPDX-License-Identifier: MIT

import Foundation
@_spi(Benchmarks) import WebImage
import WebImageTesting

/// A suite that measures the time from the last byte of a slow download to the image, with decoding during and after
/// the download.
enum StreamingSuite: Suite {
    static let name = "streaming"
    static let summary = "from the last byte of a slow download to the image, decoded during or after the download"

    private static let after = "decoding after the download"
    private static let pieces = 24

    static func cases(_ settings: Settings) throws -> [Case] {
        let large = TargetSize.fit(width: 256, height: 256)
        let photo = try Photograph.encoded(3_000, 2_000, as: .jpeg(quality: 85))
        let scans = try Photograph.encoded(3_000, 2_000, as: .jpeg(quality: 85, isProgressive: true))
        let png = try Photograph.encoded(1_600, 1_200, as: .png)
        let webp = try Photograph.encoded(2_000, 1_500, as: .webp(quality: 80))
        return [
            latency("JPEG of 6 MP", photo, nil, atMost: 0.2),
            latency("JPEG of 6 MP to 256 px", photo, large, atMost: 0.2),
            latency("JPEG of 6 MP in several scans", scans, nil, atMost: 0.2),
            latency("PNG of 1.9 MP", png, nil, atMost: 0.2),
            latency("WebP of 3 MP", webp, nil, atMost: 0.2),
        ]
    }

    private static func latency(_ name: String, _ data: Data, _ size: TargetSize?, atMost bound: Double) -> Case {
        func contender(_ name: String, whileLoading: Bool) -> Contender {
            Contender(name) { _ in [.wall: try await seconds(data, size, whileLoading: whileLoading)] }
        }
        return Case(
            name: name,
            contenders: [
                contender("decoding during the download", whileLoading: true), contender(after, whileLoading: false),
            ],
            goals: [.ratio(.wall, to: after, atMost: bound)])
    }

    /// Returns the time in seconds since the server sent the last part of the body.
    private static func seconds(_ data: Data, _ size: TargetSize?, whileLoading: Bool) async throws -> Double {
        let gates = (0..<pieces).map { _ in TestGate() }
        let piece = (data.count + pieces - 1) / pieces
        let server = try LoopbackServer { _ in
            var response = LoopbackServer.Response.ok(data, contentType: "image/any")
            response.chunkSize = piece
            response.chunkGates = gates
            return response
        }
        defer { server.stop() }
        let manager = ImageManager {
            $0.diskCache = nil
            $0.limits = Photograph.roomy
            $0.decodesWhileDownloading = whileLoading
        }
        let task = manager.load(ImageRequest(url: server.url("/a"), size: size))
        // Send the parts at 10 to 20 MB/s, so that each part can be decoded before the next one arrives.
        for gate in gates.dropLast() {
            gate.open()
            try await Task.sleep(for: .milliseconds(12))
        }
        let start = Clocks.wall()
        gates.last?.open()
        consume(try await task.image)
        let seconds = Clocks.wall() - start
        guard manager.statistics.decodesDuringDownload == (whileLoading ? 1 : 0) else {
            throw Skipped(reason: "the manager didn’t decode the download as requested")
        }
        await manager.shutdown()
        return seconds
    }
}
