// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import Synchronization
import WebImage

/// The handle of a request, which contains an `ImageTask` of WebImage.
public final class ImageTask: Hashable, Identifiable, Sendable {
    /// The progress of a download, in bytes.
    public struct Progress: Hashable, Sendable {
        /// The number of received bytes.
        public let completed: Int64
        /// The number of expected bytes, or 0 if it’s unknown.
        public let total: Int64

        /// Creates a value.
        public init(completed: Int64, total: Int64) {
            self.completed = completed
            self.total = total
        }

        /// The completed fraction, or 0 if the total is unknown.
        public var fraction: Float { total > 0 ? min(1, Float(completed) / Float(total)) : 0 }

        init(_ progress: WebImage.ImageTask.Progress) {
            self.init(
                completed: Int64(progress.receivedByteCount), total: Int64(progress.expectedByteCount ?? 0))
        }
    }

    /// The state of a request.
    public enum State: Sendable {
        /// The request runs.
        case running
        /// The request was canceled.
        case cancelled
        /// The request finished.
        case completed
    }

    /// An event of a request.
    public enum Event: Sendable {
        /// The progress changed.
        case progress(Progress)
        /// A preview.
        case preview(ImageResponse)
        /// The result, which is the last event.
        case finished(Result<ImageResponse, ImagePipeline.Error>)
    }

    /// The request.
    public let request: ImageRequest
    private let task: WebImage.ImageTask?
    private let cancellation: (@Sendable () -> Void)?
    private let isCancellationRequested = Mutex(false)

    init(_ request: ImageRequest, _ task: WebImage.ImageTask?) {
        self.request = request
        self.task = task
        cancellation = nil
    }

    /// Creates the handle of a request for data.
    init(_ request: ImageRequest, cancel: @escaping @Sendable () -> Void) {
        self.request = request
        task = nil
        cancellation = cancel
    }

    /// The priority, which can change while the request runs.
    public var priority: ImageRequest.Priority {
        get { task.map { ImageRequest.Priority($0.priority) } ?? request.priority }
        set { task?.priority = newValue.mapped }
    }

    /// The current progress.
    public var currentProgress: Progress {
        task?.currentProgress.map { Progress($0) } ?? Progress(completed: 0, total: 0)
    }

    /// A Boolean value that indicates whether the request was canceled.
    public var isCancelled: Bool { isCancellationRequested.withLock { $0 } || state == .cancelled }

    /// The state.
    public var state: State {
        guard let task else { return isCancellationRequested.withLock { $0 } ? .cancelled : .running }
        switch task.result {
        case nil: return .running
        case .failure(.cancelled): return .cancelled
        case .success, .failure: return .completed
        }
    }

    /// Cancels the request.
    public func cancel() {
        isCancellationRequested.withLock { $0 = true }
        task?.cancel()
        cancellation?()
    }

    /// The image. Canceling the Swift task that awaits it cancels the request.
    public var image: PlatformImage { get async throws { try await response.image } }

    /// The response. Canceling the Swift task that awaits it cancels the request.
    public var response: ImageResponse {
        get async throws(ImagePipeline.Error) {
            guard let task else { throw .imageRequestMissing }
            do throws(ImageError) {
                return try await ImageResponse(Self.response(of: task), request)
            } catch {
                throw ImagePipeline.Error(error)
            }
        }
    }

    private static func response(of task: WebImage.ImageTask) async throws(ImageError) -> WebImage.ImageResponse {
        let result: Result<WebImage.ImageResponse, ImageError> = await withTaskCancellationHandler {
            do throws(ImageError) { return .success(try await task.response) } catch { return .failure(error) }
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }

    /// The progress while the request runs.
    public var progress: AsyncStream<Progress> {
        stream { if case .progress(let progress) = $0 { progress } else { nil } }
    }

    /// The previews of the download.
    public var previews: AsyncStream<ImageResponse> {
        stream { if case .preview(let response) = $0 { response } else { nil } }
    }

    /// The events. The stream ends with ``Event/finished(_:)``.
    public var events: AsyncStream<Event> { stream { $0 } }

    private func stream<Element: Sendable>(_ select: @escaping @Sendable (Event) -> Element?) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream<Element>.makeStream()
        guard let events = task?.events else {
            if let element = select(.finished(.failure(.imageRequestMissing))) { continuation.yield(element) }
            continuation.finish()
            return stream
        }
        let forwarding = Task { [request] in
            for await event in events {
                if let event = Self.mapped(event, request), let element = select(event) { continuation.yield(element) }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in forwarding.cancel() }
        return stream
    }

    private static func mapped(_ event: WebImage.ImageTask.Event, _ request: ImageRequest) -> Event? {
        switch event {
        case .progress(let progress): .progress(Progress(progress))
        case .preview(let image): .preview(ImageResponse(image, request, isPreview: true))
        case .finished(let result):
            .finished(result.map { ImageResponse($0, request) }.mapError { ImagePipeline.Error($0) })
        case .started, .waiting, .cached: nil
        }
    }

    /// Delivers the events on the main actor.
    func deliver(to receive: @escaping @MainActor @Sendable (Event) -> Void) {
        guard let task else { return onMain { receive(.finished(.failure(.imageRequestMissing))) } }
        task.deliver { [request] event in if let event = Self.mapped(event, request) { receive(event) } }
    }

    /// Returns whether both handles are the same object.
    public static func == (left: ImageTask, right: ImageTask) -> Bool { left === right }

    /// Hashes the identity of the handle.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ImageRequest.Priority {
    init(_ priority: RequestPriority) {
        switch priority {
        case .veryLow: self = .veryLow
        case .low: self = .low
        case .normal: self = .normal
        case .high: self = .high
        case .veryHigh: self = .veryHigh
        }
    }
}
