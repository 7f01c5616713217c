// SPDX-License-Identifier: MIT

#if DEBUG && !THREAD_SANITIZER
    import Foundation
    import WebImageConcurrency
    import WebImageManagerTestSupport
    import WebImageTestSupport

    @testable import WebImage

    /// Random requests to a manager in a simulation, and the invariants of the manager.
    ///
    /// The methods run on the first thread of the simulation.
    final class SimulatedWorld: @unchecked Sendable {
        // Safe: Only the current thread of the simulation uses the object. `complaints` and `ends` are locked.
        static let start = 1_800_000_000.0

        private struct Running {
            let task: ImageTask
            let url: Int
            let reads: Int
        }

        private let scheduler: DeterministicScheduler
        private let source: SimulatedSource
        private var manager: ImageManager?
        private var running: [Running] = []
        /// The number of terminal events that each subscriber received.
        private let ends = Shared<[Int]>([])
        let complaints = Shared<[String]>([])
        /// The number of the oldest image of each URL that later requests may receive.
        private let oldest: Shared<[Int]>
        /// A Boolean value that indicates whether every request reaches the network, so that the priorities are known.
        private let checksPriorities: Bool
        private static let costLimit = 4 * 8 * 32

        init(_ scheduler: DeterministicScheduler) {
            self.scheduler = scheduler
            let checksPriorities = scheduler.number(0..<3) == 0
            self.checksPriorities = checksPriorities
            let source = SimulatedSource(scheduler, isReliable: checksPriorities)
            self.source = source
            oldest = Shared((0..<SimulatedSource.urlCount).map { source.number($0) })
            var time = TimeSource(
                now: { Date(timeIntervalSince1970: Self.start + scheduler.now) }, uptime: { scheduler.now })
            time.clock = SimulatedClock(scheduler: scheduler)
            manager = ImageManager { configuration in
                configuration.diskCache = nil
                configuration.time = time
                configuration.now = time.now
                configuration.loaders = [source]
                configuration.cacheTiers = checksPriorities ? [] : [SimulatedTier(scheduler)]
                configuration.downloader.proxy = .disabled
                configuration.revalidationInterval = .zero
                configuration.memoryPressureMonitor = MemoryPressureMonitor(observesSystem: false)
                configuration.memoryCache.costLimit = Self.costLimit
                configuration.memoryCache.entryCostLimit = Self.costLimit
                configuration.workerThreadCount = 2
                configuration.failureLifetime = { _ in nil }
            }
        }

        /// Makes random steps, waits for the end of all work, and checks the invariants.
        func run(steps: Int) {
            for _ in 0..<steps { step() }
            scheduler.areTimersFrozen = false
            scheduler.waitUntilQuiet()
            checkEnd()
            let tasks = running.map { Weak($0.task) }
            running = []
            source.removeLoads()
            scheduler.waitUntilQuiet()
            if tasks.contains(where: { $0.value != nil }) { complain("A task that ended isn't deallocated") }
            weak let manager = manager
            self.manager = nil
            scheduler.waitUntilQuiet()
            if manager != nil { complain("The manager isn't deallocated") }
        }

        private func step() {
            switch scheduler.number(0..<16) {
            case 0..<6: load()
            case 6, 7: cancel()
            case 8, 9: changePriority()
            case 10: source.change(scheduler.number(0..<SimulatedSource.urlCount))
            case 11 where !checksPriorities: removeAll()
            case 12: checkAtRest()
            default: for _ in 0..<scheduler.number(0..<20) { scheduler.pause() }
            }
        }

        private func complain(_ text: String) { complaints.update { $0.append(text) } }

        private func anyPriority() -> RequestPriority {
            RequestPriority.allCases[scheduler.number(0..<RequestPriority.allCases.count)]
        }

        // MARK: - Steps

        private func load() {
            guard let manager else { return }
            let url = scheduler.number(0..<SimulatedSource.urlCount)
            var request = ImageRequest(url: SimulatedSource.urls[url])
            request.priority = anyPriority()
            let sizes: [TargetSize?] = [nil, nil, .fit(width: 4), .fit(width: 2)]
            request.size = sizes[scheduler.number(0..<4)]
            let policies: [CachePolicy] = checksPriorities ? [.reload] : [.http, .http, .cacheFirst, .reload, .refresh]
            request.cachePolicy = policies[scheduler.number(0..<policies.count)]
            if !checksPriorities, scheduler.number(0..<4) == 0 { request.transformers = [.flip(.vertical)] }
            if scheduler.number(0..<4) == 0 { request.includesOriginalData = true }
            let first = oldest.value[url]
            let task = manager.load(request)
            let reads = scheduler.number(0..<3)
            for _ in 0..<reads { read(task) }
            wait(for: task, url, since: first)
            running.append(Running(task: task, url: url, reads: reads))
        }

        private func addSubscriber() -> Int {
            ends.update { ends in
                ends.append(0)
                return ends.count - 1
            }
        }

        private func read(_ task: ImageTask) {
            let id = addSubscriber()
            Task.detached { [self] in
                var (isEnded, last) = (false, 0)
                for await event in task.events {
                    if isEnded { complain("An event follows the end") }
                    switch event {
                    case .finished:
                        isEnded = true
                        ends.update { $0[id] += 1 }
                        if task.result == nil { complain("The task has no result after its end") }
                    case .progress(let progress):
                        if progress.receivedByteCount < last { complain("The progress decreases") }
                        last = progress.receivedByteCount
                    default: break
                    }
                }
            }
        }

        private func wait(for task: ImageTask, _ url: Int, since first: Int) {
            let id = addSubscriber()
            Task.detached { [self] in
                if let response = try? await task.response {
                    let number = Numbered.number(of: response.image)
                    if !SimulatedSource.isValid(number, url, since: first) {
                        complain("URL \(url): image \(number) instead of \(first) or later")
                    }
                    if let data = response.originalData, data != SimulatedSource.bodies[number] {
                        complain("The data differs from the image")
                    }
                    if let width = task.request.size?.width, response.image.size.width != Int(width) {
                        complain("The image has another size")
                    }
                }
                ends.update { $0[id] += 1 }
            }
        }

        private func cancel() {
            guard !running.isEmpty else { return }
            let task = running[scheduler.number(0..<running.count)].task
            task.cancel()
            if task.result == nil { complain("A canceled task has no result") }
        }

        private func changePriority() {
            guard !running.isEmpty else { return }
            running[scheduler.number(0..<running.count)].task.priority = anyPriority()
        }

        /// Changes all images and removes them from the caches. Later requests must not receive the earlier images.
        private func removeAll() {
            guard let manager else { return }
            for url in 0..<SimulatedSource.urlCount { source.change(url) }
            let numbers = (0..<SimulatedSource.urlCount).map { source.number($0) }
            let oldest = oldest
            Task.detached {
                await manager.removeAllCachedImages()
                oldest.update { oldest in oldest = zip(oldest, numbers).map { max($0, $1) } }
            }
        }

        // MARK: - Invariants

        /// Stops the time, waits until all work waits for a timer, and checks the priorities of the loads.
        private func checkAtRest() {
            guard let manager else { return }
            scheduler.areTimersFrozen = true
            scheduler.waitUntilQuiet()
            if manager.memoryCache.statistics.cost > Self.costLimit { complain("The memory cache exceeds its limit") }
            for load in source.activeLoads where checksPriorities {
                let waiting = running.filter { $0.url == load.url && $0.task.result == nil }
                // A canceled load may wait for its timer.
                guard let highest = waiting.map(\.task.priority).max() else { continue }
                let others = source.activeLoads.filter { $0.url == load.url }
                if others.count == 1, load.context.priority != highest {
                    complain("A load has the priority \(load.context.priority) instead of \(highest)")
                }
            }
            scheduler.areTimersFrozen = false
        }

        private func checkEnd() {
            guard let manager else { return }
            if ends.value.contains(where: { $0 != 1 }) { complain("Ends per subscriber: \(ends.value)") }
            if running.contains(where: { $0.task.result == nil }) { complain("A task has no end") }
            if manager.runningJobs != 0 { complain("\(manager.runningJobs) jobs are running") }
            if manager.isRunning || !manager.runningTasks.isEmpty { complain("The manager lists a task that ended") }
            if manager.memoryCache.statistics.cost > Self.costLimit { complain("The memory cache exceeds its limit") }
            let feeds = manager.pipeline.fetch.feeds
            if feeds.count != 0 || feeds.budget.bytesInUse != 0 { complain("A feed remains") }
            if !source.activeLoads.isEmpty { complain("A load remains") }
        }
    }
#endif
