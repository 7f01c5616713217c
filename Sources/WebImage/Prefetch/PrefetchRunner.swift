// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// The object that starts the requests that ``PrefetchStateMachine`` selects. This class is thread-safe.
final class PrefetchRunner: Sendable {
    private struct Running {
        let list: Int
        var work: Task<Void, Never>?
        var task: ImageTask?
        let start: Double
    }

    private struct State {
        var table: PrefetchStateMachine
        var running: [Int: Running] = [:]
        var tasks: [Int: PrefetchTask] = [:]
        var feeders: [Int: CheckedContinuation<Void, Never>] = [:]
        var readers: [Int: Task<Void, Never>] = [:]
        /// Whether the prefetcher was released, so no lists follow.
        var isReleased = false
        /// The number of changes of the foreground state. A delayed reaction to an earlier change is ignored.
        var rests = 0
        var estimator = PrefetchPaceEstimator()
        /// The number of times that prefetching began to yield to visible requests.
        var yields = 0
        /// The value of `yields` for which a wait until partial yielding was started.
        var timedYield = 0

        mutating func beginYielding() {
            guard table.yielding == .none else { return }
            table.yielding = .complete
            yields += 1
        }

        /// Returns the number of a wait that the caller must start, or `nil` if none is needed.
        mutating func beginWait() -> Int? {
            guard table.yielding == .complete, timedYield != yields, !tasks.isEmpty else { return nil }
            timedYield = yields
            return yields
        }
    }

    /// The time in seconds after which one item at a time runs in addition to visible requests.
    private static let maxCompleteYield = 0.25

    /// The progress of all lists. It changes only in `reportProgress`.
    let progress = ObservableValue(ImagePrefetcher.Progress())

    private let state: Lock<State>
    private let streams = Lock<[Int: AsyncStream<ImagePrefetcher.Progress>.Continuation]>([:])
    private let manager: ImageManager
    private let resumeDelay: Duration
    private let time: TimeSource
    private let observation = Lock<Int?>(nil)

    init(_ manager: ImageManager, concurrency: Int, resumeDelay: Duration) {
        self.manager = manager
        self.resumeDelay = resumeDelay
        time = manager.configuration.time ?? .system
        state = Lock(State(table: PrefetchStateMachine(concurrency: concurrency)))
        let token = manager.pipeline.foreground.observe { [weak self] in self?.foregroundChanged() }
        observation.withLock { $0 = token }
        if manager.pipeline.foreground.isBusy { foregroundChanged() }
    }

    deinit {
        if let token = observation.withLock({ $0 }) { manager.pipeline.foreground.stopObserving(token) }
    }

