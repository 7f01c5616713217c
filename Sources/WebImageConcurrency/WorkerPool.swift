// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// A pool of threads for work that must not run on Swift's cooperative pool because it computes for a long time or
/// waits for a disk.
///
/// The priorities of waiting work determine its order and can change. The total cost of all running work stays within a
/// limit. A thread starts when there is work for it. It owns one `Context`, which its work uses without a lock.
///
/// Work that mostly waits for another process has a ``Lane`` of its own, so that it never occupies the threads of work that
/// computes.
///
/// A watchdog checks work with a ``Watch`` once per second while such work runs. If the work is unresponsive, its
/// requester is notified and another thread replaces its thread. The cost of the work remains charged until the lost
/// thread returns and ends.
package final class WorkerPool<Context, Priority: PriorityLevel>: Sendable {
    package typealias Work = @Sendable (Context) -> Void

    /// The reason why the pool rejects work.
    package enum Refusal: Error, Hashable {
        /// The pool is closed.
        case closed
        /// The maximum number of waiting work items is reached.
        case full(limit: Int)
    }

    /// The timeout of work, and the closures that are called instead of its result.
    package struct Watch: Sendable {
        /// The subject of the work, such as the format of the data. If unresponsive work on the subject occupies too
        /// many threads, further work on it is rejected. `nil` means that only the total limit applies.
        package var subject: String?
        /// The timeout in seconds. The watchdog waits longer. See ``WorkerWatchStateMachine/patience(limit:)``.
        package var limit: Double
        /// A closure that is called once if the work is unresponsive, with the time that it has taken, in seconds.
        package var whenLost: @Sendable (Double) -> Void
        /// A closure that is called instead of the work if the work is rejected when its turn comes.
        package var whenRefused: @Sendable (WorkerWatchStateMachine.Refusal) -> Void

        /// Creates a watch.
        package init(
            subject: String?, limit: Double, whenLost: @escaping @Sendable (Double) -> Void,
            whenRefused: @escaping @Sendable (WorkerWatchStateMachine.Refusal) -> Void
        ) {
            self.subject = subject
            self.limit = limit
            self.whenLost = whenLost
            self.whenRefused = whenRefused
        }
    }

    /// The part of the pool in which work runs.
    package enum Lane: Sendable, Hashable, CaseIterable {
        /// Work that computes on its thread.
        case computing
        /// Work that waits for another process, which computes.
        case waiting
        /// Work that waits for another process and that can take as long as its timeout permits, also for small data. The
        /// lane is smaller, so that such work doesn't occupy all processes.
        case waitingLong
    }

    fileprivate struct Entry {
        let lane: Lane
        let cost: Int
        let watch: Watch?
        let work: Work
    }

    /// Work that a thread has taken.
    fileprivate struct Taken {
        let id: Int
        let entry: Entry
        let refusal: WorkerWatchStateMachine.Refusal?
        let startsWatchdog: Bool
    }

    /// The work of a lane.
    fileprivate struct LaneState {
        var queue = PriorityQueue<Int, Priority>()
        let limit: Int
        /// The maximum cost of the running work of this lane.
        let costLimit: Int
        /// The number of running work items, without unresponsive ones.
        var running = 0
        /// The cost of the running work of this lane, including unresponsive work.
        var cost = 0

        var startableCount: Int { min(queue.count, max(0, limit - running)) }
    }

    fileprivate struct State {
        private var computing: LaneState
        private var waiting: LaneState
        private var waitingLong: LaneState
        var entries: [Int: Entry] = [:]
        var nextID = 0
        /// The number of threads, without lost ones.
        var started = 0
        /// The number of threads that were ever started.
        var named = 0
        var idle = 0
        /// The cost of all running work, including unresponsive work.
        var costInFlight = 0
        /// The number of idle threads that running work uses in addition to its own threads.
        var lent = 0
        var isClosed = false
        var runningLimit = Int.max
        var watch: WorkerWatchStateMachine
        /// The watched work and the processor clocks of its threads.
        var watched: [Int: (watch: Watch, lane: Lane, clock: clockid_t?)] = [:]
        var isWatching = false

        /// Creates a state in which each kind of work that waits can have at most half of the total cost.
        init(threads: Int, waitingThreads: Int, costLimit: Int, watch: WorkerWatchStateMachine) {
            computing = LaneState(limit: threads, costLimit: costLimit)
            waiting = LaneState(limit: waitingThreads, costLimit: costLimit / 2)
            waitingLong = LaneState(limit: max(1, waitingThreads - 1), costLimit: costLimit / 2)
            self.watch = watch
        }

        subscript(lane: Lane) -> LaneState {
            get {
                switch lane {
                case .computing: computing
                case .waiting: waiting
                case .waitingLong: waitingLong
                }
            }
            _modify {
                switch lane {
                case .computing: yield &computing
                case .waiting: yield &waiting
                case .waitingLong: yield &waitingLong
                }
            }
        }

        var waitingCount: Int { computing.queue.count + waiting.queue.count + waitingLong.queue.count }
        /// The number of running work items in all lanes, without unresponsive ones.
        var running: Int { computing.running + waiting.running + waitingLong.running }
        /// The number of waiting work items that can start if their costs permit it.
        var startableCount: Int {
            computing.startableCount + waiting.startableCount + waitingLong.startableCount
        }
        /// The maximum number of threads, without lost ones.
        var threadLimit: Int { computing.limit + waiting.limit + waitingLong.limit }
    }

    /// The values that the threads need, which don't retain the pool.
    fileprivate struct Crew: Sendable {
        let name: String
        let stackSize: Int?
        let costLimit: Int
        let time: TimeSource
        let makeContext: @Sendable () -> Context
        let condition: ConditionVariable<State>
    }

    private let waitingLimit: Int
    fileprivate let crew: Crew
    private var condition: ConditionVariable<State> { crew.condition }

    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - name: The name of the threads, to which a number is added.
    ///   - threads: The number of threads for work that computes. The minimum is one.
    ///   - waitingThreads: The maximum number of further threads for each lane of work that waits for other processes. The
    ///     default is the value of `threads`.
    ///   - stackSize: The stack size of the threads in bytes, or `nil` for the default of the system.
    ///   - costLimit: The maximum total cost of all running work. A single work item may exceed it.
    ///   - waitingLimit: The maximum number of waiting work items. Beyond it, the pool rejects work.
    ///   - lostThreads: The limits for threads that unresponsive work occupies.
    ///   - time: The time source of the watchdog.
    ///   - makeContext: A closure that creates the context of a thread on that thread.
    package init(
        name: String, threads: Int, waitingThreads: Int? = nil, stackSize: Int? = nil, costLimit: Int = .max,
        waitingLimit: Int = .max,
        lostThreads: WorkerWatchStateMachine.Limits = WorkerWatchStateMachine.Limits(), time: TimeSource = .system,
        makeContext: @escaping @Sendable () -> Context
    ) {
        self.waitingLimit = waitingLimit
        crew = Crew(
            name: name, stackSize: stackSize, costLimit: costLimit, time: time,
            makeContext: makeContext,
            condition: ConditionVariable(
                State(
                    threads: max(1, threads), waitingThreads: max(1, waitingThreads ?? threads), costLimit: costLimit,
                    watch: WorkerWatchStateMachine(limits: lostThreads))))
    }

    deinit { close() }

    /// Ends the threads after the waiting work is finished. The pool rejects new work.
    package func close() { condition.withLock(wakeAll: true) { $0.isClosed = true } }

    /// Limits the number of work items of each lane that run at the same time, or removes the limit if it's `nil`. Running
    /// work continues.
    package func limit(toThreads limit: Int?) {
        condition.withLock(wakeAll: true) { $0.runningLimit = max(1, limit ?? .max) }
    }

    /// The number of waiting and running work items, without unresponsive ones.
    package var load: Int { condition.withLock { $0.waitingCount + $0.running } }

    /// The number of waiting work items.
    package var waitingCount: Int { condition.withLock { $0.waitingCount } }

    /// The number of threads that unresponsive work occupies.
    package var lostThreadCount: Int { condition.withLock { $0.watch.lostCount } }

    /// The cost of all running work, including unresponsive work.
    package var costInFlight: Int { condition.withLock { $0.costInFlight } }

    /// Runs `body` with the number of threads that work may start in addition to its own thread.
    ///
    /// Work of this pool calls this method. The number is at most the number of threads that are neither running nor
    /// lent, minus the waiting work. Until `body` ends, the threads are lent, and their cost is charged. Lent threads
    /// don't delay later work, so for a short time, more threads can run than the pool has.
    ///
    /// - Parameters:
    ///   - count: The maximum number of threads.
    ///   - cost: The cost of each thread.
    ///   - body: A closure that receives the number of threads, which is often zero, and that starts and ends them.
    package func withIdleThreads<Value, Failure: Error>(
        upTo count: Int, cost: Int = 0, _ body: (Int) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard count > 0 else { return try body(0) }
        let lent = condition.withLock { $0.lend(upTo: count, cost: cost, crew.costLimit) }
        guard lent > 0 else { return try body(0) }
        // Waiting work may fit the cost limit afterward.
        defer {
            condition.withLock(wakeAll: true) {
                $0.lent -= lent
                $0.costInFlight -= lent * cost
            }
        }
        return try body(lent)
    }

    /// The number of threads that running work uses in addition to its own threads.
    package var lentThreadCount: Int { condition.withLock { $0.lent } }

    /// Runs a closure on one of the threads. Returns `nil` if the pool is closed or full.
    package func run<Value: Sendable>(
        _ priority: Priority, cost: Int = 0, _ work: @escaping @Sendable (Context) -> Value
    ) async -> Value? {
        let promise = Promise<Value>()
        do throws(Refusal) {
            try submit(priority, cost: cost) { promise.resolve(work($0)) }
        } catch {
            return nil
        }
        return await promise.outcome {}
    }

    /// Enqueues work and returns its identifier for ``setPriority(_:_:)`` and ``withdraw(_:)``.
    ///
    /// - Parameters:
    ///   - priority: The priority of the work.
    ///   - cost: The cost of the work.
    ///   - lane: The part of the pool in which the work runs. The default is the one for work that computes.
    ///   - watch: The timeout of the work, or `nil` for no limit.
    ///   - work: The work.
    /// - Throws: A ``Refusal`` if the pool is closed or full.
    @discardableResult
    package func submit(
        _ priority: Priority, cost: Int = 0, lane: Lane = .computing, watch: Watch? = nil, _ work: @escaping Work
    ) throws(Refusal) -> Int {
        let place = condition.withLock(wakeOne: true) { state -> Result<(id: Int, thread: Int?), Refusal> in
            // Reject the work because the threads may have ended.
            guard !state.isClosed else { return .failure(.closed) }
            guard state.waitingCount < waitingLimit else { return .failure(.full(limit: waitingLimit)) }
            state.nextID += 1
            state.entries[state.nextID] = Entry(lane: lane, cost: cost, watch: watch, work: work)
            state[lane].queue.push(state.nextID, priority)
            return .success((state.nextID, state.addThread()))
        }
        let (id, thread) = try place.get()
        if let thread { crew.start(thread) }
        return id
    }

    /// Changes the priority of waiting work.
    package func setPriority(_ id: Int, _ priority: Priority) {
        condition.withLock { state in
            if let lane = state.entries[id]?.lane { state[lane].queue.push(id, priority) }
        }
    }

    /// Removes waiting work. Returns `false` if the work isn't waiting.
    package func withdraw(_ id: Int) -> Bool {
        // Release the work after unlocking because a deinitializer of its captures may call this pool again. Wake a
        // thread because the next work may fit the cost limit.
        let removed = condition.withLock(wakeOne: true) { state -> Entry? in
            guard let entry = state.entries.removeValue(forKey: id) else { return nil }
            state[entry.lane].queue.remove(id)
            return entry
        }
        return removed != nil
    }
}

