// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Back-pressure", .timeLimit(.minutes(5)))
struct AdmissionTests {
    private let gate = TestGate()
    private let loader: StubLoader

    init() throws {
        let picture = try TestImages.png(1)
        loader = StubLoader { [gate] _ in StubLoader.Response(body: picture, responseGate: gate) }
    }

    private func fixture(limit: Int?) throws -> ManagerFixture {
        try ManagerFixture { [loader] configuration in
            configuration.loaders = [loader]
            configuration.maxInFlightRequests = limit
        }
    }

    private func request(_ number: Int) throws -> ImageRequest {
        ImageRequest(url: try #require(URL(string: "https://example.org/\(number).png")))
    }

    @Test("Of 10,000 concurrent data requests, only `queueLimit` requests start, and the others fail immediately")
    func flood() async throws {
        let fixture = try fixture(limit: 8)
        let manager = fixture.manager
        let requests = try (0..<10_000).map { try request($0) }
        let codes = await withTaskGroup(of: Int?.self) { group in
            for request in requests {
                group.addTask {
                    do throws(ImageError) {
                        _ = try await manager.data(for: request)
                        return nil
                    } catch {
                        return error.code
                    }
                }
            }
            var refused: [Int] = []
            // All rejected requests end before the gate of the admitted requests opens.
            while refused.count < 10_000 - 8, let code = await group.next() { refused.append(code ?? 0) }
            await loader.waitForRequests(count: 8)
            #expect(manager.runningJobs <= 16)
            #expect(manager.pipeline.admissions.count == 8)
            gate.open()
            for await code in group { #expect(code == nil) }
            return refused
        }
        #expect(codes.allSatisfy { $0 == 6010 })
        #expect(loader.requests.count == 8)
        await untilTrue { manager.runningJobs == 0 && manager.pipeline.admissions.count == 0 }
        #expect(try await manager.data(for: request(0)).isEmpty == false)
    }

    @Test("A request that joins running work is admitted when the queue is full, and an encoding isn't")
    func joins() async throws {
        let manager = try fixture(limit: 1).manager
        let first = manager.load(try request(1))
        await loader.waitForRequests(count: 1)
        let second = manager.load(try request(1))
        let overloaded = ImageError.limitExceeded(ImageError.LimitFailure(.overloaded, limit: 1, actual: 2))
        let refused = manager.load(try request(2))
        #expect(throws: overloaded) { try refused.result?.get() }
        await #expect(throws: overloaded) { try await manager.encodedImage(for: request(1), as: .jpeg).data }
        await #expect(throws: overloaded) { try await manager.image(for: request(2)) }
        gate.open()
        _ = try await (first.response, second.response)
        await untilTrue { manager.pipeline.admissions.count == 0 }
        // The encoding requests its image internally, which needs no second slot.
        #expect(try await manager.encodedImage(for: request(3), as: .jpeg).data.isEmpty == false)
        #expect(manager.statistics.limitFailures == 3)
    }

    @Test("A canceled request releases its slot, and a memory hit needs no slot")
    func leaves() async throws {
        let manager = try fixture(limit: 1).manager
        let held = manager.load(try request(1))
        await loader.waitForRequests(count: 1)
        held.cancel()
        await untilTrue { manager.pipeline.admissions.count == 0 }
        gate.open()
        _ = try await manager.image(for: request(2))
        await untilTrue { manager.pipeline.admissions.count == 0 }
        var none = try request(2)
        none.maxInFlightRequests = 0
        none.cachePolicy = .cacheFirst
        #expect(try await manager.image(for: none).size.width == 64)
        none.url = try request(3).url
        await #expect(throws: ImageError.limitExceeded(ImageError.LimitFailure(.overloaded, limit: 0, actual: 1))) {
            try await manager.image(for: none)
        }
    }

    @Test(
        "The configuration for servers has a queue limit, and the default has none, regardless of the limits of images")
    func defaults() {
        var configuration = ImageManager.Configuration()
        #expect(configuration.maxInFlightRequests == nil)
        configuration.limits = .server
        #expect(configuration.maxInFlightRequests == nil && !configuration.decoding.isolatesAllFormats)
        configuration = .server
        configuration.limits = .desktop
        #expect(configuration.maxInFlightRequests == 256 && configuration.decoding.isolatesAllFormats)
    }
}