    /// The stream ends when the prefetcher is released and all lists are finished.
    var progressStream: AsyncStream<ImagePrefetcher.Progress> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = progress.follow { continuation.yield($0) }
            streams.withLock { $0[number] = continuation }
            continuation.onTermination = { [weak self] _ in
                self?.progress.stopObserving(number)
                self?.streams.discard { $0.removeValue(forKey: number) }
            }
        }
    }

    private func reportProgress() {
        progress.update { $0 = state.withLock { $0.table.progress } }
        guard state.withLock({ $0.isReleased && $0.table.lists.isEmpty }) else { return }
        for stream in streams.withLock({ Array($0.values) }) { stream.finish() }
    }

    /// Ends the streams of the progress as soon as all lists are finished.
    func release() {
        state.withLock { $0.isReleased = true }
        reportProgress()
    }

    /// Adapts the concurrency to the visible requests. After an image was loaded, the user often needs the next one
    /// immediately, so prefetching resumes with full concurrency only after a delay.
    private func foregroundChanged() {
        let foreground = manager.pipeline.foreground
        let (rest, wait) = state.withLock { state -> (Int?, wait: Int?) in
            state.rests += 1
            guard foreground.isBusy else { return (state.rests, nil) }
            state.beginYielding()
            return (nil, state.beginWait())
        }
        if let wait { yieldPartially(after: wait) }
        guard let rest else { return }
        guard resumeDelay > .zero, listCount > 0 else { return endYielding(rest) }
        Task.detached(priority: .utility) { [weak self, resumeDelay, time] in
            await time.sleep(seconds: resumeDelay / .seconds(1))
            self?.endYielding(rest)
        }
    }

    private func endYielding(_ rest: Int) {
        let isOver = state.withLock { state in
            guard state.rests == rest else { return false }
            state.table.yielding = .none
            return true
        }
        if isOver { pump() }
    }

    /// Waits until prefetching has yielded for so long that one item at a time may run.
    private func yieldPartially(after wait: Int) {
        Task.detached(priority: .utility) { [weak self, time] in
            await time.sleep(seconds: Self.maxCompleteYield)
            self?.endWait(wait)
        }
    }

    private func endWait(_ wait: Int) {
        let isOver = state.withLock { state in
            guard state.yields == wait, state.table.yielding == .complete else { return false }
            state.table.yielding = .partial
            return true
        }
        if isOver { pump() }
    }

    var runningCount: Int { state.withLock { $0.table.running } }

    /// The number of lists that aren't finished.
    var listCount: Int { state.withLock { $0.tasks.count } }

    func add(
        _ requests: [ImageRequest], isOpen: Bool, _ destination: ImagePrefetcher.Destination,
        _ priority: RequestPriority
    ) -> (PrefetchTask, list: Int) {
        let (task, id, wait) = state.withLock { state in
            let id = state.table.add(requests, isOpen: isOpen, destination, priority)
            let progress = state.table.lists[id]?.progress ?? PrefetchTask.Progress()
            let task = PrefetchTask(self, list: id, progress, priority)
            state.tasks[id] = task
            return (task, id, state.beginWait())
        }
        if let wait { yieldPartially(after: wait) }
        reportProgress()
        finishIfComplete(id)
        pump()
        return (task, id)
    }

    // MARK: - Sequences

    /// Adds a request to an open list and waits until the list has room for another one. Returns `false` if the list
    /// was canceled.
    func feed(_ request: ImageRequest, to list: Int) async -> Bool {
        guard state.withLock({ $0.table.append(request, to: list) }) else { return false }
        pump()
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                guard let known = state.table.lists[list], known.waiting >= state.table.concurrency else {
                    return false
                }
                state.feeders[list] = continuation
                return true
            }
            if !waits { continuation.resume() }
        }
        return state.withLock { $0.table.lists[list] != nil }
    }

    func close(_ list: Int) {
        let reader = state.withLock { state in
            state.table.close(list)
            return state.readers.removeValue(forKey: list)
        }
        withExtendedLifetime(reader) {}
        reportProgress()
        finishIfComplete(list)
    }

    func follow(_ reader: Task<Void, Never>, of list: Int) {
        let isOpen = state.withLock { state in
            guard state.table.lists[list]?.isOpen == true else { return false }
            state.readers[list] = reader
            return true
        }
        if !isOpen { reader.cancel() }
    }

    private func finishIfComplete(_ list: Int) {
        let ended = state.withLock { state -> (PrefetchTask, PrefetchTask.Progress)? in
            guard let over = state.table.removeIfFinished(list), let task = state.tasks.removeValue(forKey: list) else {
                return nil
            }
            return (task, over.progress)
        }
        if let ended { ended.0.receive(ended.1, isFinished: true) }
    }

    // MARK: - Control

    func set(_ hold: PrefetchStateMachine.SuspensionReason, _ isHeld: Bool) {
        state.withLock { $0.table.set(hold, isHeld) }
        if !isHeld { pump() }
    }

    var suspensionReasons: Set<PrefetchStateMachine.SuspensionReason> { state.withLock { $0.table.suspensionReasons } }

    var pace: PrefetchPace? { state.withLock { $0.estimator.pace } }

    /// Runs up to `concurrency` requests at a time, even if visible requests are in flight. `nil` restores the
    /// configuration.
    func setUrgent(concurrency: Int?) {
        state.withLock { $0.table.setUrgent(concurrency: concurrency) }
        pump()
    }

    func setPaused(_ isPaused: Bool, _ list: Int) {
        state.withLock { $0.table.setPaused(isPaused, list) }
        if !isPaused { pump() }
    }

    func setPriority(_ priority: RequestPriority, _ list: Int) {
        let running = state.withLock { state in
            state.table.setPriority(priority, list)
            return state.running.values.filter { $0.list == list }.compactMap(\.task)
        }
        for task in running { task.priority = priority }
    }

    func cancelAll() { cancel { Array($0.lists.keys) } }

    func cancel(_ lists: [Int]) { cancel { _ in lists } }

    /// Cancels the lists that `selection` returns. All of them leave the table first. Otherwise, the end of an item of one list
    /// could start an item of a list that is about to be canceled.
    private func cancel(_ selection: (PrefetchStateMachine) -> [Int]) {
        let cancelled = state.withLock { state in
            selection(state.table).map { id in
                let works = state.running.values.filter { $0.list == id }.map { ($0.work, $0.task) }
                return (
                    task: state.tasks.removeValue(forKey: id), list: state.table.cancel(id), works: works,
                    feeder: state.feeders.removeValue(forKey: id), reader: state.readers.removeValue(forKey: id)
                )
            }
        }
        for ended in cancelled {
            ended.reader?.cancel()
            for (work, request) in ended.works {
                request?.cancel()
                work?.cancel()
            }
            ended.feeder?.resume()
        }
        reportProgress()
        for ended in cancelled {
            if let task = ended.task, let list = ended.list { task.receive(list.progress, isFinished: true) }
        }
    }

    // MARK: - Work

    private func pump() {
        while true {
            let (item, feeder) = state.withLock { state in
                let item = state.table.next()
                if let item {
                    let now = time.uptime()
                    state.running[item.id] = Running(list: item.list, start: now)
                    state.estimator.start(at: now, isYielding: state.table.isLimited)
                }
                // The list has room for another request of its sequence.
                return (item, item.flatMap { state.feeders.removeValue(forKey: $0.list) })
            }
            feeder?.resume()
            guard let item else { return }
            launch(item)
        }
    }

    private func launch(_ item: PrefetchStateMachine.Item) {
        let work = Task.detached(priority: .utility) { self.finish(item, await self.perform(item)) }
        let isWanted = state.withLock { state in
            guard state.table.lists[item.list] != nil else { return false }
            state.running[item.id]?.work = work
            return true
        }
        // The item already finished, or its list was canceled in the meantime.
        if !isWanted { work.cancel() }
    }

    private func perform(_ item: PrefetchStateMachine.Item) async -> PrefetchStateMachine.Outcome {
        let pipeline = manager.pipeline
        var request = item.request
        request.priority = item.priority
        request.continuesAfterCancellation = false
        let plan = await pipeline.plan(request, isPrefetch: true).verified()
        guard !Task.isCancelled else { return .cancelled }
        if await isThere(plan, item.destination) { return .skipped }
        // If the image in memory is stale, revalidate it instead of loading it again.
        let task =
            item.destination == .memoryCache
            ? pipeline.start(
                plan, known: pipeline.interceptors.interceptsLoads ? nil : pipeline.memory.hit(plan)?.known,
                isPrefetch: true)
            : ImageTask(plan.callerRequest)
        let isWanted = state.withLock { state in
            guard let list = state.table.lists[item.list] else { return false }
            state.running[item.id]?.task = task
            return list.priority == item.priority
        }
        if !isWanted, let priority = state.withLock({ $0.table.lists[item.list]?.priority }) {
            task.priority = priority
        }
        do throws(ImageError) {
            switch item.destination {
            case .memoryCache:
                let response = await withTaskCancellationHandler {
                    do throws(ImageError) {
                        return Result<ImageResponse, ImageError>.success(try await task.response)
                    } catch {
                        return .failure(error)
                    }
                } onCancel: {
                    task.cancel()
                }
                _ = try response.get()
            case .diskCache: try await pipeline.prefetchData(plan, task)
            }
            return .loaded
        } catch {
            return error == .cancelled ? .cancelled : .failed(error)
        }
    }

    /// Returns whether the destination already has the result, so that a request would contact no server.
    private func isThere(_ plan: RequestPlan, _ destination: ImagePrefetcher.Destination) async -> Bool {
        guard plan.policy.usesUnconfirmed else { return false }
        switch destination {
        case .memoryCache:
            guard let hit = manager.pipeline.memory.hit(plan), hit.step.needsNothing else { return false }
            plan.recordResult(hit.image.originalInfo)
            return true
        case .diskCache:
            if plan.isLocal { return true }
            let stored = await manager.pipeline.cache.original(
                plan, plan.originalCache.generation(of: plan.keys.data), priority: SharedPriority(plan.request.priority)
            )
            guard let stored, stored.source === plan.originalCache,
                plan.http.step(for: stored.originalInfo).needsNothing
            else { return false }
            plan.recordResult(stored.originalInfo)
            return true
        }
    }

    private func finish(_ item: PrefetchStateMachine.Item, _ outcome: PrefetchStateMachine.Outcome) {
        let (task, list) = state.withLock { state in
            let now = time.uptime()
            let start = state.running.removeValue(forKey: item.id)?.start
            state.estimator.finish(
                at: now, isYielding: state.table.isLimited, latency: outcome == .loaded ? start.map { now - $0 } : nil)
            let list = state.table.finish(item, outcome)
            let task = state.tasks[item.list]
            if list?.isFinished == true { state.tasks[item.list] = nil }
            return (task, list)
        }
        reportProgress()
        if let task, let list { task.receive(list.progress, isFinished: list.isFinished) }
        pump()
    }
}
