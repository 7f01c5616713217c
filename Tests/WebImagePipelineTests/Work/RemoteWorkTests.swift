// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Work of other processes", .timeLimit(.minutes(5)))
struct RemoteWorkTests {
    /// A coder of QOI files that waits for a gate, like a coder whose work another process does.
    private struct WaitingCoder: ImageCoder, RemoteWorker {
        let work: RemoteWork
        let gate: TestGate
        let running = Shared(0)

        var identifier: String { "waiting" }
        var remoteWork: RemoteWork? { work }

        func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .qoi }

        func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
            throws(ImageError) -> DecodedImage
        {
            running.update { $0 += 1 }
            gate.blockingWait()
            return DecodedImage(pixels: try PixelCanvas(size: PixelSize(width: 1, height: 1)).finish(isOpaque: false))
        }
    }

    @Test(
        "An image that this process decodes doesn't wait for images that other processes decode",
        arguments: [RemoteWork.documents, .images])
    func waiting(work: RemoteWork) async throws {
        let coder = WaitingCoder(work: work, gate: TestGate())
        let fixture = try ManagerFixture { configuration in
            configuration.workerThreadCount = 2
            configuration.decoding.maxHelpers = 3
            configuration.coders.register(coder)
        }
        let tasks = try (1...12).map { width in
            let pixels = try PixelBuffer.filled(
                with: PixelColor(red: 0, green: 0, blue: 0), size: PixelSize(width: width, height: 1))
            return fixture.manager.load(
                ImageRequest(data: try DecodedImage(pixels: pixels).encoded(as: ImageEncoding(format: .qoi))))
        }
        let limit = work == .documents ? 2 : 3
        await untilTrue { coder.running.value == limit }
        for number in 1...4 {
            let image = try await fixture.manager.image(for: ImageRequest(data: try TestImages.png(number)))
            #expect(image.format == .png)
        }
        #expect(coder.running.value == limit)
        coder.gate.open()
        for task in tasks { _ = try await task.image }
        #expect(coder.running.value == 12)
    }
}
