// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A manager for one test, with its own cache directory and a clock that the test sets.
package final class ManagerFixture: Sendable {
    package let directory: TemporaryDirectory
    package let manager: ImageManager
    private let time: TestTime

    package init(
        directory folder: TemporaryDirectory? = nil, time: TestTime = TestTime(),
        _ configure: (inout ImageManager.Configuration) -> Void = { _ in }
    ) throws {
        let folder = try folder ?? TemporaryDirectory()
        self.directory = folder
        self.time = time
        manager = ImageManager { configuration in
            configuration.diskCache = DiskCache.Configuration(path: folder.file("cache"))
            configuration.now = { time.now }
            configuration.downloader.proxy = .disabled
            // The header fields of the responses alone decide about revalidation. Tests of the interval set their own.
            configuration.revalidationInterval = .zero
            // Other processes on the machine must not cause eviction in tests.
            configuration.memoryPressureMonitor = MemoryPressureMonitor(observesSystem: false)
            configure(&configuration)
        }
    }

    /// The current time of the manager's clock.
    package var now: Date { time.now }

    /// Advances the manager's clock by `seconds`.
    package func pass(seconds: Double) { time.pass(seconds) }

    /// Closes the manager and returns another one with the same directory and clock, as after a restart.
    package func restarted(
        _ configure: (inout ImageManager.Configuration) -> Void = { _ in }
    ) async throws -> ManagerFixture {
        await manager.shutdown()
        return try ManagerFixture(directory: directory, time: time, configure)
    }
}

/// A wall clock that advances only on request. Thread-safe.
package final class TestTime: Sendable {
    private let state = Lock(Date())

    package init() {}

    package var now: Date { state.withLock { $0 } }
    package func pass(_ seconds: Double) { state.withLock { $0 += seconds } }
}

extension ImageTask {
    /// Returns the names of all events except progress and waiting.
    package func eventNames() async -> [String] {
        var names: [String] = []
        for await event in events {
            switch event {
            case .started: names.append("started")
            case .progress, .waiting: break
            case .cached: names.append("cached")
            case .preview: names.append("preview")
            case .finished(.success(let response)): names.append("finished \(response.source)")
            case .finished(.failure(let error)): names.append("failed \(error.code)")
            }
        }
        return names
    }
}

extension ImageManager {
    /// A Boolean value that indicates whether no request has work or resources left.
    package var isAtRest: Bool {
        let feeds = pipeline.fetch.feeds
        return runningJobs == 0 && pipeline.admissions.count == 0 && feeds.count == 0 && feeds.budget.bytesInUse == 0
            && pipeline.inFlight.requestCount == 0 && pipeline.activity.count == 0
    }

    /// Waits until no job holds the data of `request`. Until then, new requests use that data.
    package func letsGo(of request: ImageRequest) async {
        let plan = RequestPlan(request, pipeline.defaults)
        let generation = plan.originalCache.generation(of: plan.keys.data)
        await untilTrue { [pipeline] in pipeline.inFlight.original(for: plan.keys.data, generation) == nil }
    }
}
