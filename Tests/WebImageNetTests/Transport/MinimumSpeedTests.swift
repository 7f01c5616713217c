// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

@Suite("Minimum speed", .timeLimit(.minutes(5)))
struct MinimumSpeedTests {
    private let second: Int64 = 1_000_000_000

    private func makeMeter(_ bytes: Int = 1_000, seconds: Int = 10) -> TransferSpeedMeter? {
        TransferSpeedMeter(.init(bytesPerSecond: bytes, duration: .seconds(seconds)))
    }

    @Test("A body at the minimum speed continues, and a slower one ends after its first slow period")
    func periods() throws {
        var meter = try #require(makeMeter())
        let early = meter.isTooSlow(at: 100 * second, bytes: 0)
        #expect(!early && meter.deadline == nil)
        meter.start(at: 100 * second)
        #expect(meter.deadline == 110 * second)
        for (time, bytes, isSlow) in [(109, 0, false), (110, 10_000, false), (119, 10_000, false), (120, 19_999, true)]
            as [(Int64, Int, Bool)]
        {
            let result = meter.isTooSlow(at: time * second, bytes: bytes)
            #expect(result == isSlow, "\(time)")
        }
    }

    @Test("A late check compares with the time that elapsed")
    func late() throws {
        var meter = try #require(makeMeter())
        meter.start(at: 0)
        var same = meter
        let slow = meter.isTooSlow(at: 30 * second, bytes: 29_000)
        let fast = same.isTooSlow(at: 30 * second, bytes: 30_000)
        #expect(slow && !fast)
    }

    @Test("A pause doesn't count")
    func pause() throws {
        var meter = try #require(makeMeter())
        meter.start(at: 0)
        meter.pause(at: 5 * second)
        #expect(meter.deadline == nil)
        let paused = meter.isTooSlow(at: 500 * second, bytes: 0)
        #expect(!paused)
        meter.resume(at: 505 * second)
        #expect(meter.deadline == 510 * second)
        let slow = meter.isTooSlow(at: 510 * second, bytes: 9_999)
        #expect(slow)
    }

    @Test("A minimum of zero or for no time measures nothing")
    func nothing() {
        #expect(makeMeter(0) == nil && makeMeter(-1) == nil)
        #expect(makeMeter(seconds: 0) == nil && makeMeter(seconds: -1) == nil)
    }

    @Test("A server that sends single bytes times out although data arrives all the time")
    func slowServer() async throws {
        let slow = LoopbackServer.Response.ok(patternBytes(10_000)).with {
            $0.framing = .chunked
            $0.isEndless = true
            $0.bytesPerSecond = 1_000
        }
        let server = try LoopbackServer(routes: ["/a": slow])
        let downloader = makeDownloader {
            $0.minimumSpeed = .init(bytesPerSecond: 1 << 20, duration: .milliseconds(300))
        }
        let failure = await downloader.failure(server.url("/a"))?.network
        #expect(failure?.reason == .timedOut && failure?.phase == .receivingBody, "\(failure as Any)")
    }

    @Test("A fast body is complete with the same minimum, and so is the body of a slow response head")
    func fastServer() async throws {
        let gate = TestGate()
        let body = patternBytes(1 << 20)
        let server = try LoopbackServer(routes: [
            "/a": .ok(body), "/late": .ok(body).with { $0.headGate = gate },
        ])
        let downloader = makeDownloader {
            $0.minimumSpeed = .init(bytesPerSecond: 1, duration: .seconds(1))
        }
        let late = Task { try await downloader.load(server.url("/late")).body }
        #expect(try await downloader.load(server.url("/a")).body == body)
        gate.open()
        #expect(try await late.value == body)
    }
}
