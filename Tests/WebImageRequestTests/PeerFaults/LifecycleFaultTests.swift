// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageStore
@testable import WebImageUI

@Suite("Lifetimes, custom code, and handlers: scenarios of other libraries", .timeLimit(.minutes(5)))
struct LifecycleFaultTests {
    @Test("N-27: 100,000 requests that end immediately leave no task, no image, and no entry of a table")
    func immediateEnds() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.diskCache = nil
            $0.cachePolicy = .cacheFirst
            $0.allowedSchemes = ["https"]
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        var image: DecodedImage? = try await manager.image(for: .sample)
        weak let reference = image
        image = nil
        var missing = ImageRequest(url: .sample.appending(path: "missing"))
        missing.cachePolicy = .cacheOnly
        let rejected = try #require(URL(string: "ftp://images.test/a"))
        let requests = [ImageRequest(url: .sample), missing, ImageRequest(url: rejected)]
        var sample: [Weak<ImageTask>] = []
        for round in 0..<100 {
            let tasks = (0..<1_000).map { manager.load(requests[$0 % 3]) }
            for task in tasks { _ = try? await task.response }
            if round == 50 { sample = tasks.map { Weak($0) } }
        }
        await manager.rest()
        await untilTrue { sample.allSatisfy { $0.value == nil } }
        #expect(sample.count == 1_000 && sample.allSatisfy { $0.value == nil })
        #expect(manager.runningTasks.isEmpty && manager.runningJobs == 0 && !manager.isRunning)
        #expect(manager.memoryCache.statistics.count == 1)
        manager.memoryCache.removeAll()
        await untilTrue { reference == nil }
        #expect(reference == nil && loader.requests.count == 1)
    }

    @Test(
        "N-29: Managers that are released, closed or not and with loads or without, leave no thread and no descriptor")
    func managers() async throws {
        let gate = TestGate()
        defer { gate.open() }
        let server = try LoopbackServer { request in
            LoopbackServer.Response.ok(Numbered.data(1), contentType: "image/png")
                .with { if request.path == "/slow" { $0.headGate = gate } }
        }
        let directory = try TemporaryDirectory()
        var managers: [Weak<ImageManager>] = []
        var downloaders: [Weak<ImageDownloader>] = []
        for round in 0..<100 {
            let fixture = try ManagerFixture(directory: directory)
            managers.append(Weak(fixture.manager))
            downloaders.append(Weak(fixture.manager.downloader))
            _ = try await fixture.manager.image(for: server.url("/\(round % 3)"))
            let running = round.isMultiple(of: 3) ? fixture.manager.load(server.url("/slow")) : nil
            if round.isMultiple(of: 2) { await fixture.manager.shutdown() }
            running?.cancel()
        }
        await untilTrue { managers.allSatisfy { $0.value == nil } && downloaders.allSatisfy { $0.value == nil } }
        #expect(managers.allSatisfy { $0.value == nil } && downloaders.allSatisfy { $0.value == nil })
        await untilTrue { OpenDescriptors.connections(toPort: server.port).isEmpty }
        await untilTrue { OpenDescriptors.files(under: directory.path).isEmpty }
        #expect(OpenDescriptors.connections(toPort: server.port).isEmpty)
        #expect(OpenDescriptors.files(under: directory.path).isEmpty)
    }

    /// Custom code that fails or returns invalid values.
    enum Part: String, CaseIterable, Sendable {
        case loader, emptyLoader, coder, transformer, serializer, interceptor, dataClosure, imageClosure, stream
    }

    private struct Unexpected: Error {}

    @Test(
        "G-15: If custom code throws any error or returns invalid values, the request ends with a typed error",
        arguments: Part.allCases)
    func customCode(part: Part) async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let manager = try ManagerFixture {
            $0.loaders = [loader]
            if part == .serializer { $0.cacheSerializer = { _, _, _ in Data("no image".utf8) } }
            if part == .interceptor { $0.interceptors = [FailingInterceptor()] }
        }.manager
        var request = ImageRequest(url: .sample)
        switch part {
        case .loader: request.loader = FailingLoader(isEmpty: false)
        case .emptyLoader: request.loader = FailingLoader(isEmpty: true)
        case .coder: request.coder = FailingCoder()
        case .transformer: request.transformers = [.custom(id: "failing") { _, _ in throw Unexpected() }]
        case .serializer: break
        case .interceptor: request.userInfo["fails"] = true
        case .dataClosure: request = ImageRequest(cacheKey: "data") { () async throws -> Data in throw Unexpected() }
        case .imageClosure:
            request = ImageRequest(cacheKey: "image") { () async throws -> DecodedImage in throw Unexpected() }
        case .stream:
            request = ImageRequest(
                cacheKey: "stream", stream: { AsyncThrowingStream { $0.finish(throwing: Unexpected()) } })
        }
        let task = manager.load(request)
        let code = await task.code
        #expect((code == nil) == (part == .serializer), "\(String(describing: task.result))")
        if part == .serializer {
            await task.waitUntilStored()
            manager.memoryCache.removeAll()
            // The stored data isn't an image, so the source is requested again.
            #expect(await manager.load(request).number == 1)
        }
        #expect(await manager.load(.sample.appending(path: "other")).number == 1)
        await manager.rest()
    }

    @Test("G-16: Handlers that cancel, change priorities, load, remove, and read statistics cause no deadlock")
    @MainActor
    func reentrantHandlers() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let observer = ReentrantObserver()
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.diskCache = nil
            $0.observers = [observer]
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        observer.manager.value = Weak(manager)
        for round in 0..<20 {
            let tasks = (0..<100).map { manager.load(.sample.appending(path: "\(round)-\($0 % 50)")) }
            let ended = Task.detached {
                await withTaskGroup(of: Void.self) { group in
                    for (index, task) in tasks.enumerated() {
                        group.addTask {
                            for await event in task.events {
                                task.priority = index.isMultiple(of: 2) ? .high : .low
                                _ = manager.statistics
                                if case .started = event, index.isMultiple(of: 5) { tasks[(index + 1) % 100].cancel() }
                                if case .finished = event {
                                    manager.memoryCache.remove(manager.cacheKey(for: task.request))
                                }
                            }
                        }
                    }
                }
            }
            await ended.value
            #expect(tasks.allSatisfy { $0.result != nil })
        }
        await manager.rest()
        #expect(observer.count.value > 2_000)
        observer.manager.value = nil
    }

    @Test("F-16: Events and statistics that other threads read during loads are complete and in order")
    func observers() async throws {
        let recorder = EventRecorder()
        let trace = ChromeTraceObserver()
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.diskCache = nil
            $0.observers = [recorder, trace]
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for number in 0..<100 {
                        _ = try? await manager.image(for: .sample.appending(path: "\(worker)-\(number)"))
                    }
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    var last = 0
                    for round in 0..<200 {
                        let loads = manager.statistics.loads
                        #expect(loads >= last)
                        last = loads
                        _ = recorder.events.count
                        // Encoding all events takes more time than many loads.
                        if round.isMultiple(of: 20) { _ = trace.jsonData().count }
                        _ = manager.runningTasks
                        await Task.yield()
                    }
                }
            }
        }
        await manager.rest()
        let spans = Dictionary(grouping: recorder.events, by: \.spanID)
        #expect(spans.count >= 800)
        #expect(spans.values.allSatisfy { $0.map(\.phase) == [.began, .ended] && $0[0].time <= $0[1].time })
        #expect(manager.statistics.loads == 400)
        #expect(try JSONSerialization.jsonObject(with: trace.jsonData()) is [String: Any])
    }

    @Test("N-23: Each decode uses one consistent registry while decoders are registered and unregistered")
    func changingRegistry() async throws {
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.diskCache = nil
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let isEnded = Shared(false)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                while !isEnded.value {
                    manager.update { $0.coders.register(NumberCoder(number: 2)) }
                    manager.update { $0.coders.unregister("number-coder") }
                    await Task.yield()
                }
            }
            group.addTask {
                for round in 0..<300 {
                    // A request uses either the registered coder or the built-in one.
                    let number = await manager.load(.sample.appending(path: "\(round)")).number
                    #expect(number == 1 || number == 2, "round \(round)")
                }
                isEnded.value = true
            }
        }
    }

    @Test("C-14: If the disk doesn't respond, no call on the main actor waits, except those that say so")
    @MainActor
    func hangingDisk() async throws {
        let request = ImageRequest(url: .sample)
        let (fixture, files) = try await fixtureAfterRestart(with: request)
        let manager = fixture.manager
        await manager.diskCache?.settle()
        let gate = files.block(manager.cacheKeys(for: request).original.fileName)
        let task = manager.load(.sample)
        await untilTrue { !files.opened.isEmpty }
        // The disk doesn't respond. All of these calls return.
        var shown: [ImageBinder.Presentation.Kind] = []
        let binder = ImageBinder(manager: manager) { shown.append($0.kind) }
        var options = ImageViewOptions(placeholder: .color(.black))
        options.sizing = .originalSize
        binder.bind(ImageRequest(url: .sample), options: options)
        binder.setViewSize(width: 10, height: 10, scale: 1)
        binder.isVisible = false
        binder.isVisible = true
        binder.retry()
        _ = (binder.snapshot, binder.displayedImage)
        _ = (manager.cachedImage(for: .sample), manager.cachedPlaceholder(for: ImageRequest(url: .sample)))
        _ = (manager.statistics, manager.runningTasks, manager.settings, manager.cacheKeys(for: request))
        task.priority = .high
        let other = manager.load(.sample.appending(path: "other"))
        other.cancel()
        let prefetcher = ImagePrefetcher(manager: manager) { $0.network = NetworkConditions() }
        prefetcher.prefetch([request]).cancel()
        manager.diskCache?.store(CacheEntry(key: CacheKey(["a"]), data: Data([1])))
        manager.diskCache?.remove(CacheKey(["b"]))
        _ = manager.diskCache?.mayContain(CacheKey(["c"]))
        #expect(shown == [.placeholder] && task.result == nil && !gate.isOpen)
        gate.open()
        #expect(await task.number == 1)
        binder.unbind()
        await manager.shutdown()
    }

    /// Returns a manager after a restart, whose disk cache contains the data of a request, and its file system.
    private func fixtureAfterRestart(
        with request: ImageRequest
    ) async throws -> (ManagerFixture, BlockingFileSystem) {
        let files = BlockingFileSystem()
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        var request = request
        request.caching.waitsUntilStored = true
        _ = try await fixture.manager.image(for: request)
        let restarted = try await fixture.restarted {
            $0.diskCache?.fileSystem = files
            $0.loaders = [loader]
        }
        return (restarted, files)
    }
}

