// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageStore

/// A manager after a restart whose disk cache contains the images 1 to 6. All its reader threads are held while they
/// read the images 1 and 2 for requests in flight.
private final class BusyManager: Sendable {
    let loader: StubLoader
    private let fixture: ManagerFixture
    private let files: BlockingFileSystem
    private let gates: [TestGate]
    private let holders: [ImageTask]

    var manager: ImageManager { fixture.manager }

    init() async throws {
        let loader = StubLoader { Numbered.response(Int($0.url.lastPathComponent) ?? 0) }
        let first = try ManagerFixture { $0.loaders = [loader] }
        for number in 1...6 {
            var request = Self.request(number)
            request.caching.waitsUntilStored = true
            _ = try await first.manager.image(for: request)
        }
        let files = BlockingFileSystem()
        let second = StubLoader { _ in Numbered.response(0) }
        let fixture = try await first.restarted {
            $0.diskCache?.fileSystem = files
            $0.loaders = [second]
        }
        await fixture.manager.diskCache?.settle()
        gates = [1, 2].map { files.block(Self.name($0, fixture)) }
        holders = [1, 2].map { fixture.manager.load(Self.request($0)) }
        (self.loader, self.fixture, self.files) = (second, fixture, files)
        await untilTrue { files.opened.count == 2 }
    }

    static func request(_ number: Int, _ priority: RequestPriority = .normal) -> ImageRequest {
        var request = ImageRequest(url: URL.sample.appending(path: "\(number)"))
        request.priority = priority
        return request
    }

    private static func name(_ number: Int, _ fixture: ManagerFixture) -> String {
        RequestPlan(request(number), fixture.manager.pipeline.defaults).keys.data.fileName
    }

    /// The numbers of the images that were opened for reading, without the first two.
    var read: [Int] {
        files.opened.dropFirst(2).compactMap { name in (1...6).first { Self.name($0, fixture) == name } }
    }

    /// Starts a request and waits until `count` reads wait for a thread. The new read is the last one.
    func load(_ number: Int, _ priority: RequestPriority, waiting count: Int) async -> ImageTask {
        let task = manager.load(Self.request(number, priority))
        await waits(for: count)
        return task
    }

    /// Waits until `count` reads wait for a thread.
    func waits(for count: Int) async {
        await untilTrue { [manager] in manager.diskCache?.readers.waitingCount == count }
    }

    /// The number of requests that joined the lookup of another request.
    var joined: Int { manager.pipeline.cache.sharedCount }

    /// Lets one thread continue. It alone performs the waiting reads, so they run in the order of the queue.
    func releaseOne() { gates[0].open() }

    /// Lets both threads continue and closes the manager.
    func end() async {
        for gate in gates { gate.open() }
        for (index, holder) in holders.enumerated() { #expect(await holder.number == index + 1) }
        #expect(loader.requests.isEmpty)
        await manager.shutdown()
    }
}

@Suite("Requests whose disk reads wait for a thread", .timeLimit(.minutes(5)))
struct DiskReadTests {
    @Test("K-03: The waiting read of a canceled request never reaches the disk")
    func canceled() async throws {
        let busy = try await BusyManager()
        let canceled = await busy.load(3, .normal, waiting: 1)
        let staying = await busy.load(4, .normal, waiting: 2)
        canceled.cancel()
        await busy.waits(for: 1)
        busy.releaseOne()
        #expect(await staying.number == 4)
        #expect(await canceled.code == 1001)
        await busy.end()
        #expect(busy.read == [4])
    }

    @Test("The waiting read of a canceled request stays in the queue if another request needs it")
    func shared() async throws {
        let busy = try await BusyManager()
        let canceled = await busy.load(3, .normal, waiting: 1)
        // The smaller size is another image of the same data.
        var request = BusyManager.request(3)
        request.size = .fit(width: 4)
        let staying = busy.manager.load(request)
        await untilTrue { busy.joined == 1 }
        canceled.cancel()
        busy.releaseOne()
        #expect(try await staying.image.size.width == 4)
        await busy.end()
        #expect(busy.read == [3])
    }

    @Test("Waiting reads run in the order of the priorities of their requests")
    func order() async throws {
        let busy = try await BusyManager()
        let tasks = [
            await busy.load(3, .low, waiting: 1), await busy.load(4, .normal, waiting: 2),
            await busy.load(5, .high, waiting: 3), await busy.load(6, .normal, waiting: 4),
        ]
        busy.releaseOne()
        for (index, task) in tasks.enumerated() { #expect(await task.number == index + 3) }
        #expect(busy.read == [5, 4, 6, 3])
        await busy.end()
    }

    @Test(
        "A waiting read runs first if the priority of its request is raised or an urgent request joins it",
        arguments: [false, true])
    func raised(joins: Bool) async throws {
        let busy = try await BusyManager()
        let normal = await busy.load(3, .normal, waiting: 1)
        let low = await busy.load(4, .low, waiting: 2)
        var urgent: ImageTask?
        if joins {
            var request = BusyManager.request(4, .veryHigh)
            request.size = .fit(width: 4)
            urgent = busy.manager.load(request)
            await untilTrue { busy.joined == 1 }
        } else {
            low.priority = .veryHigh
        }
        busy.releaseOne()
        #expect(await normal.number == 3)
        #expect(await low.number == 4)
        _ = try await urgent?.image
        #expect(busy.read == [4, 3])
        await busy.end()
    }
}