/// The threads and the watchdog.
extension WorkerPool.Crew {
    func start(_ number: Int) {
        #if DEBUG
            if let scheduler = Simulation.current { return scheduler.startThread { self.run(makeContext()) } }
        #endif
        let thread = Thread { self.run(makeContext()) }
        thread.name = "\(name)-\(number)"
        if let stackSize { thread.stackSize = stackSize }
        thread.start()
    }

    private func run(_ context: Context) {
        let clock = ProcessorClock.ofCurrentThread
        var isIdle = false
        while true {
            let taken = condition.wait { state -> ConditionVariable<WorkerPool.State>.Decision<WorkerPool.Taken> in
                if isIdle {
                    state.idle -= 1
                    isIdle = false
                }
                if let next = state.dequeueNext(costLimit, clock: clock, time: time) { return .proceed(next) }
                if state.isClosed, state.waitingCount == 0 { return .stop }
                state.idle += 1
                isIdle = true
                return .wait
            }
            guard let taken else { return }
            if taken.startsWatchdog { Task.detached { await watch() } }
            if let refusal = taken.refusal {
                taken.entry.watch?.whenRefused(refusal)
            } else {
                taken.entry.work(context)
            }
            // Another thread has replaced a lost thread.
            guard condition.withLock(wakeAll: true, { $0.finish(taken) }) else { return }
        }
    }

