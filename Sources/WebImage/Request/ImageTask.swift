// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The handle of one running request. It's thread-safe. Releasing the task doesn't stop the work, but ``cancel()``
/// does.
///
/// Tasks are equal if they're the same object.
public final class ImageTask: Sendable, Hashable, Identifiable {
    /// The request of this task.
    public let request: ImageRequest
    let livePriority: SharedPriority

    private struct WeakEventBuffer {
        weak var buffer: EventBuffer?
    }

    private struct State {
        var machine = ImageTaskStateMachine()
        var streams: [Int: WeakEventBuffer] = [:]
        var waiters: [Int: Promise<Result<ImageResponse, ImageError>>] = [:]
        var work: Task<Void, Never>?
        var nextID = 0
        var caches: [ImageCache] = []
        var storing: [Task<Void, Never>] = []
        var whenHeard: (@Sendable () -> Void)?
        var whenFinished: [@Sendable () -> Void] = []
        var reservation: FetchReservation?
    }

    private let state = Lock(State())

    /// Whether the task was finished when it was created, so no work was started for it.
    private let isImmediate: Bool

    init(_ request: ImageRequest) {
        self.request = request
        isImmediate = false
        livePriority = SharedPriority(request.priority)
    }

    init(_ request: ImageRequest, finished result: Result<ImageResponse, ImageError>) {
        self.request = request
        isImmediate = true
        livePriority = SharedPriority(request.priority)
        state.withLock { _ = $0.machine.emit(.finished(result)) }
    }

    /// The priority of the request.
    ///
    /// You can change it while the request runs. Work that several requests share runs at their highest priority.
    public var priority: RequestPriority {
        get { livePriority.value }
        set { livePriority.value = newValue }
    }

    /// The result of the request, or `nil` if the request hasn't finished.
    public var result: Result<ImageResponse, ImageError>? { state.withLock { $0.machine.result } }

    /// The result if the task was finished when it was created, and otherwise `nil`.
    ///
    /// ``result`` can already have a value when the caller receives a task whose load is fast. A view must not treat such a
    /// load as an image from memory, because what it displays would depend on the speed of the machine.
    package var immediateResult: Result<ImageResponse, ImageError>? { isImmediate ? result : nil }

    /// Cancels the request.
    ///
    /// The task finishes immediately with ``ImageError/cancelled``. Work without other subscribers
    /// stops, regardless of its stage. This method never blocks.
    public func cancel() { fail(.cancelled) }

    /// Ends the request like ``cancel()``, but with another error.
    func fail(_ error: ImageError) {
        finish(.failure(error))
        let work = state.withLock { $0.work }
        work?.cancel()
    }

    /// The events of the request, from its current state to `finished`.
    ///
    /// Each call creates an independent stream. Events that a subscriber hasn't received yet are buffered. The buffer
    /// contains only the most recent progress, waiting, and preview event.
    public var events: AsyncStream<ImageTask.Event> {
        let buffer = subscribe()
        return AsyncStream(unfolding: { await buffer.next() }, onCancel: { buffer.end() })
    }

    /// The progress of the download, beginning with the most recent value.
    ///
    /// Each access creates an independent stream, which ends with the request. A slow subscriber receives only the most
    /// recent value. The stream is empty if nothing is downloaded.
    public var progress: AsyncStream<Progress> {
        stream { event in
            guard case .progress(let progress) = event else { return nil }
            return progress
        }
    }

    /// The previews of the running download, if ``ImageRequest/previews`` enables them, and the images of
    /// ``ImageRequest/preliminary``.
    ///
    /// Each access creates an independent stream, which ends with the request. A slow subscriber receives only the most
    /// recent preview. The final image isn't part of the stream.
    public var previews: AsyncStream<DecodedImage> {
        stream { event in
            guard case .preview(let image) = event else { return nil }
            return image
        }
    }

    /// The most recent progress of the download, or `nil` if no data was received.
    public var currentProgress: Progress? { state.withLock { $0.machine.lastProgress } }

    private func stream<Value: Sendable>(
        of value: @escaping @Sendable (ImageTask.Event) -> Value?
    ) -> AsyncStream<Value> {
        let buffer = subscribe()
        return AsyncStream(
            unfolding: {
                while let event = await buffer.next() {
                    if let found = value(event) { return found }
                }
                return nil
            }, onCancel: { buffer.end() })
    }

