// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Tasks that are finished when they're created", .timeLimit(.minutes(5)))
struct ImmediateResultTests {
    @Test("Only images from memory and rejected requests are immediate, and a load isn't, also after its end")
    func origins() async throws {
        let fixture = try ManagerFixture {
            $0.loaders = [StubLoader { _ in Numbered.response(1) }]
            $0.maxInFlightRequests = 0
        }
        let rejected = fixture.manager.load(.sample)
        guard case .failure(.limitExceeded)? = rejected.immediateResult else {
            Issue.record("\(String(describing: rejected.immediateResult))")
            return
        }
        var request = ImageRequest(url: .sample)
        request.maxInFlightRequests = 1
        let loaded = fixture.manager.load(request)
        _ = try await loaded.image
        #expect(loaded.result != nil && loaded.immediateResult == nil)
        let stored = fixture.manager.load(request)
        #expect(try stored.immediateResult?.get().source == .memoryCache)
    }

    @Test("An image that another load stores while a load starts serves the load without any work")
    func storedMeanwhile() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let manager = try ManagerFixture { $0.loaders = [loader] }.manager
        let request = ImageRequest(url: .sample)
        let image = try await manager.image(for: request)
        let memory = try #require(manager.cache.memory)
        let key = manager.pipeline.plan(request).keys.final
        memory.removeAll()
        let task = manager.start(request, showsPreliminary: true) { memory.store(image, for: key) }.task
        #expect(try task.immediateResult?.get().image === image)
        #expect(loader.requests.count == 1 && manager.runningJobs == 0)
    }
}
