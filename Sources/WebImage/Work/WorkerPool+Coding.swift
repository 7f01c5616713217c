// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A pool of threads for decoding, transforming, and encoding, with one thread per core. This work never runs on
/// Swift's cooperative thread pool. The cost of a job is the size of its decoded pixels in bytes.
typealias WorkerPool = WebImageConcurrency.WorkerPool<WorkerThreadNames.Registration, RequestPriority>

extension WorkerPool {
    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - threads: The number of threads. The default is one per active core.
    ///   - byteBudget: The budget for the decoded pixels of all running jobs, in bytes. A single job can exceed it. The
    ///     default is 512 MiB.
    ///   - waitingLimit: The maximum number of waiting jobs. Further jobs are rejected. The default is 100,000.
    convenience init(
        threads: Int = ProcessInfo.processInfo.activeProcessorCount, byteBudget: Int = 512 << 20,
        waitingLimit: Int = 100_000
    ) {
        self.init(
            name: "webimage-worker", threads: threads, stackSize: 2 << 20, costLimit: byteBudget,
            waitingLimit: waitingLimit
        ) { WorkerThreadNames.Registration() }
    }

    /// Runs `body` on a worker thread.
    ///
    /// If the calling Swift task is canceled, a waiting job ends immediately and a running job ends at its next
    /// checkpoint.
    ///
    /// - Parameters:
    ///   - cost: The size of the decoded pixels that `body` needs, in bytes.
    ///   - priority: The live priority, which determines the order in the queue.
    ///   - limits: The limits of the context for `body`.
    ///   - body: The work.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`, ``ImageError/cancelled`` after the calling Swift task is canceled,
    ///   ``ImageError/RequestFailure/managerShutDown`` after ``close()``, or an ``ImageError/LimitFailure`` of the kind
    ///   overloaded if too many jobs are waiting.
    func run<Value: Sendable>(
        cost: Int, priority: SharedPriority, limits: ImageLimits,
        _ body: @escaping @Sendable (ImageProcessingContext) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        let promise = Promise<Result<Value, ImageError>>()
        let flag = CancellationFlag()
        let known = priority.value
        let id = try enqueue(cost: cost, priority: known) {
            guard !flag.isCancelled else {
                promise.resolve(.failure(.cancelled))
                return
            }
            do throws(ImageError) {
                let context = ImageProcessingContext(limits: limits, isCancelled: { flag.isCancelled })
                promise.resolve(.success(try body(context)))
            } catch {
                promise.resolve(.failure(error))
            }
        }
        let token = priority.follow(from: known) { [weak self] in self?.setPriority(id, $0) }
        defer { priority.stopObserving(token) }
        return try await promise.value {
            flag.cancel()
            // A running job ends at its next checkpoint and resolves the promise then, because its memory is in use
            // until that moment.
            if self.withdraw(id) { promise.resolve(.failure(.cancelled)) }
        }
    }

    /// Runs `body`, which takes about a microsecond for every 10 KB that it inspects.
    ///
    /// Short work runs immediately. Longer work runs on a worker thread with a priority above all decodes, so that it
    /// doesn't wait for them.
    func inspect<Value: Sendable>(
        byteCount: Int, limits: ImageLimits,
        _ body: @escaping @Sendable (ImageProcessingContext) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        guard byteCount > Self.maxInlineBytes else { return try body(ImageProcessingContext(limits: limits)) }
        return try await run(cost: 0, priority: SharedPriority(.veryHigh), limits: limits, body)
    }

    /// The maximum number of bytes to inspect on the calling thread, which takes a few tens of microseconds.
    private static var maxInlineBytes: Int { 256 << 10 }

    private func enqueue(
        cost: Int, priority: RequestPriority, _ work: @escaping @Sendable () -> Void
    ) throws(ImageError) -> Int {
        do throws(Refusal) {
            return try submit(priority, cost: cost) { _ in work() }
        } catch {
            switch error {
            case .closed: throw .request(.managerShutDown)
            case .full(let limit):
                throw .limitExceeded(ImageError.LimitFailure(.overloaded, limit: limit, actual: limit + 1))
            }
        }
    }
}

/// A priority that can change while work runs.
typealias SharedPriority = ObservableValue<RequestPriority>

/// A coalescer for work that requests share, with the priority and error types of requests.
typealias SharedJobs<Key: Hashable & Sendable, Value: Sendable, Update: Sendable> =
    WebImageConcurrency.SharedJobs<Key, Value, Update, RequestPriority, ImageError>

/// The closure with which a toolkit prepares finished pixels on a background thread, so that the main thread doesn't
/// have to.
final class PixelPostprocessor: Sendable {
    private let action = Lock<(@Sendable (PixelBuffer) -> Void)?>(nil)

    func set(_ action: @escaping @Sendable (PixelBuffer) -> Void) { self.action.withLock { $0 = action } }

    func callAsFunction(_ pixels: PixelBuffer) { action.withLock { $0 }?(pixels) }
}

/// The names of the worker threads, for observers. The kernel truncates thread names after 15 bytes, and a thread can't
/// read the name that Foundation stores for it.
enum WorkerThreadNames {
    private struct State {
        var count = 0
        var names: [pthread_t: String] = [:]
    }

    private static let state = Lock(State())

    /// An object that gives its thread a name from its creation until its release on the same thread.
    final class Registration {
        init() { WorkerThreadNames.enter() }

        deinit { WorkerThreadNames.unregister() }
    }

    /// Gives the calling thread a name until ``unregister()``.
    private static func enter() {
        let thread = pthread_self()
        state.withLock { state in
            state.count += 1
            state.names[thread] = "worker \(state.count)"
        }
    }

    /// Removes the name of the calling thread, which is about to exit.
    private static func unregister() {
        let thread = pthread_self()
        state.withLock { $0.names[thread] = nil }
    }

    /// The name of the calling thread, or `nil` if it isn't a worker thread.
    static var current: String? {
        let thread = pthread_self()
        return state.withLock { $0.names[thread] }
    }
}