    /// Checks the running work once per second until no watched work runs.
    private func watch() async {
        while true {
            await time.sleep(seconds: WorkerWatchStateMachine.interval)
            let (lost, thread, isDone) = condition.withLock(wakeAll: true) { state in
                let lost = state.lose(now: time.uptime())
                state.isWatching = state.watch.needsChecks
                return (lost, lost.compactMap { _ in state.addThread() }, !state.isWatching)
            }
            for number in thread { start(number) }
            for (watch, seconds) in lost { watch.whenLost(seconds) }
            guard !isDone else { return }
        }
    }
}

extension WorkerPool.State {
    /// Counts another thread if there is work for it, and returns its number. The caller starts it after unlocking.
    fileprivate mutating func addThread() -> Int? {
        // A woken thread counts as idle until it has taken its work, and that work counts as waiting.
        guard startableCount > idle, started < threadLimit else { return nil }
        started += 1
        named += 1
        return named - 1
    }

    /// Lends idle threads, and returns their number.
    fileprivate mutating func lend(upTo count: Int, cost: Int, _ costLimit: Int) -> Int {
        // Work that waits counts, too, because another process computes for it.
        let idle = min(self[.computing].limit, runningLimit) - running - lent - waitingCount
        let affordable = cost > 0 ? (costLimit - costInFlight) / cost : count
        let number = max(0, min(count, idle, affordable))
        lent += number
        costInFlight += number * cost
        return number
    }

