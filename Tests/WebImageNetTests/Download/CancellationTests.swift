// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

@Suite("Cancellation and priority", .timeLimit(.minutes(5)))
struct CancellationTests {
    let body = patternBytes(100_000)

    private func isCancelled(_ task: Task<LoadResponse, any Error>) async -> Bool {
        guard case .failure(let error) = await task.result else { return false }
        return (error as? ImageError) == .cancelled
    }

    @Test("A canceled load ends immediately and closes its connection")
    func phases() async throws {
        let server = try LoopbackServer(routes: [
            "/head": .silent, "/body": .ok(body).with { $0.stallsBodyAfter = 1_000 },
        ])
        let downloader = makeDownloader()
        let url = server.url("/head")
        let inHead = Task { try await downloader.load(url) }
        await server.waitForRequests(count: 1)
        inHead.cancel()
        #expect(await isCancelled(inHead))
        await server.waitForClosedConnections(count: 1)
        let log = ReportLog()
        let bodyURL = server.url("/body")
        let inBody = Task { try await downloader.load(LoadRequest(url: bodyURL), context: log.context()) }
        await log.waitForBody()
        inBody.cancel()
        #expect(await isCancelled(inBody))
        await server.waitForClosedConnections(count: 2)
    }

    @Test("A queued load that is canceled sends no request")
    func queued() async throws {
        let server = try LoopbackServer(routes: ["/a": .silent])
        let downloader = makeDownloader { $0.maxConnectionsPerHost = 1 }
        let url = server.url("/a")
        let running = Task { try await downloader.load(url) }
        await server.waitForRequests(count: 1)
        let waiting = Task { try await downloader.load(url) }
        waiting.cancel()
        #expect(await isCancelled(waiting))
        running.cancel()
        #expect(await isCancelled(running))
        await server.waitForClosedConnections(count: 1)
        #expect(server.counters.requests == 1)
    }

    @Test("Cancellation while connecting or resolving ends the load immediately")
    func connecting() async throws {
        let downloader = makeDownloader()
        // The network 192.0.2.0/24 is reserved for documentation. No host responds, or no route exists.
        for text in ["http://192.0.2.1/a", "http://slow.invalid/a"] {
            let url = try #require(URL(string: text))
            let gate = TestGate()
            let task = Task {
                try await downloader.load(
                    LoadRequest(url: url),
                    context: LoadContext { report in
                        if case .started = report { gate.open() }
                    })
            }
            await gate.wait()
            task.cancel()
            // If the machine has no route, the load may have failed before.
            guard case .failure(let error as ImageError) = await task.result else {
                Issue.record("\(text) was loaded")
                continue
            }
            #expect(error == .cancelled || error.network != nil)
        }
    }

    @Test("S-04: Canceling one of two equal loads doesn't affect the other")
    func oneOfTwo() async throws {
        let gate = TestGate()
        let server = try LoopbackServer(routes: ["/a": .ok(body).with { $0.bodyGate = gate }])
        let downloader = makeDownloader()
        let url = server.url("/a")
        let first = Task { try await downloader.load(url) }
        let second = Task { try await downloader.load(url) }
        await server.waitForRequests(count: 2)
        first.cancel()
        #expect(await isCancelled(first))
        await server.waitForClosedConnections(count: 1)
        gate.open()
        #expect(try await second.value.body == body)
    }

    @Test("With one connection, queued loads run by priority and then by arrival, and follow changes")
    func order() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { request in
            .ok(Data("x".utf8)).with { if request.path == "/first" { $0.headGate = gate } }
        }
        let downloader = makeDownloader { $0.maxConnectionsPerHost = 1 }
        var tasks = [Task { [url = server.url("/first")] in try await downloader.load(url) }]
        await server.waitForRequests(count: 1)
        let plan: [(String, RequestPriority)] = [
            ("low1", .low), ("normal1", .normal), ("low2", .low), ("high1", .high), ("normal2", .normal),
            ("veryLow", .veryLow), ("veryHigh", .veryHigh), ("raised", .veryLow),
        ]
        var contexts: [String: LoadContext] = [:]
        for (index, (name, priority)) in plan.enumerated() {
            let context = LoadContext(priority: priority)
            contexts[name] = context
            let url = server.url("/\(name)")
            tasks.append(Task { try await downloader.load(LoadRequest(url: url), context: context) })
            await untilTrue { downloader.activity(at: url).queued >= index + 1 && context.isFollowed }
        }
        contexts["raised"]?.priority = .veryHigh
        contexts["normal1"]?.priority = .veryLow
        gate.open()
        for task in tasks { _ = try await task.value }
        #expect(
            server.requests.map(\.path) == [
                "/first", "/veryHigh", "/raised", "/high1", "/normal2", "/low1", "/low2", "/veryLow", "/normal1",
            ])
    }

    @Test("Row 57, K-04: Ten thousand cancellations leak no task, descriptor, or connection slot")
    func storm() async throws {
        let body = patternBytes(2_000)
        let server = try LoopbackServer { request in
            request.index % 3 == 0 ? .silent : .ok(body).with { if request.index % 3 == 1 { $0.stallsBodyAfter = 100 } }
        }
        let url = server.url("/a")
        let downloader = makeDownloader { $0.maxConnectionsPerHost = 12 }
        for _ in 0..<10 {
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<1_000 {
                    group.addTask {
                        let task = Task { try await downloader.load(url) }
                        if index % 4 == 0 { await Task.yield() }
                        task.cancel()
                        _ = await task.result
                    }
                }
            }
        }
        let fine = try LoopbackServer(routes: ["/a": .ok(body)])
        #expect(try await downloader.load(fine.url("/a")).body == body)
        await untilTrue { downloader.activity == DownloaderActivity() }
        // Only idle connections may still be open. Closing the downloader ends them, but not a leaked connection.
        downloader.shutdown()
        // Some connections may not be accepted yet, so their number is unknown here.
        await untilTrue { server.counters.openConnections == 0 }
        #expect(server.counters.openConnections == 0)
    }
}
