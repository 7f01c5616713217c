// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

@Suite("Order and rate of starts", .timeLimit(.minutes(5)))
struct StartOrderTests {
    let body = Data("x".utf8)

    @Test("With LIFO order, the newest load of the highest priority starts first")
    func lifo() {
        var queue = TransferQueue(perOrigin: 9, perMultiplexedOrigin: 9, total: 9, order: .lifo)
        for id in 1...4 { queue.enqueue(UInt64(id), origin: "a", priority: id == 2 ? .high : .normal) }
        queue.setPriority(1, .normal)
        #expect(queue.canStart)
        let order = (0..<5).map { _ in queue.next() }
        #expect(order == [2, 4, 3, 1, nil] && !queue.canStart)
    }

    @Test("A load for a visible image overtakes a thousand prefetches")
    func overtaking() async throws {
        let gate = TestGate()
        let body = body
        let server = try LoopbackServer { request in
            .ok(body).with { if request.index == 0 { $0.headGate = gate } }
        }
        let downloader = makeDownloader { $0.maxConnectionsPerHost = 1 }
        let url = server.url("/prefetch")
        let visible = server.url("/visible")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0...1_000 {
                group.addTask {
                    _ = try? await downloader.load(LoadRequest(url: url), context: LoadContext(priority: .veryLow))
                }
            }
            await untilTrue { downloader.activity(at: url).queued == 1_000 }
            group.addTask {
                let context = LoadContext(priority: .veryHigh)
                _ = try? await downloader.load(LoadRequest(url: visible), context: context)
            }
            await untilTrue { downloader.activity(at: url).queued == 1_001 }
            gate.open()
        }
        #expect(server.counters.requests == 1_002 && server.requests[1].path == "/visible")
    }

    @Test("While the downloader is suspended, running loads continue and no load starts")
    func suspending() async throws {
        let gate = TestGate()
        let body = body
        let server = try LoopbackServer { request in .ok(body).with { if request.index == 0 { $0.headGate = gate } } }
        let downloader = makeDownloader()
        let url = server.url("/a")
        let running = Task { try await downloader.load(url) }
        await server.waitForRequests(count: 1)
        downloader.isSuspended = true
        let waiting = Task { try await downloader.load(url) }
        let cancelled = Task { await downloader.failure(url) }
        await untilTrue { downloader.activity(at: url).queued == 2 }
        gate.open()
        #expect(try await running.value.body == body)
        cancelled.cancel()
        #expect(await cancelled.value == .cancelled)
        #expect(server.counters.requests == 1)
        downloader.isSuspended = false
        #expect(try await waiting.value.body == body)
        #expect(server.counters.requests == 2)
    }

    @Test("With a start rate, all loads finish, and a timer starts the later ones")
    func rate() async throws {
        let body = body
        let server = try LoopbackServer { _ in .ok(body) }
        let downloader = makeDownloader {
            $0.maxStartsPerSecond = 200
            $0.startBurst = 2
        }
        let url = server.url("/a")
        let count = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<30 {
                group.addTask { (try? await downloader.load(url).body) == body ? 1 : 0 }
            }
            return await group.reduce(0, +)
        }
        #expect(count == 30)
    }
}
