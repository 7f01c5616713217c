// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import Testing
import WebImage
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImageServer

/// The number of dropped writes that a test sets.
private final class DropCount: Sendable {
    let value = Lock(0)
}

@Suite("The admission of requests to the image service", .timeLimit(.minutes(3)))
struct AdmissionTests {
    /// An origin whose responses to paths with the word “slow” wait for the gate.
    private func origin(_ gate: TestGate) throws -> LoopbackServer {
        let image = try TestImages.png(5, width: 64, height: 48)
        return try LoopbackServer { request in
            let response = LoopbackServer.Response(headers: ["Cache-Control": "max-age=600"], body: image)
            return request.path.contains("slow") ? response.with { $0.headGate = gate } : response
        }
    }

    private func service(_ handler: ImageServer, workers: Int, queueSize: Int) -> ImageService {
        var configuration = ImageService.Configuration()
        (configuration.workers, configuration.queueSize) = (workers, queueSize)
        configuration.timeout = .seconds(100)
        return ImageService(handler: handler, configuration: configuration, metrics: ServiceMetrics(), log: nil)
    }

    private func send(
        _ service: ImageService, _ target: String, _ headers: HTTPHeaderFields = HTTPHeaderFields(),
        client: String = "127.0.0.1"
    ) async -> ServerResponse {
        let response = Promise<ServerResponse>()
        let call = service.begin(ServerRequest(target: target, headers: headers), peer: client) {
            response.resolve($0)
        }
        let received = await response.outcome {}
        service.end(call, sentBytes: received.body.count, isComplete: true)
        return received
    }

    /// Waits until the metrics contain a line.
    private func wait(for line: String, in service: ImageService) async {
        while true {
            let text = String(decoding: await send(service, "/metrics").body, as: UTF8.self)
            if text.split(separator: "\n").contains(where: { $0 == line }) { return }
            await Task.yield()
        }
    }

    @Test("While a host is slow, requests for other hosts run")
    func otherHosts() async throws {
        let gate = TestGate()
        let (slow, fast) = (try origin(gate), try origin(TestGate()))
        let service = service(try testServer { _ in }, workers: 4, queueSize: 8)
        async let first = send(service, "/_/plain/\(slow.url("/slow1.png"))@png")
        async let second = send(service, "/_/plain/\(slow.url("/slow2.png"))@png")
        async let third = send(service, "/_/plain/\(slow.url("/slow3.png"))@png")
        async let fourth = send(service, "/_/plain/\(slow.url("/slow4.png"))@png")
        await slow.waitForRequests(count: 3)
        await wait(for: "webimage_waiting_requests 1", in: service)
        // The name denotes the same machine, but it's another host.
        let other = await send(service, "/_/plain/http://localhost:\(fast.port)/a.png@png")
        #expect(other.statusCode == 200 && slow.requests.count == 3)
        gate.open()
        let all = await [first, second, third, fourth]
        #expect(all.allSatisfy { $0.statusCode == 200 } && slow.requests.count == 4)
        await wait(for: "webimage_running_requests 0", in: service)
    }

    @Test("While all workers wait, stored results, their revalidations, and invalid URLs have a response")
    func storedResults() async throws {
        let gate = TestGate()
        let origin = try origin(gate)
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let handler = try testServer(
            { _ in },
            manager: { $0.diskCache = DiskCache.Configuration(directory: URL(filePath: directory.path)) })
        let service = service(handler, workers: 1, queueSize: 0)
        let target = "/_/rs:fit:32:32/plain/\(origin.url("/a.png"))@png"
        let loaded = await send(service, target)
        #expect(loaded.statusCode == 200)
        await wait(for: "webimage_running_requests 0", in: service)
        async let slow = send(service, "/_/plain/\(origin.url("/slow.png"))@png")
        await origin.waitForRequests(count: 2)

        let stored = await send(service, target)
        #expect(stored.statusCode == 200 && stored.body == loaded.body)
        #expect(stored.headers["Content-Type"] == "image/png" && stored.headers["ETag"] == loaded.headers["ETag"])
        let tag = try #require(loaded.headers["ETag"])
        #expect(await send(service, target, ["If-None-Match": tag]).statusCode == 304)
        #expect(await send(service, target, ["Range": "bytes=0-3"]).body.count == 4)
        #expect(await send(service, "/_/w:x/plain/\(origin.url("/a.png"))").statusCode == 404)
        // Another result must be processed, so it needs a worker.
        let missing = await send(service, "/_/rs:fit:16:16/plain/\(origin.url("/a.png"))@png")
        #expect(missing.statusCode == 503 && missing.headers["Retry-After"] == "1")
        #expect(origin.requests.count == 2)
        // A stored result belongs to the disk cache, also before it's written.
        await wait(for: "webimage_loads_total{source=\"disk\"} 3", in: service)
        await wait(for: "webimage_loads_total{source=\"memory\"} 0", in: service)
        gate.open()
        #expect(await slow.statusCode == 200)
    }