    /// Returns the most urgent work of a lane in which work can start.
    fileprivate mutating func dequeueNext(
        _ costLimit: Int, clock: clockid_t?, time: TimeSource
    ) -> WorkerPool.Taken? {
        for lane in WorkerPool.Lane.allCases {
            guard let id = self[lane].queue.first, let entry = entries[id], canStart(entry, costLimit) else { continue }
            self[lane].queue.remove(id)
            self[lane].running += 1
            self[lane].cost += entry.cost
            entries[id] = nil
            costInFlight += entry.cost
            return begin(id, entry, clock: clock, time: time)
        }
        return nil
    }

    /// If the most urgent work doesn't fit, no other work of the lane starts either. Otherwise, inexpensive work could
    /// delay expensive work indefinitely. For the same reason, one work item of each lane starts regardless of the
    /// costs.
    private func canStart(_ entry: WorkerPool.Entry, _ costLimit: Int) -> Bool {
        let lane = self[entry.lane]
        guard lane.running > 0 else { return true }
        return lane.running < min(lane.limit, runningLimit) && costInFlight + entry.cost <= costLimit
            && lane.cost + entry.cost <= lane.costLimit
    }

    private mutating func begin(
        _ id: Int, _ entry: WorkerPool.Entry, clock: clockid_t?, time: TimeSource
    ) -> WorkerPool.Taken {
        guard let watch = entry.watch else {
            return WorkerPool.Taken(id: id, entry: entry, refusal: nil, startsWatchdog: false)
        }
        if let refusal = self.watch.refusal(of: watch.subject) {
            return WorkerPool.Taken(id: id, entry: entry, refusal: refusal, startsWatchdog: false)
        }
        self.watch.begin(
            id, subject: watch.subject, limit: watch.limit, processor: clock.flatMap(ProcessorClock.seconds),
            now: time.uptime())
        watched[id] = (watch, entry.lane, clock)
        defer { isWatching = true }
        return WorkerPool.Taken(id: id, entry: entry, refusal: nil, startsWatchdog: !isWatching)
    }

    /// Ends work. Returns whether the thread may take other work.
    fileprivate mutating func finish(_ taken: WorkerPool.Taken) -> Bool {
        costInFlight -= taken.entry.cost
        self[taken.entry.lane].cost -= taken.entry.cost
        watched[taken.id] = nil
        guard !watch.end(taken.id) else { return false }
        self[taken.entry.lane].running -= 1
        return true
    }

    /// Removes unresponsive work from the running work, and its threads from the threads of the pool.
    fileprivate mutating func lose(now: Double) -> [(watch: WorkerPool.Watch, seconds: Double)] {
        let clocks = watched.mapValues(\.clock)
        return watch.check(now: now) { id in (clocks[id] ?? nil).flatMap(ProcessorClock.seconds) }.compactMap { loss in
            guard let lost = watched.removeValue(forKey: loss.id) else { return nil }
            self[lost.lane].running -= 1
            started -= 1
            return (lost.watch, loss.seconds)
        }
    }
}

/// The clocks that measure the processor time of threads.
private enum ProcessorClock {
    /// The clock of the calling thread, which other threads can read while the thread exists.
    static var ofCurrentThread: clockid_t? {
        var clock = clockid_t()
        return pthread_getcpuclockid(pthread_self(), &clock) == 0 ? clock : nil
    }

    /// Returns the processor time in seconds, or `nil` if the thread has ended.
    static func seconds(of clock: clockid_t) -> Double? {
        SystemClock.nanoseconds(of: clock).map { Double($0) / 1e9 }
    }
}
