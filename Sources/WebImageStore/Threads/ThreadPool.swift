// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A few threads for blocking work, so that Swift's cooperative pool never waits for a disk. Each thread owns one
/// `Context`, which its jobs may use without a lock. Jobs run in the order they came.
final class ThreadPool<Context>: Sendable {
    typealias Job = @Sendable (Context) -> Void

    private struct State {
        var jobs = FIFO<Job>()
        var isStopped = false
    }

    private final class Core: Sendable {
        let state = Lock(State())
        let wake = DispatchSemaphore(value: 0)

        /// The next job; waits for one, and is nil when the pool is stopped and empty.
        func next() -> Job? {
            while true {
                let (job, isStopped) = state.withLock { ($0.jobs.pop(), $0.isStopped) }
                if let job { return job }
                if isStopped {
                    wake.signal()
                    return nil
                }
                wake.wait()
            }
        }
    }

    private let core = Core()

    /// Starts `count` threads called `name`.
    init(name: String, count: Int, makeContext: @escaping @Sendable () -> Context) {
        for _ in 0..<count {
            let thread = Thread { [core] in
                let context = makeContext()
                while let job = core.next() { job(context) }
            }
            thread.name = name
            thread.start()
        }
    }

    deinit { stop() }

    /// Queues `job`; false once the pool is stopped.
    func submit(_ job: @escaping Job) -> Bool {
        let accepted = core.state.withLock { state -> Bool in
            guard !state.isStopped else { return false }
            state.jobs.push(job)
            return true
        }
        if accepted { core.wake.signal() }
        return accepted
    }

    /// Runs `work` on one of the threads; nil once the pool is stopped.
    func run<Result: Sendable>(_ work: @escaping @Sendable (Context) -> Result) async -> Result? {
        await withCheckedContinuation { continuation in
            if !submit({ continuation.resume(returning: work($0)) }) { continuation.resume(returning: nil) }
        }
    }

    /// Takes no more jobs. The threads end after those they have.
    func stop() {
        core.state.withLock { $0.isStopped = true }
        core.wake.signal()
    }
}
