// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Prefetching", .timeLimit(.minutes(5)))
struct PrefetcherTests {
    private let gate = TestGate()
    private let loader: StubLoader
    private let network = NetworkConditions()

    init() throws {
        let picture = try TestImages.png(1)
        // No response is delivered before the gate opens.
        loader = StubLoader { [gate] _ in StubLoader.Response(body: picture, responseGate: gate) }
    }

    private func fixture() throws -> ManagerFixture {
        try ManagerFixture { [loader] configuration in
            configuration.loaders = [loader]
            configuration.cachePolicy = .cacheFirst
        }
    }

    private func prefetcher(_ fixture: ManagerFixture, _ concurrency: Int = 2) -> ImagePrefetcher {
        ImagePrefetcher(manager: fixture.manager) { [network] configuration in
            configuration.maxConcurrentRequests = concurrency
            configuration.network = network
        }
    }

    private func requests(_ numbers: Range<Int>) throws -> [ImageRequest] {
        try numbers.map { ImageRequest(url: try #require(URL(string: "https://example.org/\($0).png"))) }
    }

    private var requestedNames: [String] { loader.requests.map { $0.url.lastPathComponent } }

    @Test("A list is prefetched in order with limited concurrency and stored in memory")
    func list() async throws {
        let fixture = try fixture()
        let prefetcher = prefetcher(fixture)
        let wanted = try requests(0..<20)
        let task = prefetcher.prefetch(wanted)
        await loader.waitForRequests(count: 2)
        #expect(Set(requestedNames) == ["0.png", "1.png"] && prefetcher.listCount == 1 && !task.isFinished)
        gate.open()
        let result = await task.result
        #expect(result.loadedCount == 20 && result.totalCount == 20 && task.isFinished)
        #expect(wanted.allSatisfy { fixture.manager.cachedImage(for: $0) != nil })
        #expect(prefetcher.listCount == 0)
        // The second time, all images are cached.
        #expect(await prefetcher.prefetch(wanted).result.skippedCount == 20)
        #expect(await prefetcher.prefetch([ImageRequest]()).result.finishedCount == 0)
        #expect(loader.requests.count == 20)
    }

    @Test("Prefetching to disk stores data without decoding, and skips cached data")
    func disk() async throws {
        let fixture = try fixture()
        let prefetcher = prefetcher(fixture)
        gate.open()
        let wanted = try requests(0..<5)
        #expect(await prefetcher.prefetch(wanted, to: .diskCache).result.loadedCount == 5)
        #expect(fixture.manager.statistics.decodes == 0 && fixture.manager.memoryCache.statistics.count == 0)
        await fixture.manager.diskCache?.flush()
        #expect(await prefetcher.prefetch(wanted, to: .diskCache).result.skippedCount == 5)
        #expect(try await fixture.manager.response(for: wanted[0]).source == .diskCache)
    }

    @Test("A stale image in memory is revalidated instead of downloaded again")
    func confirmed() async throws {
        let resource = ServerResource(
            body: try TestImages.png(1), type: "image/png", etag: "\"1\"", cacheControl: "max-age=60")
        let server = try LoopbackServer { resource.response(to: $0) }
        defer { server.stop() }
        let fixture = try ManagerFixture { $0.diskCache = nil }
        _ = try await fixture.manager.image(for: server.url("/a"))
        fixture.pass(seconds: 61)
        let again = prefetcher(fixture).prefetch([ImageRequest(url: server.url("/a"))])
        #expect(await again.result.loadedCount == 1)
        #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"1\""])
    }

    @Test(
        "While a visible request is in flight, no image is prefetched at first, and later one at a time",
        arguments: [false, true])
    func yielding(isListFirst: Bool) async throws {
        let clock = TestClock()
        let fixture = try ManagerFixture { [loader] configuration in
            configuration.loaders = [loader]
            configuration.cachePolicy = .cacheFirst
            configuration.time = TimeSource(clock)
        }
        let prefetcher = ImagePrefetcher(manager: fixture.manager) { [network] configuration in
            configuration.maxConcurrentRequests = 3
            configuration.network = network
            configuration.resumeDelay = .zero
        }
        let wanted = try requests(0..<10)
        prefetcher.isPaused = true
        let first = isListFirst ? prefetcher.prefetch(wanted) : nil
        let visible = fixture.manager.load(try requests(100..<101)[0])
        await loader.waitForRequests(count: 1)
        let task = first ?? prefetcher.prefetch(wanted)
        prefetcher.isPaused = false
        #expect(prefetcher.core.runningCount == 0)
        await untilTrue {
            clock.advance(by: .milliseconds(100))
            return prefetcher.core.runningCount > 0
        }
        #expect(clock.now.offset >= .milliseconds(250))
        await loader.waitForRequests(count: 2)
        #expect(requestedNames == ["100.png", "0.png"] && fixture.manager.pipeline.fetch.count == 2)
        visible.cancel()
        await loader.waitForRequests(count: 4)
        gate.open()
        #expect(await task.result.loadedCount == 10 && !fixture.manager.pipeline.foreground.isBusy)
    }

    @Test("Failures don't stop a list")
    func failures() async throws {
        let fixture = try fixture()
        gate.open()
        let wanted = try requests(0..<3)
        loader.respond(to: wanted[1].url, with: .init(body: Data("plain text".utf8)))
        let result = await prefetcher(fixture).prefetch(wanted).result
        #expect(result.loadedCount == 2 && result.finishedCount == 3)
        #expect(result.failures.map(\.request.url) == [wanted[1].url])
        guard case .decoding = result.failures.first?.error else {
            Issue.record("\(String(describing: result.failures.first?.error))")
            return
        }
    }

    @Test("URLs are prefetched like requests, and a configuration sets the concurrency")
    func urls() async throws {
        let fixture = try fixture()
        var configuration = ImagePrefetcher.Configuration()
        configuration.maxConcurrentRequests = 1
        configuration.network = network
        let prefetcher = ImagePrefetcher(manager: fixture.manager, configuration: configuration)
        let task = prefetcher.prefetch(try requests(0..<3).map(\.url))
        await loader.waitForRequests(count: 1)
        gate.open()
        #expect(await task.result.loadedCount == 3 && requestedNames == ["0.png", "1.png", "2.png"])
    }

    @Test("A sequence is read only as far as its requests are about to start")
    func sequence() async throws {
        let fixture = try fixture()
        let given = Lock(0)
        let wanted = try requests(0..<50)
        let sequence = AsyncStream<ImageRequest>(unfolding: {
            let number = given.withLock { count in
                count += 1
                return count - 1
            }
            return number < wanted.count ? wanted[number] : nil
        })
        let task = prefetcher(fixture).prefetch(contentsOf: sequence)
        await loader.waitForRequests(count: 2)
        await untilTrue { given.withLock { $0 } >= 4 }
        #expect(given.withLock { $0 } <= 5 && task.currentProgress.totalCount == nil)
        gate.open()
        let result = await task.result
        #expect(result.loadedCount == 50 && result.totalCount == 50)
    }

    @Test(
        "Prefetching is suspended while paused, on metered networks, and under memory pressure",
        arguments: ["pause", "net", "mem"])
    func held(why: String) async throws {
        let fixture = try fixture()
        let prefetcher = prefetcher(fixture)
        func hold(_ isHeld: Bool) {
            switch why {
            case "pause": prefetcher.isPaused = isHeld
            case "net": network.isMetered = isHeld
            default:
                if isHeld {
                    fixture.manager.configuration.memoryPressureMonitor.report(.medium)
                } else {
                    prefetcher.core.set(.memory, false)
                }
            }
        }
        let task = prefetcher.prefetch(try requests(0..<10))
        await loader.waitForRequests(count: 2)
        hold(true)
        #expect(prefetcher.isSuspended)
        gate.open()
        await untilTrue { task.currentProgress.loadedCount == 2 }
        #expect(loader.requests.count == 2)
        hold(false)
        #expect(await task.result.loadedCount == 10)
    }

    @Test("A list can be paused separately, and lists with a higher priority come first")
    func lists() async throws {
        let fixture = try fixture()
        let prefetcher = prefetcher(fixture, 1)
        let first = prefetcher.prefetch(try requests(0..<3))
        await loader.waitForRequests(count: 1)
        first.isPaused = true
        let second = prefetcher.prefetch(try requests(10..<12))
        let third = prefetcher.prefetch(try requests(20..<22))
        third.priority = .high
        gate.open()
        #expect(await third.result.loadedCount == 2)
        #expect(await second.result.loadedCount == 2)
        #expect(requestedNames == ["0.png", "20.png", "21.png", "10.png", "11.png"])
        first.isPaused = false
        #expect(await first.result.loadedCount == 3)
    }

    @Test("N-10: Canceling ends all lists immediately and cancels the work without other subscribers")
    func cancelled() async throws {
        let fixture = try fixture()
        let prefetcher = prefetcher(fixture)
        let wanted = try requests(0..<100)
        let task = prefetcher.prefetch(wanted)
        await loader.waitForRequests(count: 2)
        // A visible request joins one of the two running prefetches.
        let visible = fixture.manager.load(wanted[0])
        await untilTrue { fixture.manager.statistics.coalescedLoads == 1 }
        prefetcher.cancelAll()
        #expect(task.isFinished && task.currentProgress.cancelledCount == 100 && task.currentProgress.totalCount == 100)
        await loader.waitForCancellations(count: 1)
        gate.open()
        _ = try await visible.image
        #expect(loader.cancelledCount == 1 && loader.requests.count == 2)
        await untilTrue { fixture.manager.runningJobs == 0 }
        #expect(await prefetcher.prefetch(try requests(200..<203)).result.loadedCount == 3)
    }

    @Test("The progress of a prefetcher is the sum of its lists, and begins again after all of them are finished")
    func totalProgress() async throws {
        let fixture = try fixture()
        var prefetcher: ImagePrefetcher? = self.prefetcher(fixture)
        let reports = Shared<[ImagePrefetcher.Progress]>([])
        let stream = try #require(prefetcher?.progress)
        let reader = Task { for await progress in stream { reports.update { $0.append(progress) } } }
        await untilTrue { reports.value.count == 1 }
        #expect(reports.value.first?.totalCount == 0)
        let first = try #require(prefetcher?.prefetch(try requests(0..<3)))
        let second = try #require(prefetcher?.prefetch(try requests(10..<15)))
        #expect(prefetcher?.currentProgress.totalCount == 8 && prefetcher?.currentProgress.finishedCount == 0)
        second.cancel()
        #expect(prefetcher?.currentProgress.totalCount == 8 && prefetcher?.currentProgress.cancelledCount == 5)
        let (open, continuation) = AsyncStream<ImageRequest>.makeStream()
        let third = try #require(prefetcher?.prefetch(contentsOf: open))
        #expect(prefetcher?.currentProgress.totalCount == nil)
        for request in try requests(2..<4) { continuation.yield(request) }
        continuation.finish()
        gate.open()
        #expect(await first.result.loadedCount == 3)
        #expect(await third.result.finishedCount == 2)
        let progress = try #require(prefetcher?.currentProgress)
        #expect(progress.totalCount == 10 && progress.finishedCount == 10 && progress.cancelledCount == 5)
        #expect(progress.loadedCount + progress.skippedCount == 5 && progress.failedCount == 0)
        let fourth = try #require(prefetcher?.prefetch(try requests(0..<2)))
        #expect(await fourth.result.skippedCount == 2)
        #expect(prefetcher?.currentProgress.totalCount == 2 && prefetcher?.currentProgress.skippedCount == 2)
        prefetcher = nil
        await reader.value
        #expect(reports.value.last?.skippedCount == 2)
    }

    @Test("A visible request joins a prefetch and raises its priority")
    func raised() async throws {
        let fixture = try fixture()
        let wanted = try requests(0..<1)
        let priorities = Lock<[RequestPriority]>([])
        let watching = PriorityLoader(inner: loader) { value in priorities.withLock { $0.append(value) } }
        let manager = ImageManager { configuration in
            configuration.loaders = [watching]
            configuration.diskCache = nil
            configuration.memoryPressureMonitor = MemoryPressureMonitor(observesSystem: false)
        }
        let task = ImagePrefetcher(manager: manager).prefetch(wanted)
        await loader.waitForRequests(count: 1)
        var request = wanted[0]
        request.priority = .high
        let visible = manager.load(request)
        await untilTrue { priorities.withLock { $0.last } == .high }
        visible.cancel()
        await untilTrue { priorities.withLock { $0.last } == .veryLow }
        gate.open()
        #expect(await task.result.loadedCount == 1 && loader.requests.count == 1)
        withExtendedLifetime(fixture) {}
    }

    @Test(
        "A rest period that is extremely long or negative doesn't block prefetching",
        arguments: [Duration.seconds(Int64.max), .seconds(-1)])
    func endlessRest(delay: Duration) async throws {
        let fixture = try fixture()
        let prefetcher = ImagePrefetcher(manager: fixture.manager) { [network] configuration in
            configuration.network = network
            configuration.resumeDelay = delay
        }
        let task = prefetcher.prefetch(try requests(0..<4))
        await loader.waitForRequests(count: 4)
        // A visible request runs while the list is prefetched.
        let visible = Task { [manager = fixture.manager, request = try requests(9..<10)[0]] in
            try await manager.image(for: request)
        }
        await loader.waitForRequests(count: 5)
        gate.open()
        _ = try await visible.value
        #expect(await task.result.loadedCount == 4)
        #expect(await prefetcher.prefetch(try requests(4..<8)).result.loadedCount == 4)
    }
}

/// A loader that reports every change of a load's priority.
private struct PriorityLoader: ImageLoader {
    let inner: StubLoader
    let changed: @Sendable (RequestPriority) -> Void

    func canLoad(_ url: URL) -> Bool { true }

    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        context.onPriorityChange(changed)
        return try await inner.load(request, context: context)
    }
}

@Suite("Prefetch table")
struct PrefetchStateMachineTests {
    @Test(
        "Yielding completely starts no item, and yielding partially starts one",
        arguments: zip(PrefetchStateMachine.Yielding.allCases, [3, 0, 1]))
    func yielding(_ yielding: PrefetchStateMachine.Yielding, count: Int) {
        var table = PrefetchStateMachine(concurrency: 3)
        let requests = Array(repeating: ImageRequest(url: URL(filePath: "/a")), count: 5)
        _ = table.add(requests, isOpen: false, .memoryCache, .low)
        table.yielding = yielding
        while table.next() != nil {}
        #expect(table.running == count)
        // Items that run already don't end.
        table.yielding = .complete
        #expect(table.next() == nil && table.running == count)
    }

