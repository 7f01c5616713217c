// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

@Suite("Canceling the loads of a downloader", .timeLimit(.minutes(5)))
struct CancelAllTests {
    /// The state of a load when it's canceled.
    enum Phase: String, CaseIterable, Sendable {
        case queued, head, body, delay
    }

    /// The way in which a downloader runs a load.
    enum Style: String, CaseIterable, Sendable {
        case alone, shared, intercepted, sharedAndIntercepted

        var isShared: Bool { self == .shared || self == .sharedAndIntercepted }
        var isIntercepted: Bool { self == .intercepted || self == .sharedAndIntercepted }
    }

    /// The end of a load.
    struct Ending: Sendable {
        let error: ImageError?
        /// A Boolean value that indicates whether the Swift task of the caller was canceled.
        let isTaskCancelled: Bool
    }

    private func start(_ downloader: ImageDownloader, _ url: URL, _ context: LoadContext) -> Task<Ending, Never> {
        Task {
            do throws(ImageError) {
                _ = try await downloader.load(LoadRequest(url: url), context: context)
                return Ending(error: nil, isTaskCancelled: Task.isCancelled)
            } catch {
                return Ending(error: error, isTaskCancelled: Task.isCancelled)
            }
        }
    }

    @Test(
        "Every load ends with the error for canceled loads, and the Swift task of its caller isn't canceled",
        arguments: Phase.allCases, Style.allCases)
    func phases(phase: Phase, style: Style) async throws {
        let server = try LoopbackServer(routes: [
            "/queued": .silent, "/head": .silent, "/delay": .status(503), "/ok": .ok(patternBytes(10)),
            "/body": .ok(patternBytes(100_000)).with { $0.stallsBodyAfter = 1_000 },
        ])
        let clock = TestClock()
        let downloader = makeDownloader {
            $0.sharesTransfers = style.isShared
            $0.interceptors = style.isIntercepted ? [PassingInterceptor()] : []
            $0.retryClock = clock
            guard phase == .delay else { return }
            $0.retry = RetryPolicy(baseDelay: .seconds(1))
            $0.retry.random = { $0.upperBound }
        }
        downloader.isSuspended = phase == .queued
        let log = ReportLog()
        let url = server.url("/\(phase.rawValue)")
        let load = start(downloader, url, log.context())
        switch phase {
        case .queued: await untilTrue { downloader.queuedCount == 1 }
        case .head: await server.waitForRequests(count: 1)
        case .body: await log.waitForBody()
        case .delay: await clock.waitForSleepers(count: 1)
        }
        #expect(downloader.runningLoads.map(\.url) == [url])
        downloader.cancelAll()
        let ending = await load.value
        #expect(ending.error == .cancelled)
        #expect(!ending.isTaskCancelled)
        await untilTrue { downloader.runningCount + downloader.queuedCount == 0 }
        #expect(downloader.runningLoads.isEmpty)
        downloader.isSuspended = false
        #expect(await downloader.failure(server.url("/ok")) == nil)
    }

    @Test("All callers of a shared load end with the error for canceled loads")
    func callers() async throws {
        let server = try LoopbackServer(routes: ["/a": .silent])
        let downloader = makeDownloader { $0.sharesTransfers = true }
        let url = server.url("/a")
        let loads = (0..<3).map { _ in start(downloader, url, LoadContext()) }
        await server.waitForRequests(count: 1)
        let key = DownloadKey(
            exchange: ExchangeKey(LoadRequest(url: url), rules: ExchangeRules(downloader.configuration)), source: url)
        await untilTrue { downloader.jobs.subscriberCount(of: key) == 3 }
        #expect(downloader.runningLoads.count == 1)
        downloader.cancelAll()
        for load in loads { #expect(await load.value.error == .cancelled) }
        #expect(server.counters.requests == 1)
    }

    @Test("A closure selects the canceled loads by their URL, host, and priority")
    func selected() async throws {
        let server = try LoopbackServer(routes: ["/a": .silent, "/b": .silent, "/c": .silent])
        let downloader = makeDownloader()
        let urls = ["/a", "/b", "/c"].map { server.url($0) }
        let contexts = urls.map { _ in LoadContext(priority: .low) }
        var loads: [Task<Ending, Never>] = []
        for (index, url) in urls.enumerated() {
            loads.append(start(downloader, url, contexts[index]))
            await server.waitForRequests(count: index + 1)
        }
        contexts[1].priority = .high
        #expect(downloader.runningLoads.map(\.url) == urls)
        #expect(downloader.runningLoads.map(\.priority) == [.low, .high, .low])
        #expect(downloader.runningLoads.map(\.host) == urls.map { $0.host() })
        downloader.cancelAll { $0.host == "other.test" }
        #expect(downloader.runningLoads.count == 3)
        downloader.cancelAll { $0.priority == .high }
        #expect(await loads[1].value.error == .cancelled)
        #expect(downloader.runningLoads.map(\.url) == [urls[0], urls[2]])
        downloader.cancelAll { $0.url == urls[0] }
        #expect(await loads[0].value.error == .cancelled)
        #expect(downloader.runningLoads.map(\.url) == [urls[2]])
        downloader.cancelAll()
        #expect(await loads[2].value.error == .cancelled)
    }

    @Test("A load in an interceptor ends with the error for canceled loads")
    func interceptor() async throws {
        let begun = TestGate()
        let downloader = makeDownloader { $0.interceptors = [WaitingInterceptor(begun: begun)] }
        let url = try #require(URL(string: "http://images.test/a"))
        let load = start(downloader, url, LoadContext())
        await begun.wait()
        #expect(downloader.runningLoads.map(\.url) == [url])
        downloader.cancelAll()
        let ending = await load.value
        #expect(ending.error == .cancelled)
        #expect(!ending.isTaskCancelled)
    }
}

/// An interceptor that passes each request on.
private struct PassingInterceptor: DownloadInterceptor {
    func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse {
        try await next(request)
    }
}

/// An interceptor that waits until its task is canceled and then rejects the request.
private struct WaitingInterceptor: DownloadInterceptor {
    let begun: TestGate

    func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        begun.open()
        for await _ in stream {}
        continuation.finish()
        throw .request(.rejected(reason: "the wait ended"))
    }
}
