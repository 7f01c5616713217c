// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import WebImage

/// The model of a view that loads an image, which is also the model of `LazyImage`.
///
/// On Apple’s platforms, SwiftUI observes the properties. Here, set ``onChange`` to update the view.
@MainActor
public final class FetchImage {
    /// The result, or `nil` while the image loads.
    public private(set) var result: Result<ImageResponse, any Error>? { didSet { onChange?() } }
    /// The image or its most recent preview.
    public private(set) var imageContainer: ImageContainer? { didSet { onChange?() } }
    /// A Boolean value that indicates whether the image loads.
    public private(set) var isLoading = false { didSet { onChange?() } }
    /// The progress of the download.
    public private(set) var progress = ImageTask.Progress(completed: 0, total: 0) { didSet { onChange?() } }
    /// A closure that’s called after a property changed.
    public var onChange: (() -> Void)?
    /// A closure that’s called when a load starts.
    public var onStart: ((ImageTask) -> Void)?
    /// A closure that’s called with each preview.
    public var onPreview: ((ImageResponse) -> Void)?
    /// A closure that’s called with the result.
    public var onCompletion: ((Result<ImageResponse, any Error>) -> Void)?
    /// The pipeline. The default is ``ImagePipeline/shared``.
    public var pipeline = ImagePipeline.shared
    /// The processors of requests without processors.
    public var processors: [any ImageProcessing] = []
    /// The priority of the load. The default is `nil`, which means that of the request.
    public var priority: ImageRequest.Priority? { didSet { if let priority { task?.priority = priority } } }
    private var task: ImageTask?

    /// Creates a model without an image.
    public init() {}

    isolated deinit { task?.cancel() }

    /// The image or its most recent preview.
    public var image: PlatformImage? { imageContainer?.image }

    /// Loads an image, which cancels the current load. An image in memory is set before this method returns.
    public func load(_ url: URL?) { load(url.map { ImageRequest(url: $0) }) }

    /// Loads an image, which cancels the current load. An image in memory is set before this method returns.
    public func load(_ request: ImageRequest?) {
        reset()
        guard var request else { return finish(.failure(ImagePipeline.Error.imageRequestMissing)) }
        if request.processors.isEmpty { request.processors = processors }
        if let priority { request.priority = priority }
        let task = pipeline.imageTask(with: request)
        self.task = task
        isLoading = true
        onStart?(task)
        task.deliver { [weak self] event in
            guard let self, self.task === task else { return }
            switch event {
            case .progress(let progress): self.progress = progress
            case .preview(let response):
                imageContainer = response.container
                onPreview?(response)
            case .finished(let result): finish(result.mapError { $0 })
            }
        }
    }

    /// Cancels the load and keeps the image.
    public func cancel() {
        task?.cancel()
        task = nil
        isLoading = false
    }

    /// Cancels the load and removes the image.
    public func reset() {
        cancel()
        imageContainer = nil
        result = nil
        progress = ImageTask.Progress(completed: 0, total: 0)
    }

    private func finish(_ result: Result<ImageResponse, any Error>) {
        task = nil
        if case .success(let response) = result { imageContainer = response.container }
        isLoading = false
        self.result = result
        onCompletion?(result)
    }
}

/// Not available.
@available(*, unavailable, message: "SwiftUI isn’t available. Use FetchImage, or WebPicture of WebImageGTK.")
public enum LazyImage {}
