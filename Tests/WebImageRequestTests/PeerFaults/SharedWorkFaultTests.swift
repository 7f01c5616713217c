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

@Suite("Shared work: scenarios of other libraries", .timeLimit(.minutes(5)))
struct SharedWorkFaultTests {
    @Test("N-01: Ten requests with their own sizes and transformers get and cache their own images")
    func ownKeys() async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in
            StubLoader.Response(body: (try? TestImages.png(1, width: 200, height: 100)) ?? Data(), responseGate: gate)
        }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let requests = (1...10).map { number in
            let transformers: [any ImageTransformer] =
                number.isMultiple(of: 2) ? [.pad(Double(number))] : [.crop(width: Double(number), height: 2)]
            return ImageRequest(url: .sample, size: .fit(width: Double(number * 10)), transformers: transformers)
        }
        let tasks = requests.map { manager.load($0) }
        await manager.waitForLoads(10)
        gate.open()
        for (index, task) in tasks.enumerated() {
            let number = index + 1
            let expected =
                number.isMultiple(of: 2)
                ? PixelSize(width: number * 10 + 2 * number, height: number * 5 + 2 * number)
                : PixelSize(width: number, height: 2)
            let image = try await task.image
            #expect(image.size == expected)
            #expect(manager.memoryCache.image(for: manager.cacheKeys(for: requests[index]).image) === image)
        }
        #expect(loader.requests.count == 1)
        #expect(Set(requests.map { manager.cacheKeys(for: $0).image }).count == 10)
        #expect(manager.memoryCache.statistics.count == 10)
    }

    @Test("K-01: Tasks that join a load at the moment of its end each receive one result", arguments: 0..<4)
    func joiningAtTheEnd(seed: Int) async {
        let jobs = SharedJobs<String, Int, Int, RequestPriority, ImageError>(cancelled: .cancelled)
        let runs = Shared(0)
        let results = await withTaskGroup(of: [Int].self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(seed * 100 + worker))
                    var results: [Int] = []
                    for _ in 0..<1_000 {
                        let waiting = Task {
                            try await jobs.value(for: "a", priority: ObservableValue(RequestPriority.normal)) { _ in
                                .success(
                                    runs.update { runs in
                                        runs += 1
                                        return runs
                                    })
                            }
                        }
                        let leaves = Int.random(in: 0..<4, using: &random) == 0
                        if leaves { waiting.cancel() }
                        switch await waiting.result {
                        case .success(let value): results.append(value)
                        case .failure: if !leaves { results.append(-1) }
                        }
                    }
                    return results
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(!results.contains(-1))
        #expect(results.allSatisfy { (1...runs.value).contains($0) })
        await untilTrue { jobs.count == 0 }
    }

    @Test("S-03: Each task and each wait receives the error of a shared load exactly once")
    func sharedFailure() async throws {
        let gate = TestGate()
        let loader = StubLoader { _ in
            StubLoader.Response(
                body: Data(), error: .network(ImageError.NetworkFailure(.connectionLost, url: .sample)),
                responseGate: gate)
        }
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let tasks = (0..<5).map { _ in manager.load(.sample) }
        let streams = tasks.map(\.events)
        let waits = tasks.flatMap { task in (0..<3).map { _ in Task { await task.code } } }
        await manager.waitForLoads(5)
        gate.open()
        for wait in waits { #expect(await wait.value == 2005) }
        for events in streams {
            var ends: [Bool] = []
            for await event in events {
                if case .finished = event { ends.append(true) } else { ends.append(false) }
            }
            #expect(ends.filter { $0 }.count == 1 && ends.last == true)
        }
        #expect(loader.requests.count == 1)
    }

    @Test("F-01: Three requests that share a load of three attempts receive all attempts with their error")
    func attempts() async throws {
        let gate = TestGate()
        let server = try LoopbackServer { _ in LoopbackServer.Response.status(503).with { $0.headGate = gate } }
        let fixture = try ManagerFixture { $0.downloader.retry.baseDelay = .zero }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let tasks = (0..<3).map { _ in manager.load(server.url("/a")) }
        await manager.waitForLoads(3)
        gate.open()
        for task in tasks {
            guard case .failure(.network(let failure)) = try? await untilFinished(task) else {
                Issue.record("no network failure")
                continue
            }
            #expect(failure.attempt == 3 && failure.earlier.map(\.statusCode) == [503, 503])
        }
        #expect(server.counters.requests == 3)
    }

    private func untilFinished(_ task: ImageTask) async throws -> Result<ImageResponse, ImageError>? {
        _ = try? await task.response
        return task.result
    }

    @Test("N-03, S-16: Stored data serves new sizes and transformers without a request and without a write")
    func storedOriginal() async throws {
        let loader = StubLoader { _ in Numbered.response(3) }
        var fixture = try ManagerFixture { $0.loaders = [loader] }
        var request = ImageRequest(url: .sample)
        request.caching.waitsUntilStored = true
        #expect(await fixture.manager.load(request).number == 3)
        fixture = try await fixture.restarted { $0.loaders = [loader] }
        await fixture.manager.diskCache?.settle()
        let path = fixture.directory.file("cache/blobs")
        let before = try modified(path)
        for width in 2...7 {
            let other = ImageRequest(
                url: .sample, size: .fit(width: Double(width)), transformers: [.flip(.horizontal), .pad(1)])
            let response = try await fixture.manager.response(for: other)
            #expect(response.image.size.width == width + 2 && response.source == .diskCache)
        }
        await fixture.manager.diskCache?.flush()
        #expect(try modified(path) == before && !before.isEmpty)
        #expect(loader.requests.count == 1)
    }

    /// Returns the inodes and the modification dates of all files below a directory.
    private func modified(_ path: String) throws -> [String: String] {
        let manager = FileManager.default
        return try manager.subpathsOfDirectory(atPath: path).reduce(into: [:]) { result, name in
            let attributes = try manager.attributesOfItem(atPath: "\(path)/\(name)")
            guard attributes[.type] as? FileAttributeType == .typeRegular else { return }
            let inode = attributes[.systemFileNumber] ?? 0
            result[name] = "\(inode) \(attributes[.modificationDate] ?? 0)"
        }
    }

    @Test("N-21: Default transformers and the same transformers in a request share one entry and one run")
    func defaultTransformers() async throws {
        let transformer = CountingTransformer("counting")
        let loader = StubLoader { _ in Numbered.response(1) }
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.transformers = [transformer]
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let explicit = ImageRequest(url: .sample, transformers: [transformer])
        let image = try await manager.image(for: .sample)
        #expect(try await manager.image(for: explicit) === image)
        #expect(manager.cacheKey(for: explicit) == manager.cacheKey(for: ImageRequest(url: .sample)))
        #expect(transformer.runs == 1 && manager.memoryCache.statistics.count == 1)
    }

    @Test("N-32: For requests that join a fast download, the progress never decreases")
    func lateProgress() async throws {
        let parts = (0..<400).map { Data([UInt8(truncatingIfNeeded: $0)]) }
        let loader = ReportingLoader(parts: parts)
        let fixture = try ManagerFixture {
            $0.loaders = [loader]
            $0.downloader.progressInterval = .zero
        }
        defer { withExtendedLifetime(fixture) {} }
        let manager = fixture.manager
        let decreases = await withTaskGroup(of: Bool.self) { group in
            for round in 0..<40 {
                let task = manager.load(.sample)
                group.addTask {
                    var last = 0
                    for await event in task.events {
                        guard case .progress(let progress) = event else { continue }
                        if progress.receivedByteCount < last { return true }
                        last = progress.receivedByteCount
                    }
                    return false
                }
                if round.isMultiple(of: 4) { await Task.yield() }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(decreases == 0)
    }
}

/// A loader that reports its body in parts, yields between them, and then returns data that isn't an image.
private struct ReportingLoader: ImageLoader {
    let parts: [Data]

    func canLoad(_ url: URL) -> Bool { true }

    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        context.reportStart()
        context.reportResponse(HTTPResponseHead(statusCode: 200), expectedByteCount: parts.count)
        for part in parts {
            context.reportData(part)
            await Task.yield()
        }
        return LoadResponse(body: parts.reduce(into: Data()) { $0.append($1) }, url: request.url)
    }
}
