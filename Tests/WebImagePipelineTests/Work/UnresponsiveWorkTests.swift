// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Decoders that don't respond", .timeLimit(.minutes(5)))
struct UnresponsiveWorkTests {
    /// A PNG coder that waits for a gate if the image has a certain width, and ignores cancellation and limits.
    private final class StuckCoder: ImageCoder {
        static let width = 13
        let gate = TestGate()
        let begun = Shared(0)
        var identifier: String { "stuck" }

        func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .png }

        func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
            throws(ImageError) -> DecodedImage
        {
            if info?.size.width == Self.width {
                begun.update { $0 += 1 }
                gate.blockingWait()
            }
            return try PNGCoder().decode(data, info: info, options: options, context: context)
        }
    }

    private let clock = TestClock()
    private let coder = StuckCoder()

    private func fixture() throws -> ManagerFixture {
        try ManagerFixture { [clock, coder] configuration in
            configuration.time = TimeSource(clock)
            configuration.workerThreadCount = 1
            configuration.coders.register(coder)
            configuration.limits.maxDecodingTime = .seconds(1)
        }
    }

    private func hostile(_ number: Int) throws -> Data {
        try TestImages.png(number, width: StuckCoder.width, height: 8)
    }

    /// Returns the error of a request. The clock advances as soon as the coder waits for its gate.
    private func failure(_ manager: ImageManager, _ url: URL) async -> ImageError.LimitFailure? {
        let begun = coder.begun.value
        return await failure(manager.load(ImageRequest(url: url))) { [coder] in coder.begun.value > begun }
    }

    /// Returns the error of a request. The clock advances as soon as `isStuck` returns `true`, because the steps before
    /// that may need any time.
    private func failure(_ task: ImageTask, isStuck: () -> Bool) async -> ImageError.LimitFailure? {
        await untilTrue { task.result != nil || isStuck() }
        while task.result == nil {
            // Advance only while the watchdog sleeps, so that each second is one check.
            await untilTrue { task.result != nil || clock.sleeperCount > 0 }
            if task.result == nil { clock.advance(by: .seconds(1)) }
        }
        guard case .failure(.limitExceeded(let failure))? = task.result else { return nil }
        return failure
    }

    @Test("A decode that never ends fails its request with the timeout, and the next image is decoded")
    func replaced() async throws {
        let (bad, good) = (try hostile(1), try TestImages.png(2))
        let server = try LoopbackServer(routes: ["/bad": .ok(bad), "/good": .ok(good)])
        let manager = try fixture().manager
        let failure = await failure(manager, server.url("/bad"))
        #expect(failure?.kind == .decodingTime && failure?.limit == 1_000 && (failure?.actual ?? 0) >= 3_000)
        #expect(manager.statistics.unresponsiveThreads == 1)
        _ = try await manager.image(for: server.url("/good"))
        coder.gate.open()
        await untilTrue { manager.statistics.unresponsiveThreads == 0 }
    }

    @Test("The same data of another URL or of the next request takes no other thread")
    func remembered() async throws {
        let bad = try hostile(1)
        let server = try LoopbackServer(routes: ["/bad": .ok(bad), "/other": .ok(bad)])
        let manager = try fixture().manager
        for path in ["/bad", "/bad", "/other"] {
            #expect(await failure(manager, server.url(path))?.kind == .decodingTime)
        }
        #expect(coder.begun.value == 1 && manager.statistics.unresponsiveThreads == 1)
        coder.gate.open()
        await untilTrue { manager.statistics.unresponsiveThreads == 0 }
        // The data is still remembered until the application removes it.
        #expect(await failure(manager, server.url("/bad"))?.kind == .decodingTime)
        manager.removeRememberedFailures()
        _ = try await manager.image(for: server.url("/bad"))
    }

    @Test("After two lost threads, the format is rejected with a typed error until the threads return")
    func rejected() async throws {
        let bodies = try (0..<3).map { try hostile($0) }
        let good = try TestImages.png(9)
        let bitmap = try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: TestImages.pixels(1)), as: .jpeg, context: ImageProcessingContext())
        let server = try LoopbackServer { request in
            switch request.target {
            case "/good": .ok(good)
            case "/jpeg": .ok(bitmap)
            default: .ok(bodies[Int(request.target.dropFirst()) ?? 0])
            }
        }
        let manager = try fixture().manager
        for number in 0..<2 { #expect(await failure(manager, server.url("/\(number)"))?.kind == .decodingTime) }
        let refused = await failure(manager, server.url("/2"))
        #expect(refused?.kind == .unresponsiveThreadCount && refused?.limit == 2 && refused?.actual == 2)
        #expect(await failure(manager, server.url("/good"))?.kind == .unresponsiveThreadCount)
        #expect(coder.begun.value == 2)
        _ = try await manager.image(for: server.url("/jpeg"))
        coder.gate.open()
        await untilTrue { manager.statistics.unresponsiveThreads == 0 }
        _ = try await manager.image(for: server.url("/good"))
    }

    @Test("A transformer that never ends fails its request, and its image without the transformer is delivered")
    func transformer() async throws {
        let (gate, begun) = (TestGate(), Shared(false))
        let body = try TestImages.png(3)
        let server = try LoopbackServer(routes: ["/a": .ok(body)])
        let manager = try fixture().manager
        var request = ImageRequest(url: server.url("/a"))
        request.transformers = [
            .custom(id: "stuck") { pixels, _ in
                begun.update { $0 = true }
                gate.blockingWait()
                return pixels
            }
        ]
        let failure = await failure(manager.load(request)) { begun.value }
        #expect(failure?.kind == .decodingTime)
        _ = try await manager.image(for: server.url("/a"))
        gate.open()
    }
}