    private func subscribe() -> EventBuffer {
        let id = state.withLock { state -> Int in
            state.nextID += 1
            return state.nextID
        }
        let buffer = EventBuffer { [weak self] in self?.removeListener(id) }
        state.withLock { state in
            state.streams[id] = WeakEventBuffer(buffer: buffer)
            state.machine.addListener(id)
        }
        deliver()
        let whenHeard = state.withLock { $0.whenHeard }
        whenHeard?()
        return buffer
    }

    /// The response of the request.
    ///
    /// You can await it any number of times. Canceling the Swift task that awaits the response ends only this wait.
    ///
    /// - Throws: An ``ImageError`` if the request fails or the wait is canceled.
    public var response: ImageResponse {
        get async throws(ImageError) {
            let waiter = Promise<Result<ImageResponse, ImageError>>()
            let id = state.withLock { state -> Int in
                state.nextID += 1
                state.waiters[state.nextID] = waiter
                state.machine.addWaiter(state.nextID)
                return state.nextID
            }
            deliver()
            return try await waiter.value { [weak self] in
                self?.removeListener(id)
                waiter.resolve(.failure(.cancelled))
            }
        }
    }

    /// The image of the ``response``.
    ///
    /// - Throws: An ``ImageError`` if the request fails or the wait is canceled.
    public var image: DecodedImage {
        get async throws(ImageError) { try await response.image }
    }

    /// Waits until the request has finished and its cache writes have finished or failed.
    ///
    /// Canceling the Swift task that calls this method ends only the wait for the request.
    public func waitUntilStored() async {
        _ = try? await response
        let (storing, caches) = state.withLock { ($0.storing, $0.caches) }
        for task in storing { await task.value }
        for cache in caches { await cache.flush() }
    }

    /// Returns whether two tasks are the same object.
    public static func == (lhs: ImageTask, rhs: ImageTask) -> Bool { lhs === rhs }

    /// Hashes the identity of the task.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    // MARK: - For the manager

    /// Returns the ``response``. Canceling the calling Swift task also cancels the request unless
    /// ``ImageRequest/continuesAfterCancellation`` is `true`.
    func finished() async throws(ImageError) -> ImageResponse {
        let result = await withTaskCancellationHandler {
            do throws(ImageError) {
                return Result<ImageResponse, ImageError>.success(try await response)
            } catch {
                return Result<ImageResponse, ImageError>.failure(error)
            }
        } onCancel: {
            if !request.continuesAfterCancellation { cancel() }
        }
        return try result.get()
    }

    var isHeard: Bool { state.withLock { !$0.streams.isEmpty } }

    /// Sets the closure that is called whenever a subscriber starts to read ``events``. `nil` removes it.
    func call(whenHeard action: (@Sendable () -> Void)?) {
        state.discard { state in
            defer { state.whenHeard = action }
            return state.whenHeard
        }
    }

    /// Adds the caches that the request can store in. ``waitUntilStored()`` waits for their writes.
    func stores(in caches: [ImageCache]) { state.withLock { $0.caches += caches } }

    /// Makes ``waitUntilStored()`` wait for `task`.
    func follow(_ task: Task<Void, Never>) { state.withLock { $0.storing.append(task) } }

    /// Starts the work of this task through `starter` and finishes the task with its result. If the task was canceled
    /// before its start, `body` receives `false` and must only clean up.
    func start(
        by starter: BatchedTaskStarter,
        _ body: @escaping @Sendable (_ isWanted: Bool) async -> Result<ImageResponse, ImageError>
    ) {
        emit(.started)
        starter.start {
            if self.result == nil { self.run(body) } else { _ = await body(false) }
        }
    }

    private func run(_ body: @escaping @Sendable (_ isWanted: Bool) async -> Result<ImageResponse, ImageError>) {
        follow(work: Task.detached { self.finish(await body(true)) })
    }

    private func follow(work: Task<Void, Never>) {
        let isOver = state.withLock { state -> Bool in
            state.work = work
            return state.machine.result != nil
        }
        if isOver { work.cancel() }
    }