    @Test("In random situations, every image of a list is counted once", arguments: 1...5 as ClosedRange<UInt64>)
    func model(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let request = ImageRequest(url: URL(filePath: "/a"))
        for _ in 0..<100 {
            let concurrency = Int.random(in: 1...4, using: &random)
            var table = PrefetchStateMachine(concurrency: concurrency)
            var sizes: [Int: Int] = [:]
            var ended: [Int: PrefetchTask.Progress] = [:]
            var running: [PrefetchStateMachine.Item] = []
            func step() {
                switch Int.random(in: 0..<9, using: &random) {
                case 8:
                    table.yielding = PrefetchStateMachine.Yielding.allCases.randomElement(using: &random) ?? .none
                case 0:
                    let count = Int.random(in: 1..<6, using: &random)
                    let id = table.add(Array(repeating: request, count: count), isOpen: false, .memoryCache, .low)
                    sizes[id] = count
                case 1: table.set(.paused, Bool.random(using: &random))
                case 2:
                    guard let id = table.lists.keys.randomElement(using: &random) else { return }
                    table.setPaused(Bool.random(using: &random), id)
                case 3 where Int.random(in: 0..<4, using: &random) == 0:
                    guard let id = table.lists.keys.randomElement(using: &random) else { return }
                    ended[id] = table.cancel(id)?.progress
                case 4, 5:
                    guard !running.isEmpty else { return }
                    let item = running.remove(at: Int.random(in: 0..<running.count, using: &random))
                    let outcomes: [PrefetchStateMachine.Outcome] = [
                        .loaded, .skipped, .failed(.cancelled), .cancelled,
                    ]
                    let outcome = outcomes.randomElement(using: &random) ?? .loaded
                    if let list = table.finish(item, outcome), list.isFinished { ended[item.list] = list.progress }
                    let counted = table.progress
                    #expect(counted.finishedCount <= counted.totalCount ?? 0)
                default:
                    if let item = table.next() { running.append(item) }
                }
                #expect(table.running == running.count && running.count <= concurrency)
            }
            for _ in 0..<60 { step() }
            table.set(.paused, false)
            table.yielding = .none
            for id in table.lists.keys { table.setPaused(false, id) }
            while true {
                while let item = table.next() { running.append(item) }
                guard let item = running.popLast() else { break }
                if let list = table.finish(item, .loaded), list.isFinished { ended[item.list] = list.progress }
            }
            #expect(table.lists.isEmpty && table.running == 0)
            #expect(table.progress.finishedCount == table.progress.totalCount)
            #expect(ended.mapValues(\.finishedCount) == sizes && ended.allSatisfy { $1.totalCount == sizes[$0] })
        }
    }
}