/// An observer that uses its manager in every event.
private final class ReentrantObserver: ImageManagerObserver {
    let manager = Shared<Weak<ImageManager>?>(nil)
    let count = Shared(0)

    func observe(_ event: ImageManager.Event) {
        let count = count.update { count in
            count += 1
            return count
        }
        guard let manager = manager.value?.value else { return }
        // Listing all tasks takes more time than the other calls.
        if count < 200 || count.isMultiple(of: 10) { _ = manager.runningTasks.count }
        _ = (manager.statistics, manager.isRunning, manager.activeDownloadCount)
        if count.isMultiple(of: 7), count < 3_000 { manager.load(event.url).cancel() }
        if count.isMultiple(of: 11) { manager.memoryCache.removeAll() }
        if count.isMultiple(of: 13) { manager.cancelAll { $0.kind == .prefetch } }
        if count.isMultiple(of: 17) { manager.update { $0.headers["X-Count"] = "\(count)" } }
    }
}

/// An observer that records all events.
private final class EventRecorder: ImageManagerObserver {
    private let state = Shared<[ImageManager.Event]>([])
    var events: [ImageManager.Event] { state.value }
    func observe(_ event: ImageManager.Event) { state.update { $0.append(event) } }
}

private struct FailingInterceptor: ImageRequestInterceptor {
    func intercept(_ request: ImageRequest, next: Next) async throws(ImageError) -> ImageResponse {
        if request.userInfo["fails"] != nil { throw .request(.rejected(reason: "no")) }
        return try await next(request)
    }
}

private struct FailingLoader: ImageLoader {
    let isEmpty: Bool
    func canLoad(_ url: URL) -> Bool { true }
    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        guard isEmpty else { throw .network(ImageError.NetworkFailure(.connectionLost, url: request.url)) }
        context.reportData(Data())
        context.reportResponse(nil, expectedByteCount: -5)
        return LoadResponse(body: Data(), url: request.url)
    }
}

private struct FailingCoder: ImageCoder {
    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { true }
    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        throw .decoding(.corrupted(format: .png, reason: "no"))
    }
}

/// A coder that returns the image of a number for all data.
private struct NumberCoder: ImageCoder {
    let number: Int
    var identifier: String { "number-coder" }
    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .png }
    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        let canvas = try PixelCanvas(size: Numbered.size)
        canvas.withUnsafeMutableBytes { bytes in
            for index in stride(from: 0, to: bytes.count - 3, by: 4) {
                bytes[index] = UInt8(truncatingIfNeeded: number * 37)
                bytes[index + 3] = 255
            }
        }
        return DecodedImage(pixels: canvas.finish(isOpaque: true))
    }
}
