// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Canceling the tasks of a manager", .timeLimit(.minutes(5)))
struct CancelAllTests {
    /// A way to start work, and the kind of its task.
    enum Use: String, CaseIterable, Sendable {
        case task, image, continuing, data, encoded, prefetchToMemory, prefetchToDisk

        var kind: ImageManager.RunningTask.Kind {
            switch self {
            case .task, .image, .continuing: .image
            case .data: .data
            case .encoded: .encoding
            case .prefetchToMemory, .prefetchToDisk: .prefetch
            }
        }

        /// Runs the work and returns the code of its error, or `nil` if it succeeds.
        func code(_ manager: ImageManager) async -> Int? {
            do throws(ImageError) {
                switch self {
                case .task: _ = try await manager.load(.sample).response
                case .image: _ = try await manager.image(for: URL.sample)
                case .continuing:
                    var request = ImageRequest(url: .sample)
                    request.continuesAfterCancellation = true
                    _ = try await manager.image(for: request)
                case .data: _ = try await manager.data(for: URL.sample)
                case .encoded: _ = try await manager.encodedImage(for: ImageRequest(url: .sample), as: .png)
                case .prefetchToMemory: return await prefetched(manager, to: .memoryCache)
                case .prefetchToDisk: return await prefetched(manager, to: .diskCache)
                }
                return nil
            } catch {
                return error.code
            }
        }

        private func prefetched(_ manager: ImageManager, to destination: ImagePrefetcher.Destination) async -> Int? {
            let prefetcher = ImagePrefetcher(manager: manager)
            let task = prefetcher.prefetch([ImageRequest(url: .sample)], to: destination)
            return await task.result.cancelledCount == 1 ? ImageError.cancelled.code : nil
        }
    }

