// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageCodecs
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// A pool of threads for decoding, transforming, and encoding, with one thread per core. This work never runs on
/// Swift's cooperative thread pool. The cost of a job is the size of its decoded pixels in bytes.
typealias WorkerPool = WebImageConcurrency.WorkerPool<WorkerThreadNames.Registration, RequestPriority>

extension WorkerPool {
    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - threads: The number of threads. The default is one per active core.
    ///   - waitingThreads: The number of helper processes for which threads can wait. The default is one per active core.
    ///   - byteBudget: The budget for the decoded pixels of all running jobs, in bytes. A single job can exceed it. The
    ///     default is 512 MiB.
    ///   - waitingLimit: The maximum number of waiting jobs. Further jobs are rejected. The default is 100,000.
    ///   - time: The time source of the watchdog. The default is the system clock.
    convenience init(
        threads: Int = ProcessInfo.processInfo.activeProcessorCount,
        waitingThreads: Int = ProcessInfo.processInfo.activeProcessorCount, byteBudget: Int = 512 << 20,
        waitingLimit: Int = 100_000, time: TimeSource = .system
    ) {
        self.init(
            name: "webimage-worker", threads: threads, waitingThreads: waitingThreads, stackSize: 2 << 20,
            costLimit: byteBudget, waitingLimit: waitingLimit, time: time
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
    ///   - remote: The work of another process for which `body` waits, so that it occupies no thread for work that computes.
    ///     The default is `nil`, which means that `body` computes.
    ///   - limits: The limits of the context for `body`.
    ///   - watched: The timeout of `limits` that applies to `body`, or `nil` for work without a timeout. The
    ///     default is the limit for decoding.
    ///   - extraThreads: The idle threads that `body` may use in addition to its own. The context contains the number of
    ///     threads. The default is none.
    ///   - body: The work.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`, ``ImageError/cancelled`` after the calling Swift task is canceled,
    ///   ``ImageError/RequestFailure/managerShutDown`` after ``close()``, or an ``ImageError/LimitFailure`` of the kind
    ///   overloaded if too many jobs are waiting. If `body` doesn't respond long after its timeout, the kind is that
    ///   of `watched`, and if earlier work on the same subject still occupies threads, the kind is
    ///   ``ImageError/LimitFailure/Kind/unresponsiveThreadCount``.
    func run<Value: Sendable>(
        cost: Int, priority: SharedPriority, remote: RemoteWork? = nil, limits: ImageLimits,
        watched: WatchedWork? = WatchedWork(), extraThreads: ExtraThreads = ExtraThreads(),
        _ body: @escaping @Sendable (ImageProcessingContext) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        let promise = Promise<Result<Value, ImageError>>()
        let flag = CancellationFlag()
        let known = priority.value
        let watch = watched?.watch(limits) { error in
            // The work ends at its next checkpoint, if it has one.
            flag.cancel()
            promise.resolve(.failure(error))
        }
        let id = try enqueue(cost: cost, priority: known, lane: Lane(remote), watch) { [weak self] in
            guard !flag.isCancelled else {
                promise.resolve(.failure(.cancelled))
                return
            }
            func result(_ lent: Int) -> Result<Value, ImageError> {
                do throws(ImageError) {
                    let context = ImageProcessingContext(
                        limits: limits, threadCount: 1 + lent, isCancelled: { flag.isCancelled })
                    return .success(try body(context))
                } catch {
                    return .failure(error)
                }
            }
            // Return the threads before the requester continues.
            let made = self?.withIdleThreads(upTo: extraThreads.limit, cost: extraThreads.byteCount, result)
            promise.resolve(made ?? result(0))
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
        cost: Int, priority: RequestPriority, lane: Lane, _ watch: Watch?, _ work: @escaping @Sendable () -> Void
    ) throws(ImageError) -> Int {
        do throws(Refusal) {
            return try submit(priority, cost: cost, lane: lane, watch: watch) { _ in work() }
        } catch {
            switch error {
            case .closed: throw .request(.managerShutDown)
            case .full(let limit):
                throw .limitExceeded(ImageError.LimitFailure(.overloaded, limit: limit, actual: limit + 1))
            }
        }
    }
}

extension WorkerPool.Lane {
    fileprivate init(_ remote: RemoteWork?) {
        switch remote {
        case nil: self = .computing
        case .images: self = .waiting
        case .documents: self = .waitingLong
        }
    }
}

/// A request for threads in addition to the thread of a job.
struct ExtraThreads: Hashable, Sendable {
    var limit = 0
    /// The charge for each thread, in bytes.
    var byteCount = 0
}

extension ExtraThreads {
    /// Returns the threads from which the decode of an image benefits. `limit` includes the thread of the job.
    init(for probe: ImageInfo?, limit: Int) {
        self.init()
        guard let probe, let area = probe.storedSize.area, limit > 1 else { return }
        switch probe.format {
        case .avif where area >= 4_000_000, .heif where area >= 4_000_000, .jxl where area >= 4_000_000:
            // The libraries divide an image into few parts of a similar size. Their threads use up to 3 MiB for stacks
            // and buffers.
            self.limit = min(limit, 8) - 1
            byteCount = 8 << 20
        case .png where area >= 2_000_000 && area <= PNGCoder.largestAreaForThreads && !probe.isProgressive:
            // The second thread holds decompressed rows, which have up to 4 bytes per pixel.
            self.limit = 1
            byteCount = area * 4
        default: break
        }
    }
}

/// The way in which the watchdog treats a job.
struct WatchedWork: Sendable {
    /// The subject of the job. If unresponsive jobs on it occupy too many threads, further ones are rejected.
    var subject: String?
    /// Whether the limit for encoding applies instead of the limit for decoding.
    var isEncoding = false
    /// A closure that receives the error of an unresponsive job before its requester does.
    var whenLost: (@Sendable (ImageError) -> Void)?

    /// Returns the watch for a job, or `nil` if `limits` don't limit its time. `fail` receives the error of the job.
    func watch(_ limits: ImageLimits, _ fail: @escaping @Sendable (ImageError) -> Void) -> WorkerPool.Watch? {
        let limit = isEncoding ? limits.maxEncodingTime : limits.maxDecodingTime
        guard limit < .unlimited else { return nil }
        return WorkerPool.Watch(subject: subject, limit: limit / .seconds(1)) { [isEncoding, whenLost] seconds in
            let error = ImageError.limitExceeded(
                ImageError.LimitFailure(
                    isEncoding ? .encodingTime : .decodingTime, limit: Int(saturating: limit / .milliseconds(1)),
                    actual: Int(saturating: seconds * 1_000), detail: "the thread doesn’t respond"))
            whenLost?(error)
            fail(error)
        } whenRefused: { refusal in
            fail(
                .limitExceeded(
                    ImageError.LimitFailure(
                        .unresponsiveThreadCount, limit: refusal.limit, actual: refusal.actual,
                        detail: refusal.subject ?? "")))
        }
    }
}

/// The data on which jobs became unresponsive, so that no further thread is lost to the same data. It's limited in time
/// and number. This class is thread-safe.
final class UnresponsiveData: Sendable {
    /// The key of a job. It doesn't contain the source of the data.
    struct Key: Hashable, Sendable {
        let bytes: ContentDigest
        /// The coder, the format, or the transformer.
        let subject: String
        let limits: ImageLimits
        let coders: Int
    }

    private struct Entry {
        let key: Key
        let error: ImageError
        let since: Date
    }

    /// The maximum number of entries. Beyond it, the oldest are removed.
    static let limit = 256
    /// The lifetime of an entry in seconds. It equals that of other invalid data.
    static let lifetime = 3_600.0

    private let entries = Lock<[Entry]>([])
    private let now: @Sendable () -> Date

    init(now: @escaping @Sendable () -> Date) { self.now = now }

    /// Returns the error of an earlier job with an equal key, or `nil` if there is none or it has expired.
    func error(for key: Key) -> ImageError? {
        entries.withLock { entries in
            guard !entries.isEmpty else { return nil }
            let time = now()
            entries.removeAll { !($0.since...$0.since.addingTimeInterval(Self.lifetime)).contains(time) }
            return entries.first { $0.key == key }?.error
        }
    }

    func record(_ error: ImageError, for key: Key) {
        entries.withLock { entries in
            entries.removeAll { $0.key == key }
            entries.append(Entry(key: key, error: error, since: now()))
            if entries.count > Self.limit { entries.removeFirst(entries.count - Self.limit) }
        }
    }

    func removeAll() { entries.withLock { $0 = [] } }
}

/// A priority that can change while work runs.
typealias SharedPriority = ObservableValue<RequestPriority>

/// A coalescer for work that requests share, with the priority and error types of requests.
typealias SharedJobs<Key: Hashable & Sendable, Value: Sendable, Update: Sendable> =
    WebImageConcurrency.SharedJobs<Key, Value, Update, RequestPriority, ImageError>

/// The closure with which a toolkit prepares finished pixels on a background thread, so that the main thread doesn't
/// have to.
final class PixelPostprocessor: Sendable {
    private let action = Lock<(@Sendable (PixelBuffer, ColorCodePoints?) -> Void)?>(nil)

    func set(_ action: @escaping @Sendable (PixelBuffer, ColorCodePoints?) -> Void) {
        self.action.withLock { $0 = action }
    }

    func callAsFunction(_ image: DecodedImage) { action.withLock { $0 }?(image.pixels, image.displayedCodePoints) }

    func callAsFunction(_ pixels: PixelBuffer) { action.withLock { $0 }?(pixels, nil) }
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

    private static func enter() {
        let thread = pthread_self()
        state.withLock { state in
            state.count += 1
            state.names[thread] = "worker \(state.count)"
        }
    }

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
