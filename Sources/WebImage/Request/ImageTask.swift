// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The handle of one running request. Thread-safe; dropping it does not stop the work, ``cancel()`` does.
public final class ImageTask: Sendable {
    /// What was asked.
    public let request: ImageRequest
    let livePriority: LivePriority

    private struct WeakMailbox {
        weak var mailbox: EventMailbox?
    }

    private struct State {
        var machine = TaskState()
        var streams: [Int: WeakMailbox] = [:]
        var waiters: [Int: Promise<Result<ImageResponse, ImageError>>] = [:]
        var work: Task<Void, Never>?
        var nextID = 0
        var caches: [ImageCache] = []
        var storing: [Task<Void, Never>] = []
        var whenHeard: (@Sendable () -> Void)?
    }

    private let state = Lock(State())

    init(_ request: ImageRequest) {
        self.request = request
        self.livePriority = LivePriority(request.priority)
    }

    /// A task that was over before it began.
    init(_ request: ImageRequest, finished result: Result<ImageResponse, ImageError>) {
        self.request = request
        livePriority = LivePriority(request.priority)
        state.withLock { _ = $0.machine.emit(.finished(result)) }
    }

    /// How soon it is wanted; may be changed while the request runs. Work shared with other requests runs at the
    /// highest priority of all.
    public var priority: RequestPriority {
        get { livePriority.value }
        set { livePriority.value = newValue }
    }

    /// The result once there is one.
    public var result: Result<ImageResponse, ImageError>? { state.withLock { $0.machine.result } }

    /// Gives the request up: the terminal event is ``RequestError/cancelled``, at once. Work that nobody else waits
    /// for ends at whatever stage it is. Never blocks.
    public func cancel() {
        finish(.failure(.request(.cancelled)))
        let work = state.withLock { $0.work }
        work?.cancel()
    }

    /// Everything the request tells, from its present state on; the stream ends after `finished`. Each call makes
    /// an independent stream. What a reader has not taken is kept for it: of progress, waiting and previews the last
    /// one each, of everything else all.
    public var events: AsyncStream<ImageEvent> {
        let id = state.withLock { state -> Int in
            state.nextID += 1
            return state.nextID
        }
        let mailbox = EventMailbox { [weak self] in self?.forget(id) }
        state.withLock { state in
            state.streams[id] = WeakMailbox(mailbox: mailbox)
            state.machine.addListener(id)
        }
        deliver()
        let whenHeard = state.withLock { $0.whenHeard }
        whenHeard?()
        return AsyncStream(unfolding: { await mailbox.next() }, onCancel: { mailbox.end() })
    }

    /// The answer. May be awaited any number of times; cancelling an awaiting Swift task ends that wait only.
    ///
    /// - Throws: why the request failed.
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
                self?.forget(id)
                waiter.resolve(.failure(.request(.cancelled)))
            }
        }
    }

    /// The picture of ``response``.
    ///
    /// - Throws: why the request failed.
    public var image: Image {
        get async throws(ImageError) { try await response.image }
    }

    /// Waits until the request is over and what it stores has been written, or has failed to be.
    public var stored: Void {
        get async {
            _ = try? await response
            let (storing, caches) = state.withLock { ($0.storing, $0.caches) }
            for task in storing { await task.value }
            for cache in caches { await cache.flush() }
        }
    }

    // MARK: - For the manager

    /// ``response``; canceling the calling Swift task cancels the request too, unless that survives it.
    func finished() async throws(ImageError) -> ImageResponse {
        let result = await withTaskCancellationHandler {
            do throws(ImageError) {
                return Result<ImageResponse, ImageError>.success(try await response)
            } catch {
                return Result<ImageResponse, ImageError>.failure(error)
            }
        } onCancel: {
            if !request.survivesOwner { cancel() }
        }
        return try result.get()
    }

    /// Whether anybody reads ``events`` now.
    var isHeard: Bool { state.withLock { !$0.streams.isEmpty } }

    /// Has `action` called whenever somebody begins to read ``events``; nil for nobody.
    func call(whenHeard action: (@Sendable () -> Void)?) {
        // Released after the lock.
        let before = state.withLock { state in
            defer { state.whenHeard = action }
            return state.whenHeard
        }
        _ = before
    }

    /// Names the caches that the request may store in.
    func stores(in caches: [ImageCache]) { state.withLock { $0.caches += caches } }

    /// Has ``stored`` wait for `task`.
    func follow(_ task: Task<Void, Never>) { state.withLock { $0.storing.append(task) } }

    /// Has `starter` run `body` for this task and ends the task with its result. What was given up before its turn came is
    /// told so to `body`, which has to clean up.
    func start(
        by starter: TaskStarter,
        _ body: @escaping @Sendable (_ isWanted: Bool) async -> Result<ImageResponse, ImageError>
    ) {
        emit(.started)
        starter.start {
            if self.result == nil { self.run(body) } else { _ = await body(false) }
        }
    }

    private func run(_ body: @escaping @Sendable (_ isWanted: Bool) async -> Result<ImageResponse, ImageError>) {
        let work = Task.detached { self.finish(await body(true)) }
        let isOver = state.withLock { state -> Bool in
            state.work = work
            return state.machine.result != nil
        }
        if isOver { work.cancel() }
    }

    func emit(_ event: ImageEvent) {
        let taken = state.withLock { $0.machine.emit(event) }
        if taken { deliver() }
    }

    func finish(_ result: Result<ImageResponse, ImageError>) { emit(.finished(result)) }

    private func forget(_ id: Int) {
        // Released after the lock: what goes may own things whose deinit comes back here.
        let released = state.withLock { state in
            state.machine.remove(id)
            return (state.streams.removeValue(forKey: id), state.waiters.removeValue(forKey: id))
        }
        _ = released
    }

    private func deliver() {
        var batch = state.withLock { $0.machine.beginDelivery() }
        while let deliveries = batch {
            for delivery in deliveries { deliver(delivery) }
            batch = state.withLock { $0.machine.continueDelivery() }
        }
    }

    private func deliver(_ delivery: TaskState.Delivery) {
        switch delivery {
        case .event(let id, let event):
            let mailbox = state.withLock { state in
                // After the end nobody is heard any more, also where a stream is kept.
                if case .finished = event { return state.streams.removeValue(forKey: id)?.mailbox }
                return state.streams[id]?.mailbox
            }
            mailbox?.put(event)
        case .result(let id, let result):
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.resolve(result)
        }
    }
}
