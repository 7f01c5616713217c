// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Time source", .timeLimit(.minutes(5)))
struct TimeSourceTests {
    @Test("One time source controls retries, the memory cache, freshness, and the disk cache of a manager")
    func servesAll() async throws {
        let resource = ServerResource(body: try TestImages.png(1), type: "image/png", cacheControl: "max-age=60")
        let asked = Shared(0)
        let server = try LoopbackServer { request in
            let count = asked.update { count in
                count += 1
                return count
            }
            return count == 1 ? .status(503) : resource.response(to: request)
        }
        let clock = TestClock()
        let fixture = try ManagerFixture { configuration in
            configuration.time = TimeSource(clock)
            configuration.memoryCache.timeToLive = .seconds(30)
            configuration.diskCache?.maxAge = .seconds(1_000)
        }
        let request = ImageRequest(url: server.url("/a"))
        // The second attempt waits for the clock.
        let task = fixture.manager.load(request)
        await clock.waitForSleepers(count: 1)
        #expect(asked.value == 1)
        clock.advance(by: .seconds(10))
        _ = try await task.response
        await task.waitUntilStored()
        #expect(asked.value == 2)
        // Memory cache.
        #expect(fixture.manager.cachedImage(for: request) != nil)
        clock.advance(by: .seconds(31))
        #expect(fixture.manager.cachedImage(for: request) == nil)
        // Freshness: The entry on disk is fresh first and then stale.
        await fixture.manager.letsGo(of: request)
        #expect(try await fixture.manager.response(for: request).source == .diskCache)
        #expect(asked.value == 2)
        clock.advance(by: .seconds(31))
        _ = try await fixture.manager.response(for: request)
        #expect(asked.value == 3)
        #expect(fixture.manager.configuration.diskCache?.clock.now() == fixture.manager.configuration.now())
    }

    @Test("A time source sleeps only for a positive number of seconds")
    func sleeps() async {
        let clock = TestClock()
        let time = TimeSource(clock)
        for seconds in [0, -1, -Double.infinity, .nan] { await time.sleep(seconds: seconds) }
        let long = Task { await time.sleep(seconds: Double.infinity) }
        await clock.waitForSleepers(count: 1)
        long.cancel()
        await long.value
        let short = Task { await time.sleep(seconds: 2) }
        await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(2))
        await short.value
        #expect(time.uptime() == 2)
    }
}
