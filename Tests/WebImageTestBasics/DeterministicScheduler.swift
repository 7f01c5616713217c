// SPDX-License-Identifier: MIT

#if DEBUG && !THREAD_SANITIZER
    import Dispatch
    import Foundation
    import WebImageConcurrency

    /// A scheduler that runs the threads, the Swift tasks, and the timers of a simulation one at a time.
    ///
    /// Every acquisition and release of a ``Lock``, every wait of a ``ConditionVariable``, every job of the global executor,
    /// and every timer is a scheduling point. The seed alone decides which thread continues there, so it replays a run.
    /// Time passes only when a timer fires.
    package final class DeterministicScheduler: SimulatedScheduler, @unchecked Sendable {
        // Safe: Only the current thread accesses the properties. The semaphores order the accesses of all threads.

        /// A thread, which runs only while it is the current one.
        private final class Member: @unchecked Sendable {
            // Safe: Only the current thread accesses the properties, too.
            let semaphore = DispatchSemaphore(value: 0)
            /// The object that the thread waits for, or `nil` if it can run.
            var blocker: ObjectIdentifier?
            var isIdlePoolThread = false
            var isEnded = false
            /// The number of locks that the thread holds.
            var depth = 0
            /// The number of closures that must not be interrupted.
            var exclusive = 0
        }

        private struct Timer {
            let time: Double
            let id: Int
            let action: @Sendable () -> Void
        }

        private var random: SeededGenerator
        private let switchInterval: Int
        private var members: [Member] = []
        private var current: Member
        private var jobs: [UnownedJob] = []
        private var timers: [Timer] = []
        private var nextTimer = 0
        private var isEnding = false
        private let quiet: Member
        private let ended = DispatchSemaphore(value: 0)
        /// The current time in seconds.
        private(set) package var now = 0.0
        /// A Boolean value that indicates whether timers don't fire.
        package var areTimersFrozen = false
        /// The number of switches between threads.
        private(set) package var switches = 0
        /// A digest of all decisions, which is equal for equal runs.
        private(set) package var digest: UInt64 = 0

        private init(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            switchInterval = [1, 2, 4, 16, 64][Int.random(in: 0..<5, using: &random)]
            self.random = random
            current = Member()
            quiet = Member()
            members = [current]
        }

        /// Runs a closure on the first thread of a simulation. Returns when all threads have ended or wait for each other.
        ///
        /// - Returns: The digest of the decisions, or `nil` if the closure doesn't return because its thread waits
        ///   indefinitely.
        package static func run(
            seed: UInt64, poolThreads: Int = 3, _ body: @escaping @Sendable (DeterministicScheduler) -> Void
        ) -> UInt64? {
            GlobalExecutor.install()
            let scheduler = DeterministicScheduler(seed: seed)
            let first = scheduler.current
            for _ in 0..<poolThreads { scheduler.startPoolThread() }
            let isDone = Reply()
            let thread = Thread {
                Simulation.run(scheduler) {
                    body(scheduler)
                    isDone.value = true
                    scheduler.end(first)
                }
            }
            thread.stackSize = 4 << 20
            thread.start()
            // A thread that waits outside of the simulation never returns.
            guard scheduler.ended.wait(timeout: .now() + .seconds(60)) == .success else { return nil }
            return isDone.value ? scheduler.digest : nil
        }

        private final class Reply: @unchecked Sendable {
            // Safe: The semaphore `ended` orders the accesses.
            var value = false
        }

        // MARK: - Threads

        package func startThread(_ body: @escaping @Sendable () -> Void) {
            let member = Member()
            members.append(member)
            let thread = Thread { [self] in
                member.semaphore.wait()
                Simulation.run(self) {
                    body()
                    end(member)
                }
            }
            thread.stackSize = 2 << 20
            thread.start()
        }

        private func startPoolThread() {
            let member = Member()
            member.isIdlePoolThread = true
            members.append(member)
            let thread = Thread { [self] in
                member.semaphore.wait()
                Simulation.run(self) {
                    while !isEnding {
                        guard !jobs.isEmpty else {
                            leave()
                            continue
                        }
                        member.isIdlePoolThread = false
                        GlobalExecutor.run(jobs.remove(at: choose(jobs.count)))
                        member.isIdlePoolThread = true
                        leave()
                    }
                    end(member)
                }
            }
            thread.stackSize = 4 << 20
            thread.start()
        }

        /// Ends the current thread and lets another one run.
        private func end(_ member: Member) {
            member.isEnded = true
            members.removeAll { $0 === member }
            if let next = pick() {
                resume(next)
            } else {
                endPool()
            }
        }

        /// Ends the idle pool threads one after another, and then the simulation.
        private func endPool() {
            isEnding = true
            if let next = members.first(where: { $0.isIdlePoolThread }) {
                next.isIdlePoolThread = false
                resume(next)
            } else {
                ended.signal()
            }
        }

        private func resume(_ member: Member) {
            current = member
            member.semaphore.signal()
        }

        /// Lets another thread run until the current one is chosen again.
        private func leave() {
            let own = current
            guard let next = pick() else {
                // No thread can run. If this isn't the first thread, the simulation waits indefinitely.
                endPool()
                own.semaphore.wait()
                return
            }
            guard next !== own else { return }
            switches += 1
            resume(next)
            own.semaphore.wait()
        }

        private func choose(_ count: Int) -> Int {
            let choice = count > 1 ? Int.random(in: 0..<count, using: &random) : 0
            digest = (digest ^ UInt64(choice)) &* 0x100_0000_01B3
            return choice
        }

        /// Returns a thread that can run, or `nil`. Fires timers if no thread can run, and sometimes earlier.
        private func pick() -> Member? {
            if isEnding { return members.first { $0.isIdlePoolThread || $0.blocker == nil } }
            while true {
                let canFire = !timers.isEmpty && !areTimersFrozen
                let runnable = members.filter { $0.blocker == nil && (!$0.isIdlePoolThread || !jobs.isEmpty) }
                if !runnable.isEmpty, !canFire || choose(8) != 0 { return runnable[choose(runnable.count)] }
                if canFire {
                    fire()
                } else {
                    // The first thread may wait for this situation.
                    guard let waiting = members.first(where: { $0.blocker == ObjectIdentifier(quiet) }) else {
                        return nil
                    }
                    waiting.blocker = nil
                    return waiting
                }
            }
        }

        private func fire() {
            guard
                let index = timers.indices.min(by: {
                    (timers[$0].time, timers[$0].id) < (timers[$1].time, timers[$1].id)
                })
            else { return }
            let timer = timers.remove(at: index)
            now = max(now, timer.time)
            // The action resumes a task, which adds a job. It must not switch to another thread.
            withoutSwitching(timer.action)
        }

        // MARK: - Scheduling points

        package func willLock() {
            interrupt()
            current.depth += 1
        }

        package func didUnlock(switches: Bool) {
            current.depth -= 1
            if switches { interrupt() }
        }

        /// Lets another thread run, unless the current one holds a lock. Another thread would wait for it outside of the
        /// simulation.
        private func interrupt() {
            guard current.depth == 0, current.exclusive == 0, !isEnding else { return }
            if switchInterval == 1 || choose(switchInterval) == 0 { leave() }
        }

        package func block(on object: ObjectIdentifier) {
            current.blocker = object
            leave()
        }

        package func wake(_ object: ObjectIdentifier, all: Bool) {
            let waiting = members.filter { $0.blocker == object }
            guard !waiting.isEmpty else { return }
            for member in all ? waiting : [waiting[choose(waiting.count)]] { member.blocker = nil }
        }

        package func withoutSwitching(_ body: () -> Void) {
            let own = current
            own.exclusive += 1
            body()
            own.exclusive -= 1
        }

        // MARK: - For the scenario

        /// Lets other threads run until none of them can continue and, unless timers are frozen, no timer is left.
        package func waitUntilQuiet() { block(on: ObjectIdentifier(quiet)) }

        /// Lets other threads run for a while.
        package func pause() { interrupt() }

        /// Calls a closure after a number of simulated seconds.
        package func after(_ seconds: Double, _ action: @escaping @Sendable () -> Void) {
            nextTimer += 1
            timers.append(Timer(time: now + seconds, id: nextTimer, action: action))
        }

        /// Suspends the calling task for a number of simulated seconds or until it's canceled.
        package func sleep(_ seconds: Double) async {
            let promise = Promise<Void>()
            after(seconds) { promise.resolve(()) }
            await promise.outcome { promise.resolve(()) }
        }

        /// Returns a random number of the simulation.
        package func number(_ range: Range<Int>) -> Int { range.lowerBound + choose(range.count) }

        fileprivate func enqueue(_ job: UnownedJob) { jobs.append(job) }
    }

    /// The global executor of Swift's tasks. Jobs that a thread of a simulation enqueues run in the simulation.
    private enum GlobalExecutor {
        private typealias Original = @convention(thin) (UnownedJob) -> Void
        private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

        private static let isInstalled: Bool = {
            guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "swift_task_enqueueGlobal_hook") else {
                return false
            }
            symbol.assumingMemoryBound(to: Optional<Hook>.self).pointee = { job, original in
                if let scheduler = Simulation.current as? DeterministicScheduler {
                    scheduler.enqueue(job)
                } else {
                    original(job)
                }
            }
            return true
        }()

        static func install() { precondition(isInstalled, "The runtime has no hook for its global executor.") }

        /// Runs a job on the current thread as a thread of the global executor would.
        static func run(_ job: UnownedJob) { runJob(job, unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)) }
    }

    @_silgen_name("swift_job_run")
    private func runJob(_ job: UnownedJob, _ executor: UnownedSerialExecutor)
#endif