    /// Runs work of this task whose result isn't an ``ImageResponse``, so the task doesn't finish with it.
    ///
    /// ``cancel()`` and the cancellation of the calling Swift task cancel the work. The work has its own Swift task, so
    /// ``cancel()`` doesn't cancel the caller.
    ///
    /// - Throws: The error of `body`, or the error with which the task was ended, such as ``ImageError/cancelled`` after
    ///   ``cancel()``.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        try checkEnd()
        guard !Task.isCancelled else { throw .cancelled }
        let promise = Promise<Result<Value, ImageError>>()
        let work: Task<Void, Never> = Task.immediate {
            do throws(ImageError) {
                promise.resolve(.success(try await body()))
            } catch {
                promise.resolve(.failure(error))
            }
        }
        follow(work: work)
        let outcome = await promise.outcome { work.cancel() }
        try checkEnd()
        return try outcome.get()
    }

    private func checkEnd() throws(ImageError) {
        if case .failure(let error)? = result { throw error }
    }

    func emit(_ event: ImageTask.Event) {
        let taken = state.withLock { $0.machine.emit(event) }
        if taken { deliver() }
    }

    /// Delivers the image of a preliminary request unless something better was delivered.
    func emit(preliminary image: DecodedImage, rank: Int) {
        let taken = state.withLock { $0.machine.emit(preliminary: image, rank: rank) }
        if taken { deliver() }
    }

    func finish(_ result: Result<ImageResponse, ImageError>) {
        emit(.finished(result))
        endReservation()
        let actions = state.withLock { state in
            defer { state.whenFinished = [] }
            return state.whenFinished
        }
        for action in actions { action() }
    }

    /// Keeps a reservation of running loads until the task joins a load or finishes. Call this method before the work
    /// starts.
    func keep(_ reservation: FetchReservation) { state.withLock { $0.reservation = reservation } }

    func endReservation() {
        let reservation = state.withLock { state in
            defer { state.reservation = nil }
            return state.reservation
        }
        reservation?.end()
    }

    /// Calls `action` once after this task has finished, or immediately if it already has.
    func call(whenFinished action: @escaping @Sendable () -> Void) {
        let isFinished = state.withLock { state in
            guard state.machine.result == nil else { return true }
            state.whenFinished.append(action)
            return false
        }
        if isFinished { action() }
    }

    private func removeListener(_ id: Int) {
        state.discard { state in
            state.machine.remove(id)
            return (state.streams.removeValue(forKey: id), state.waiters.removeValue(forKey: id))
        }
    }

    private func deliver() {
        var batch = state.withLock { $0.machine.beginDelivery() }
        while let deliveries = batch {
            for delivery in deliveries { deliver(delivery) }
            batch = state.withLock { $0.machine.continueDelivery() }
        }
    }

    private func deliver(_ delivery: ImageTaskStateMachine.Delivery) {
        switch delivery {
        case .event(let id, let event):
            let buffer = state.withLock { state in
                // Nothing follows the last event, so remove the stream even if its consumer retains it.
                if case .finished = event { return state.streams.removeValue(forKey: id)?.buffer }
                return state.streams[id]?.buffer
            }
            buffer?.put(event)
        case .result(let id, let result):
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.resolve(result)
        }
    }
}

extension ImageTask {
    /// An event of a running request. Each request sends exactly one `finished` event, which is always the last one.
    public enum Event: Sendable {
        /// The request started because the image in memory, if any, couldn't serve it.
        case started
        /// The request waits for the given reason. A progress event or the final event follows.
        case waiting(WaitReason)
        /// The progress of the running download. A slow subscriber receives only the most recent progress event.
        case progress(ImageTask.Progress)
        /// The cached image, which is delivered while the manager revalidates it.
        case cached(ImageResponse)
        /// A preview of the running download, or the image of the ``ImageRequest/preliminary`` request.
        ///
        /// ``ImageMetadata/isPartial`` is `true` for a preview of the download. A slow subscriber receives only the most
        /// recent preview.
        case preview(DecodedImage)
        /// The final result of the request.
        case finished(Result<ImageResponse, ImageError>)
    }
}

extension ImageTask {
    /// The progress of a download.
    public struct Progress: Sendable, Hashable {
        /// The number of bytes of the body that have been received.
        public let receivedByteCount: Int
        /// The size of the whole body, in bytes, or `nil` if the server doesn't report it.
        public let expectedByteCount: Int?

        /// Creates a progress value from sizes in bytes.
        public init(receivedByteCount: Int, expectedByteCount: Int?) {
            self.receivedByteCount = receivedByteCount
            self.expectedByteCount = expectedByteCount
        }

        /// The completed fraction, from 0 to 1, or `nil` if the size of the body is unknown.
        public var fraction: Double? {
            expectedByteCount.map { $0 > 0 ? min(1, Double(receivedByteCount) / Double($0)) : 1 }
        }
    }
}