    @Test("Every kind of task ends with the error for canceled requests and stores nothing", arguments: Use.allCases)
    func uses(use: Use) async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1, responseGate: gate) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        let manager = fixture.manager
        #expect(!manager.isRunning)
        let waiting = Task { await use.code(manager) }
        await loader.waitForRequests(count: 1)
        #expect(manager.isRunning)
        #expect(manager.runningTasks.map(\.kind) == [use.kind])
        #expect(manager.runningTasks.map(\.url) == [.sample])
        manager.cancelAll()
        #expect(!manager.isRunning && manager.runningTasks.isEmpty)
        #expect(await waiting.value == 1001)
        await manager.rest()
        #expect(manager.cachedImage(for: URL.sample) == nil)
        #expect(loader.requests.count == 1)
        gate.open()
        #expect(await manager.load(.sample).number == 1)
        await manager.rest()
        #expect(!manager.isRunning)
    }

    @Test("The Swift task that awaits data isn't canceled")
    func caller() async throws {
        let loader = StubLoader { _ in Numbered.response(1, responseGate: TestGate()) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        let manager = fixture.manager
        let waiting = Task { () -> Bool in
            _ = try? await manager.data(for: URL.sample)
            return Task.isCancelled
        }
        await loader.waitForRequests(count: 1)
        manager.cancelAll()
        #expect(await waiting.value == false)
    }

    @Test("A canceled task finishes once, and no event follows, even if a preview was delivered before")
    func events() async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1, bodyGate: gate) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        let manager = fixture.manager
        var request = ImageRequest(url: .sample)
        request.previews = .progressive
        let task = manager.load(request)
        let names = Task { await task.eventNames() }
        await loader.waitForRequests(count: 1)
        manager.cancelAll()
        manager.cancelAll()
        gate.open()
        let received = await names.value
        #expect(received.filter { $0 != "preview" } == ["started", "failed 1001"])
        #expect(received.last == "failed 1001")
        await manager.rest()
        #expect(await task.eventNames() == ["started", "failed 1001"])
        await untilTrue { manager.statistics.cancellations > 0 }
        #expect(manager.statistics.cancellations == 1)
    }

    private let cacheControl = "max-age=60, stale-while-revalidate=600"

    @Test("A background revalidation ends, and the stale image stays in the cache")
    func revalidation() async throws {
        let loader = StubLoader()
        loader.respond(
            to: .sample, with: Numbered.response(1, cacheControl: cacheControl),
            Numbered.response(2, cacheControl: cacheControl, responseGate: TestGate()))
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        let manager = fixture.manager
        #expect(await manager.load(.sample).number == 1)
        await manager.rest()
        fixture.pass(seconds: 70)
        for round in 1...2 {
            #expect(try manager.load(.sample).result?.get().isStale == true)
            // The task is listed from the moment at which the stale image is delivered.
            #expect(manager.runningTasks.map(\.kind) == [.revalidation])
            await loader.waitForRequests(count: 1 + round)
            manager.cancelAll()
            #expect(!manager.isRunning)
            await loader.waitForCancellations(count: round)
            await manager.rest()
        }
        #expect(manager.cachedImage(for: URL.sample).map { Numbered.number(of: $0) } == 1)
    }

    @Test("A revalidation that is canceled during its cache lookup sends no request")
    func earlyRevalidation() async throws {
        let hold = TestGate()
        let tier = RecordingTier(.disk)
        let loader = StubLoader { [cacheControl] _ in Numbered.response(1, cacheControl: cacheControl) }
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = [tier]
            $0.loaders = [loader]
        }
        let manager = fixture.manager
        #expect(await manager.load(.sample).number == 1)
        await manager.rest()
        fixture.pass(seconds: 70)
        let lookups = tier.lookups
        tier.blockLookups(hold)
        #expect(try manager.load(.sample).result?.get().isStale == true)
        await untilTrue { tier.lookups > lookups }
        manager.cancelAll()
        hold.open()
        await manager.rest()
        await passing()
        #expect(loader.requests.count == 1)
    }

    @Test("Canceling the loads of the downloader ends the tasks that wait for them, and isn't remembered as a failure")
    func downloads() async throws {
        let server = try LoopbackServer { $0.index == 0 ? .silent : .ok(Numbered.data(1), contentType: "image/png") }
        let fixture = try ManagerFixture()
        let manager = fixture.manager
        let url = server.url("/a")
        let tasks = [ImageRequest(url: url), ImageRequest(url: url, size: .fit(width: 4))].map { manager.load($0) }
        await manager.waitForLoads(2)
        await server.waitForRequests(count: 1)
        #expect(manager.downloader.runningLoads.map(\.url) == [url])
        manager.downloader.cancelAll()
        for task in tasks { #expect(await task.code == 1001) }
        await manager.rest()
        #expect(await manager.load(url).number == 1)
    }

    // MARK: - Selection

    private func request(_ host: String, _ tag: String, _ priority: RequestPriority) -> ImageRequest {
        let url = URL(string: "https://\(host).test/\(tag)-\(priority.rawValue)") ?? .sample
        var request = ImageRequest(url: url, priority: priority)
        request.caching.tags = [tag]
        return request
    }

    /// A property by which a closure selects tasks.
    enum Property: String, CaseIterable, Sendable {
        case host, tag, priority, kind, request
    }

    @Test("A closure selects the canceled tasks, and all others continue", arguments: Property.allCases)
    func selected(property: Property) async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1, responseGate: gate) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        let manager = fixture.manager
        let requests: [ImageRequest] = ["a", "b"].flatMap { host in
            ["x", "y"].flatMap { tag in
                [RequestPriority.low, .high].map { request(host, tag, $0) }
            }
        }
        let tasks = requests.map { manager.load($0) }
        #expect(manager.runningTasks.map(\.url) == requests.map(\.url))
        let ids = manager.runningTasks.map(\.id)
        #expect(ids == ids.sorted() && Set(ids).count == 8)
        manager.cancelAll { task in
            switch property {
            case .host: task.host == "a.test"
            case .tag: task.tags.contains("x")
            case .priority: task.priority == .high
            case .kind: task.kind == .prefetch
            case .request: task.request.url == requests[3].url
            }
        }
        let expected = requests.map { request in
            switch property {
            case .host: request.url.host() == "a.test"
            case .tag: request.caching.tags == ["x"]
            case .priority: request.priority == .high
            case .kind: false
            case .request: request.url == requests[3].url
            }
        }
        gate.open()
        for (task, isCancelled) in zip(tasks, expected) { #expect(await task.code == (isCancelled ? 1001 : nil)) }
        await manager.rest()
        #expect(!manager.isRunning)
    }

    @Test("A task that shares a download with a canceled task receives its image, and changed priorities are listed")
    func shared() async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1, responseGate: gate) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        let manager = fixture.manager
        let tasks = (0..<2).map { _ in manager.load(.sample) }
        await manager.waitForLoads(2)
        tasks[1].priority = .veryHigh
        #expect(manager.runningTasks.map(\.priority) == [.normal, .veryHigh])
        manager.cancelAll { $0.priority == .normal }
        #expect(await tasks[0].code == 1001)
        gate.open()
        #expect(await tasks[1].number == 1)
        #expect(loader.requests.count == 1)
    }

    @Test("A prefetcher counts the canceled request and continues with the next one")
    func prefetcher() async throws {
        let loader = StubLoader { request in
            Numbered.response(1, responseGate: request.url == .sample ? TestGate() : nil)
        }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        let manager = fixture.manager
        let prefetcher = ImagePrefetcher(manager: manager) { $0.maxConcurrentRequests = 1 }
        let second = URL.sample.appending(path: "b")
        let task = prefetcher.prefetch([ImageRequest(url: .sample), ImageRequest(url: second)])
        await loader.waitForRequests(count: 1)
        manager.cancelAll()
        let progress = await task.result
        #expect(progress.cancelledCount == 1 && progress.loadedCount == 1)
        #expect(loader.requests.map(\.url) == [.sample, second])
    }
}
