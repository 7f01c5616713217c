// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// Loading many images.
extension ImageManager {
    /// Loads the responses for many requests and returns them in the order in which they finish.
    ///
    /// The manager starts the requests in their order, at most `maxConcurrent` at the same time. It starts further
    /// requests only as fast as the stream is read, so a slow reader doesn't fill the memory with images. Ending the
    /// iteration or canceling the Swift task that reads the stream cancels the requests in flight unless
    /// ``ImageRequest/continuesAfterCancellation`` is `true`.
    ///
    /// - Parameters:
    ///   - requests: The requests to load.
    ///   - maxConcurrent: The maximum number of requests in flight. The default is 8.
    /// - Returns: A stream with one element for each request: the request and its response or error.
    public func results(
        for requests: some Sequence<ImageRequest>, maxConcurrent: Int = 8
    ) -> AsyncStream<(request: ImageRequest, result: Result<ImageResponse, ImageError>)> {
        let run = ResultsRun(self, Array(requests), maxConcurrent: max(1, maxConcurrent))
        return AsyncStream(unfolding: { await run.next() }, onCancel: { run.cancel() })
    }
}

/// The requests of one call of ``ImageManager/results(for:maxConcurrent:)``. This class is thread-safe.
private final class ResultsRun: Sendable {
    typealias Item = (request: ImageRequest, result: Result<ImageResponse, ImageError>)

    private struct State {
        var started = 0
        var running: [Int: ImageTask] = [:]
        var isCancelled = false
    }

    private let manager: ImageManager
    private let requests: [ImageRequest]
    private let maxConcurrent: Int
    private let state = Lock(State())
    private let finished: AsyncStream<(index: Int, result: Result<ImageResponse, ImageError>)>
    private let continuation: AsyncStream<(index: Int, result: Result<ImageResponse, ImageError>)>.Continuation

    init(_ manager: ImageManager, _ requests: [ImageRequest], maxConcurrent: Int) {
        self.manager = manager
        self.requests = requests
        self.maxConcurrent = maxConcurrent
        (finished, continuation) = AsyncStream.makeStream()
    }

    deinit { cancel() }

    /// Starts requests up to the limit and returns the next result, or `nil` after the last one.
    func next() async -> Item? {
        while let index = nextIndex() { start(index) }
        guard state.withLock({ !$0.isCancelled && !$0.running.isEmpty }) else { return nil }
        for await (index, result) in finished {
            state.discard { $0.running.removeValue(forKey: index) }
            return (requests[index], result)
        }
        return nil
    }

    func cancel() {
        let running = state.withLock { state in
            defer { state.running = [:] }
            state.isCancelled = true
            return state.running
        }
        for task in running.values where !task.request.continuesAfterCancellation { task.cancel() }
        continuation.finish()
    }

    private func nextIndex() -> Int? {
        state.withLock { state in
            guard !state.isCancelled, state.running.count < maxConcurrent, state.started < requests.count else {
                return nil
            }
            state.started += 1
            return state.started - 1
        }
    }

    private func start(_ index: Int) {
        let task = manager.start(requests[index], showsPreliminary: false).task
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.running[index] = task }
            return state.isCancelled
        }
        if isCancelled { return task.cancel() }
        // Don't capture this object, because its deinitializer cancels the requests.
        Task { [continuation] in
            do throws(ImageError) {
                continuation.yield((index, .success(try await task.response)))
            } catch {
                continuation.yield((index, .failure(error)))
            }
        }
    }
}
