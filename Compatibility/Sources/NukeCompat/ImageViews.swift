// SPDX-License-Identifier: MIT

#if GTK
    import AppleNames
    import Foundation
    import WebImage
    import WebImageGTK
    import WebImageUI

    /// The options of a view.
    public struct ImageLoadingOptions: Sendable {
        /// A transition.
        public struct Transition: Sendable {
            let transition: ImageTransition

            /// Returns a transition that fades to the image. The duration is in seconds.
            public static func fadeIn(duration: TimeInterval) -> Transition {
                Transition(transition: .crossFade(duration: .seconds(duration)))
            }
        }

        /// The options of loads without their own options.
        @MainActor public static var shared = ImageLoadingOptions()

        /// The image that is shown until the image is loaded.
        public var placeholder: PlatformImage?
        /// The image that is shown after a failure.
        public var failureImage: PlatformImage?
        /// The transition to loaded images.
        public var transition: Transition?
        /// A Boolean value that indicates whether the transition runs for images in memory, too.
        public var alwaysTransition = false
        /// A Boolean value that indicates whether the previous image is removed when a load starts.
        public var isPrepareForReuseEnabled = true
        /// A Boolean value that indicates whether previews are shown.
        public var isProgressiveRenderingEnabled = true
        /// The pipeline. The default is `nil`, which means ``ImagePipeline/shared``.
        public var pipeline: ImagePipeline?
        /// The processors of requests without processors.
        public var processors: [any ImageProcessing] = []

        /// Not available.
        @available(*, unavailable, message: "Set the property contentMode of the view.")
        public var contentModes: Any? { nil }
        /// Not available.
        @available(*, unavailable, message: "Use ImageProcessors.Anonymous with a closure that tints images.")
        public var tintColors: Any? { nil }

        /// Creates options.
        public init(
            placeholder: PlatformImage? = nil, transition: Transition? = nil, failureImage: PlatformImage? = nil
        ) {
            self.placeholder = placeholder
            self.transition = transition
            self.failureImage = failureImage
        }
    }

    /// Loads an image and shows it in a view.
    @MainActor
    public func loadImage(
        with url: URL?, options: ImageLoadingOptions = .shared, into view: UIImageView,
        completion: (@MainActor @Sendable (_ result: Result<ImageResponse, ImagePipeline.Error>) -> Void)? = nil
    ) {
        loadImage(with: url.map { ImageRequest(url: $0) }, options: options, into: view, completion: completion)
    }

    /// Loads an image and shows it in a view.
    @MainActor
    public func loadImage(
        with request: ImageRequest?, options: ImageLoadingOptions = .shared, into view: UIImageView,
        progress: (@MainActor @Sendable (_ response: ImageResponse?, _ completed: Int64, _ total: Int64) -> Void)? =
            nil,
        completion: (@MainActor @Sendable (_ result: Result<ImageResponse, ImagePipeline.Error>) -> Void)? = nil
    ) {
        let pipeline = options.pipeline ?? .shared
        var request = request
        if request?.processors.isEmpty == true { request?.processors = options.processors }
        var mapped = request.flatMap { pipeline.request($0) }
        if !options.isProgressiveRenderingEnabled { mapped?.previews = .disabled }
        let placeholder = options.placeholder.map { ImagePlaceholder.image($0.decoded) } ?? .empty
        var viewOptions = ImageViewOptions(
            placeholder: placeholder, transition: options.transition?.transition ?? .none)
        if options.alwaysTransition { viewOptions.transition = viewOptions.transition.forced() }
        viewOptions.failurePlaceholder = options.failureImage.map { .image($0.decoded) }
        viewOptions.keepsCurrentImage = !options.isPrepareForReuseEnabled
        viewOptions.sizing = .originalSize
        viewOptions.manager = pipeline.manager
        var report: (@MainActor @Sendable (Int, Int?) -> Void)?
        if let progress { report = { progress(nil, Int64($0), Int64($1 ?? 0)) } }
        view.view.load(mapped, options: viewOptions, progress: report) { result in
            guard let request else { return completion?(.failure(.imageRequestMissing)) ?? () }
            completion?(result.map { ImageResponse($0, request) }.mapError { ImagePipeline.Error($0) })
        }
    }

    /// Cancels the load of a view.
    @MainActor
    public func cancelRequest(for view: UIImageView) { view.view.cancel() }
#endif
