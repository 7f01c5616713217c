// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Canceled requests: scenarios of other libraries", .timeLimit(.minutes(5)))
struct CancellationFaultTests {
    @Test("N-05: Canceling a request cancels the closure that supplies its data, and its late result is dropped")
    func closure() async throws {
        let fixture = try ManagerFixture()
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let (began, wasCanceled, mayReturn) = (TestGate(), TestGate(), TestGate())
        let task = manager.load(
            ImageRequest(cacheKey: "closure") {
                began.open()
                await withTaskCancellationHandler {
                    await wasCanceled.wait()
                } onCancel: {
                    wasCanceled.open()
                }
                await Task { await mayReturn.wait() }.value
                return Numbered.data(1)
            })
        await began.wait()
        task.cancel()
        #expect(task.result.map { (try? $0.get()) == nil } == true)
        await wasCanceled.wait()
        mayReturn.open()
        await manager.rest()
        await manager.diskCache?.flush()
        #expect(manager.memoryCache.statistics.count == 0)
        #expect(await manager.diskCache?.entries().isEmpty == true)
    }

    @Test("S-06: A task that is canceled while its cache lookup returns ends once")
    func duringLookup() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        for round in 0..<200 {
            let gate = TestGate()
            let tier = RecordingTier(.disk, lookupGate: gate)
            let fixture = try ManagerFixture {
                $0.diskCache = nil
                $0.cacheTiers = [tier]
                $0.loaders = [loader]
            }
            let task = fixture.manager.load(.sample)
            let events = task.events
            await untilTrue { tier.lookups == 1 }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { gate.open() }
                group.addTask { task.cancel() }
            }
            var ends = 0
            for await event in events { if case .finished = event { ends += 1 } }
            let code = await task.code
            #expect(ends == 1 && (code == nil || code == 1001), "round \(round)")
            await fixture.manager.rest()
        }
    }

    /// A stage of a request.
    enum Stage: String, CaseIterable, Sendable {
        case queued, connecting, receiving, decoding, transforming, storing
    }

    @Test("S-07: A task that is canceled ends immediately in each stage", arguments: Stage.allCases)
    func stages(stage: Stage) async throws {
        let gate = TestGate()
        let (transformer, coder) = (HoldingTransformer(gate), HoldingCoder(gate))
        let tier = RecordingTier(.disk, storeGate: stage == .storing ? gate : nil)
        let server = try LoopbackServer { request in
            let image = LoopbackServer.Response(headers: Numbered.head(1).headers, body: Numbered.data(1))
            if request.path == "/other" { return .silent }
            return image.with {
                if stage == .connecting { $0.headGate = gate }
                if stage == .receiving { $0.bodyGate = gate }
            }
        }
        let fixture = try ManagerFixture {
            $0.diskCache = nil
            $0.cacheTiers = [tier]
            $0.downloader.maxConnectionsPerHost = stage == .queued ? 1 : 6
            if stage == .decoding { $0.coders.register(coder) }
        }
        let manager = fixture.manager
        let other = stage == .queued ? manager.load(server.url("/other")) : nil
        if stage == .queued { await server.waitForRequests(count: 1) }
        var request = ImageRequest(url: server.url("/a"))
        if stage == .transforming { request.transformers = [transformer] }
        request.caching.waitsUntilStored = stage == .storing
        let task = manager.load(request)
        let events = task.events
        switch stage {
        case .queued: await untilTrue { manager.downloader.queuedCount == 1 }
        case .connecting: await server.waitForRequests(count: 1)
        case .receiving: await untilTrue { manager.downloader.runningCount == 1 && server.sentByteCount > 0 }
        case .decoding: await untilTrue { coder.isHolding }
        case .transforming: await untilTrue { transformer.isHolding }
        case .storing: await untilTrue { tier.writes == 1 }
        }
        task.cancel()
        guard case .failure(.cancelled) = task.result else {
            Issue.record("\(stage): \(String(describing: task.result))")
            return
        }
        var ends = 0
        for await event in events { if case .finished = event { ends += 1 } }
        #expect(ends == 1)
        gate.open()
        other?.cancel()
        await manager.rest()
        await untilTrue { manager.downloader.runningCount == 0 && manager.downloader.queuedCount == 0 }
    }

    @Test("S-08: Several threads that cancel a task while it finishes cause one end for every subscriber")
    func whileFinishing() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        for number in 0..<300 {
            let task = manager.load(.sample.appending(path: "\(number)"))
            let counts = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<3 {
                    let events = task.events
                    group.addTask {
                        var ends = 0
                        for await event in events { if case .finished = event { ends += 1 } }
                        return ends
                    }
                    group.addTask {
                        _ = try? await task.response
                        return task.result == nil ? 0 : 1
                    }
                }
                for _ in 0..<3 {
                    group.addTask {
                        for _ in 0..<number % 7 { await Task.yield() }
                        task.cancel()
                        return 1
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts == Array(repeating: 1, count: 9), "round \(number)")
        }
        await manager.rest()
    }

    @Test(
        "N-06: A preview that is being decoded when its load fails or is canceled isn't delivered", arguments: [0, 1])
    func preview(cancels: Int) async throws {
        let gate = TestGate()
        let coder = WatchedCoder(gate: gate)
        let stepped = try SteppedImage(try TestImages.jpeg(progressive: true)) { $0.coders.register(coder) }
        var request = ImageRequest(url: stepped.url)
        request.previews = .progressive(interval: .zero)
        let task = stepped.manager.load(request)
        let log = EventLog(task)
        await stepped.begin()
        await untilTrue { coder.noted.inspections == 1 }
        if cancels == 1 {
            task.cancel()
        } else {
            stepped.loader.go(.fail(.network(ImageError.NetworkFailure(.connectionLost, url: stepped.url))))
        }
        _ = try? await task.response
        gate.open()
        await untilTrue { log.isFinished }
        let feeds = stepped.manager.pipeline.fetch.feeds
        await untilTrue { feeds.count == 0 && feeds.budget.bytesInUse == 0 }
        #expect(log.previews.isEmpty && coder.noted.inspections == 1)
    }

    @Test("N-07: A canceled request doesn't replace the image in memory when its own image becomes ready later")
    func lateImage() async throws {
        let gate = TestGate()
        let (old, new) = (Numbered.response(1), Numbered.response(2))
        let loader = StubLoader()
        loader.respond(to: .sample, with: old, new)
        let coder = HoldingCoder(gate)
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let image = try await manager.image(for: .sample)
        manager.update { $0.coders.register(coder) }
        var request = ImageRequest(url: .sample)
        request.cachePolicy = .reload
        let task = manager.load(request)
        await untilTrue { coder.isHolding }
        task.cancel()
        gate.open()
        await manager.rest()
        await passing()
        #expect(manager.memoryCache.image(for: manager.cacheKeys(for: ImageRequest(url: .sample)).image) === image)
    }

    @Test("G-04: Reports of a canceled custom load don't appear in the next load of the same URL")
    func lateReports() async throws {
        let contexts = Shared<[LoadContext]>([])
        let gates = [TestGate(), TestGate()]
        let data = try TestImages.jpeg(progressive: false)
        let loader = ContextRecorder { context in
            let index = contexts.update { contexts in
                contexts.append(context)
                return contexts.count - 1
            }
            // An unstructured task doesn't notice the cancellation.
            await Task { await gates[index].wait() }.value
            return data
        }
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.downloader.progressInterval = .zero
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        var request = ImageRequest(url: .sample)
        request.previews = .progressive(interval: .zero)
        let first = manager.load(request)
        await untilTrue { contexts.value.count == 1 }
        first.cancel()
        let second = manager.load(request)
        let log = EventLog(second)
        await untilTrue { contexts.value.count == 2 }
        let late = contexts.value[0]
        late.reportStart()
        late.reportResponse(HTTPResponseHead(statusCode: 500), expectedByteCount: 7)
        late.reportData(Data(repeating: 9, count: 50_000))
        await passing()
        #expect(log.received == 0 && log.previews.isEmpty && second.currentProgress == nil)
        gates[0].open()
        await passing()
        #expect(second.result == nil)
        gates[1].open()
        #expect(try await second.image.size == PixelSize(width: 160, height: 120))
        #expect(await first.code == 1001)
        await manager.rest()
    }

    @Test("K-21: A request that leaves a long download releases everything that its closures retained")
    func releasesClosures() async throws {
        final class Token: Sendable {}
        let gate = TestGate()
        let loader = StubLoader { _ in Numbered.response(1, responseGate: gate) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let staying = manager.load(.sample)
        await loader.waitForRequests(count: 1)
        var tokens: [Token] = (0..<20).map { _ in Token() }
        let references = tokens.map { token in Weak(token) }
        var tasks: [ImageTask] = []
        for token in tokens {
            var request = ImageRequest(
                url: .sample,
                transformers: [
                    .custom(id: "token") { pixels, _ in
                        withExtendedLifetime(token) { pixels }
                    }
                ])
            request.userInfo["token"] = token
            tasks.append(manager.load(request))
        }
        tokens = []
        await untilTrue { manager.statistics.coalescedLoads == 20 }
        #expect(references.allSatisfy { $0.value != nil })
        for task in tasks { task.cancel() }
        tasks = []
        await untilTrue { references.allSatisfy { $0.value == nil } }
        #expect(references.allSatisfy { $0.value == nil } && staying.result == nil)
        gate.open()
        #expect(await staying.number == 1)
    }

    @Test("N-28: Tasks that finished, failed, or were canceled are deallocated with their last owner", arguments: 0..<3)
    func deallocation(kind: Int) async throws {
        let loader = StubLoader { _ in
            kind == 1 ? StubLoader.Response(body: Data("text".utf8)) : Numbered.response(1)
        }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        var task: ImageTask? = manager.load(.sample)
        weak let reference = task
        let reader = Task { [events = task?.events] in
            guard let events else { return }
            for await _ in events {}
        }
        if kind == 2 { task?.cancel() }
        _ = try? await task?.response
        _ = task?.currentProgress
        await reader.value
        task = nil
        await manager.rest()
        await untilTrue { reference == nil }
        #expect(reference == nil)
    }

    @Test("N-31: When a task has returned its response or its last event, its result is set")
    func resultIsSet() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        for number in 0..<300 {
            let task = manager.load(.sample.appending(path: "\(number)"))
            async let awaited: Bool = {
                _ = try? await task.response
                return task.result != nil
            }()
            for await event in task.events {
                if case .finished = event { #expect(task.result != nil, "round \(number)") }
            }
            #expect(await awaited)
        }
    }
}

/// A loader whose closure returns the body.
private struct ContextRecorder: ImageLoader {
    let respond: @Sendable (LoadContext) async -> Data

    func canLoad(_ url: URL) -> Bool { true }

    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        LoadResponse(httpResponse: HTTPResponseHead(statusCode: 200), body: await respond(context), url: request.url)
    }
}