    @Test("An image in memory doesn't wait for the slow requests of its host")
    func imageInMemory() async throws {
        let gate = TestGate()
        let origin = try origin(gate)
        let service = service(try testServer { _ in }, workers: 4, queueSize: 8)
        let target = "/_/rs:fit:32:32/plain/\(origin.url("/a.png"))@png"
        #expect(await send(service, target).statusCode == 200)
        async let slow = withTaskGroup(of: Int.self) { group in
            for number in 1...4 {
                group.addTask {
                    await send(service, "/_/plain/\(origin.url("/slow\(number).png"))@png").statusCode
                }
            }
            return await group.reduce(into: [Int]()) { $0.append($1) }
        }
        await origin.waitForRequests(count: 4)
        await wait(for: "webimage_waiting_requests 1", in: service)
        #expect(await send(service, target).statusCode == 200)
        #expect(origin.requests.count == 4)
        await wait(for: "webimage_loads_total{source=\"memory\"} 1", in: service)
        gate.open()
        #expect(await slow == [200, 200, 200, 200])
    }

    @Test("Dropped writes of the disk cache are counted, and the log contains them at most once per minute")
    func droppedWrites() async throws {
        let (directory, clock, dropped) = (try TemporaryDirectory(), TestClock(), DropCount())
        let path = directory.file("log")
        try Data().write(to: URL(filePath: path))
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        let log = ServiceLog(descriptor: file.fileDescriptor)
        var configuration = ImageService.Configuration()
        configuration.eventLog = log
        configuration.droppedWrites = {
            DiskCache.DroppedWrites(count: dropped.value.withLock { $0 }, errorNumber: ENOSPC)
        }
        let service = ImageService(
            handler: try testServer { _ in }, configuration: configuration, metrics: ServiceMetrics(), log: nil,
            time: TimeSource(clock))
        for (count, seconds, events) in [(0, 0, 0), (2, 0, 1), (5, 59, 1), (5, 1, 2), (5, 100, 2), (6, 0, 3)] {
            dropped.value.withLock { $0 = count }
            clock.advance(by: .seconds(seconds))
            let metrics = String(decoding: await send(service, "/metrics").body, as: UTF8.self)
            #expect(metrics.contains("\nwebimage_dropped_cache_writes_total \(count)\n"))
            log.flush()
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            #expect(lines.count == events, "\(lines)")
            if let last = lines.last { #expect(last.contains(String(cString: strerror(ENOSPC)))) }
        }
        try file.close()
    }

    @Test("A client that leaves while its request waits frees its place in the queue")
    func vanishedClient() async throws {
        let gate = TestGate()
        let origin = try origin(gate)
        let service = service(try testServer { _ in }, workers: 1, queueSize: 1)
        async let first = send(service, "/_/plain/\(origin.url("/slow1.png"))@png")
        await origin.waitForRequests(count: 1)
        let request = ServerRequest(target: "/_/plain/\(origin.url("/slow2.png"))@png")
        let call = service.begin(request, peer: "127.0.0.1") { _ in }
        await wait(for: "webimage_waiting_requests 1", in: service)
        service.end(call, sentBytes: 0, isComplete: false)
        // A client that leaves during the lookup never waits.
        let early = service.begin(request, peer: "127.0.0.1") { _ in }
        service.end(early, sentBytes: 0, isComplete: false)
        await wait(for: "webimage_waiting_requests 0", in: service)
        gate.open()
        #expect(await first.statusCode == 200)
        #expect(await send(service, "/_/plain/\(origin.url("/a.png"))@png").statusCode == 200)
        await wait(for: "webimage_running_requests 0", in: service)
    }

    @Test("The requests of a group use three quarters of the slots and of the queue, and others use the rest")
    func groups() {
        var queue = FairQueue<Int>(slots: 4, limit: 4)
        #expect(queue.groupSlots == 3 && queue.groupLimit == 3)
        for id in 0..<3 { #expect(queue.add(id, client: "a", group: "slow") == .runs) }
        for id in 3..<6 { #expect(queue.add(id, client: "a", group: "slow") == .waits) }
        #expect(queue.add(6, client: "a", group: "slow") == .rejected)
        // Another client has its turn in the group.
        #expect(queue.add(7, client: "b", group: "slow") == .replaces(5))
        #expect(queue.add(8, client: "a", group: "other") == .runs && queue.add(9, client: "a") == .waits)
        // The slot of the other group can't be used by the group that has all of its slots.
        let next = queue.finish(group: "other")
        #expect(next?.id == 9 && next?.group == nil)
        #expect(queue.finish(group: nil) == nil && queue.runningCount == 3 && queue.waitingCount == 3)
        #expect((0..<6).map { _ in queue.finish(group: "slow")?.id } == [7, 3, 4, nil, nil, nil])
        #expect(queue.runningCount == 0 && queue.waitingCount == 0)
        for slots in 1...9 {
            let queue = FairQueue<Int>(slots: slots, limit: slots)
            #expect(queue.groupSlots >= 1 && (slots == 1 || queue.groupSlots * 4 <= slots * 3 || queue.groupSlots == 1))
        }
    }

    @Test("A delay that another server requests is waited for up to half of the timeout")
    func delays() throws {
        let read = { (arguments: [String]) in
            try ServiceSettings(arguments: arguments, environment: [:], readFile: { _ in "" }).manager.downloader
        }
        let retry = try read(["--open-proxy", "--timeout=8"]).retry
        #expect(retry.maxRetryAfter == .seconds(4) && retry.maxElapsedTime == .seconds(8))
        #expect(try read(["--open-proxy", "--timeout=600"]).retry == RetryPolicy.standard)
    }
}
