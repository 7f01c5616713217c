// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A reader of a task's events.
package final class EventLog: Sendable {
    private struct State {
        var previews: [DecodedImage] = []
        var received = 0
        var isFinished = false
    }

    private let state = Lock(State())

    package init(_ task: ImageTask) {
        let events = task.events
        Task { for await event in events { record(event) } }
    }

    package var previews: [DecodedImage] { state.withLock { $0.previews } }
    /// The number of body bytes that were reported.
    package var received: Int { state.withLock { $0.received } }
    package var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Waits for the end and returns all previews.
    package func allPreviews() async -> [DecodedImage] {
        await untilTrue { self.isFinished }
        return previews
    }

    private func record(_ event: ImageTask.Event) {
        state.withLock { state in
            switch event {
            case .preview(let image): state.previews.append(image)
            case .progress(let progress): state.received = progress.receivedByteCount
            case .finished: state.isFinished = true
            default: break
            }
        }
    }
}

/// An image on a server that sends its data in quarters, each after a gate opens.
package struct SlowImage {
    package let data: Data
    package let server: LoopbackServer
    package let gates: [TestGate]

    package init(_ data: Data, framing: LoopbackServer.Response.Framing = .contentLength) throws {
        self.data = data
        let gates = (0..<4).map { _ in TestGate() }
        self.gates = gates
        let response = LoopbackServer.Response.ok(data, contentType: "image/png").with {
            $0.chunkSize = (data.count + 3) / 4
            $0.chunkGates = gates
            $0.framing = framing
        }
        server = try LoopbackServer(routes: ["/a": response])
    }

    package var url: URL { server.url("/a") }

    /// Returns the number of bytes that the server sends after the first `count` gates open.
    package func size(_ count: Int) -> Int { min(data.count, count * ((data.count + 3) / 4)) }

    package func request(_ preview: PreviewPolicy, size: TargetSize? = nil) -> ImageRequest {
        var request = ImageRequest(url: url, size: size)
        request.previews = preview
        return request
    }

    /// Returns the preview of the first `count` quarters.
    package func preview(_ count: Int, size: TargetSize? = nil) throws -> ImagePreview? {
        let prefix = data.prefix(self.size(count))
        let start = try ImageCoderRegistry.standard.progressiveStart(
            prefix, options: ImageDecodingOptions(size: size), context: ImageProcessingContext())
        guard case .decoder(let decoder, _) = start else { return nil }
        try decoder.append(prefix, isLast: false, context: ImageProcessingContext())
        return try decoder.makePreview(context: ImageProcessingContext())
    }
}

extension TestImages {
    /// Returns a JPEG image with many details.
    package static func jpeg(progressive: Bool, width: Int = 160, height: Int = 120) throws -> Data {
        var random = SeededGenerator(seed: 3)
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
        let stride = canvas.bytesPerRow
        canvas.withUnsafeMutableBytes { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    let at = y * stride + x * 4
                    bytes[at] = UInt8(truncatingIfNeeded: x * 255 / width)
                    bytes[at + 1] = UInt8(truncatingIfNeeded: y * 191 / height + Int(random.next() % 64))
                    bytes[at + 2] = UInt8(truncatingIfNeeded: random.next() % 64)
                    bytes[at + 3] = 255
                }
            }
        }
        return try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: canvas.finish(isOpaque: true)), as: .jpeg(quality: 85, isProgressive: progressive),
            context: ImageProcessingContext())
    }
}
