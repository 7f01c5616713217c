// SPDX-License-Identifier: MIT

#if GTK
    import AppleNames
    import Foundation
    import WebImage
    import WebImageGTK
    import WebImageUI

    /// A transition of a view.
    public struct SDWebImageTransition: Sendable {
        /// The transition of WebImage.
        public var transition: ImageTransition

        /// Fades to the image.
        public static let fade = SDWebImageTransition(transition: .crossFade())
        /// Flips from the left.
        public static let flipFromLeft = SDWebImageTransition(transition: .flip(from: .left))
        /// Flips from the right.
        public static let flipFromRight = SDWebImageTransition(transition: .flip(from: .right))
        /// Flips from the top.
        public static let flipFromTop = SDWebImageTransition(transition: .flip(from: .top))
        /// Flips from the bottom.
        public static let flipFromBottom = SDWebImageTransition(transition: .flip(from: .bottom))

        /// Returns a transition that fades to the image. The duration is in seconds.
        public static func fade(duration: TimeInterval) -> SDWebImageTransition {
            SDWebImageTransition(transition: .crossFade(duration: .seconds(duration)))
        }

        /// The duration, in seconds.
        public var duration: TimeInterval {
            get { transition.duration.interval }
            set { transition.duration = .seconds(newValue) }
        }

        /// Not available.
        @available(*, unavailable, message: "Use ImageTransition.slide(from:) of WebImage.")
        public static var curlUp: SDWebImageTransition { fade }
        /// Not available.
        @available(*, unavailable, message: "Use ImageTransition.slide(from:) of WebImage.")
        public static var curlDown: SDWebImageTransition { fade }
    }

    /// An indicator of a view.
    public struct SDWebImageIndicator: Sendable {
        /// The indicator of WebImage.
        public let indicator: ImageIndicator
    }

    /// Indicators without progress.
    public enum SDWebImageActivityIndicator {
        /// A spinner.
        public static let medium = SDWebImageIndicator(indicator: .spinner)
        /// A spinner.
        public static let large = SDWebImageIndicator(indicator: .spinner)
        /// A spinner.
        public static let gray = SDWebImageIndicator(indicator: .spinner)
        /// A spinner.
        public static let white = SDWebImageIndicator(indicator: .spinner)
    }

    /// Indicators with progress.
    public enum SDWebImageProgressIndicator {
        /// A ring.
        public static let `default` = SDWebImageIndicator(indicator: .ring)
        /// A bar.
        public static let bar = SDWebImageIndicator(indicator: .bar)
    }

    /// A view that plays animations, as all views of WebImage do.
    public typealias SDAnimatedImageView = UIImageView

    extension WebImageView {
        /// Loads and shows an image.
        ///
        /// - Parameters:
        ///   - url: The URL.
        ///   - placeholder: The image that is shown until the image is loaded.
        ///   - options: The options.
        ///   - context: The context.
        ///   - progressBlock: A closure that’s called during the download.
        ///   - completedBlock: A closure that’s called once, with the image or with the error.
        public func sd_setImage(
            with url: URL?, placeholderImage placeholder: UIImage? = nil, options: SDWebImageOptions = [],
            context: SDWebImageContext? = nil, progress progressBlock: SDImageLoaderProgressBlock?,
            completed completedBlock: SDExternalCompletionBlock?
        ) {
            let manager = context?[.customManager] as? SDWebImageManager ?? .shared
            let slot = (context?[.setImageOperationKey] as? String).map { ImageSlot($0) } ?? .image
            let placeholder = placeholder.map { ImagePlaceholder.image($0.decoded) } ?? .empty
            var view = ImageViewOptions(placeholder: placeholder, transition: sd_imageTransition?.transition ?? .none)
            if options.contains(.forceTransition) { view.transition = view.transition.forced() }
            view.manager = .shared
            view.sizing = .originalSize
            view.delaysPlaceholder = options.contains(.delayPlaceholder)
            view.setsImageAutomatically = !options.contains(.avoidAutoSetImage)
            view.loadsFromDiskSynchronously = options.contains(.queryDiskDataSync)
            view.continuesWhenReplaced = options.contains(.avoidAutoCancelImage)
            var report: (@MainActor @Sendable (Int, Int?) -> Void)?
            if let progressBlock { report = { progressBlock($0, $1 ?? 0, url) } }
            let request = url.flatMap { manager.request(for: $0, options: options, context: context) }
            load(
                request, options: view, slot: slot,
                until: options.contains(.waitTransition) ? .transitionFinished : .loaded,
                progress: report
            ) { result in
                switch result {
                case .success(let response):
                    completedBlock?(UIImage(decoded: response.image), nil, SDImageCacheType(response.source), url)
                case .failure(let error):
                    let failure = url == nil ? SDWebImageError(.invalidURL, error) : SDWebImageError.mapping(error)
                    completedBlock?(nil, failure, .none, url)
                }
            }
        }

        /// Loads and shows an image, and calls a closure with the image or with the error.
        public func sd_setImage(
            with url: URL?, placeholderImage placeholder: UIImage? = nil, options: SDWebImageOptions = [],
            completed completedBlock: SDExternalCompletionBlock?
        ) {
            sd_setImage(
                with: url, placeholderImage: placeholder, options: options, context: nil, progress: nil,
                completed: completedBlock)
        }

        /// Loads and shows an image.
        public func sd_setImage(
            with url: URL?, placeholderImage placeholder: UIImage? = nil, options: SDWebImageOptions = [],
            context: SDWebImageContext? = nil
        ) {
            sd_setImage(
                with: url, placeholderImage: placeholder, options: options, context: context, progress: nil,
                completed: nil)
        }

        /// Loads and shows the image for a state of a button.
        public func sd_setImage(
            with url: URL?, for state: UIControl.State, placeholderImage placeholder: UIImage? = nil,
            options: SDWebImageOptions = [], context: SDWebImageContext? = nil,
            completed completedBlock: SDExternalCompletionBlock? = nil
        ) {
            setImage(with: url, .image(state.buttonState), placeholder, options, context, completedBlock)
        }

        /// Loads and shows the background for a state of a button.
        public func sd_setBackgroundImage(
            with url: URL?, for state: UIControl.State, placeholderImage placeholder: UIImage? = nil,
            options: SDWebImageOptions = [], context: SDWebImageContext? = nil,
            completed completedBlock: SDExternalCompletionBlock? = nil
        ) {
            setImage(with: url, .background(state.buttonState), placeholder, options, context, completedBlock)
        }

        /// Cancels the load of the image for a state of a button.
        public func sd_cancelImageLoad(for state: UIControl.State) { cancel(.image(state.buttonState)) }

        /// Cancels the load of the background for a state of a button.
        public func sd_cancelBackgroundImageLoad(for state: UIControl.State) {
            cancel(.background(state.buttonState))
        }

        /// The URL of the image for a state of a button.
        public func sd_imageURL(for state: UIControl.State) -> URL? { request(of: .image(state.buttonState))?.url }

        /// Loads and shows the image for the highlighted state.
        public func sd_setHighlightedImage(
            with url: URL?, options: SDWebImageOptions = [], context: SDWebImageContext? = nil,
            completed completedBlock: SDExternalCompletionBlock? = nil
        ) {
            sd_setImage(with: url, for: .highlighted, options: options, context: context, completed: completedBlock)
        }

        /// Cancels the load of the image for the highlighted state.
        public func sd_cancelCurrentHighlightedImageLoad() { sd_cancelImageLoad(for: .highlighted) }

        private func setImage(
            with url: URL?, _ slot: ImageSlot, _ placeholder: UIImage?, _ options: SDWebImageOptions,
            _ context: SDWebImageContext?, _ completed: SDExternalCompletionBlock?
        ) {
            var context = context ?? [:]
            context[.setImageOperationKey] = slot.name
            sd_setImage(
                with: url, placeholderImage: placeholder, options: options, context: context, progress: nil,
                completed: completed)
        }

        /// Cancels the load of the view.
        public func sd_cancelCurrentImageLoad() { cancel() }

        /// Cancels the load of the view.
        public func sd_cancelLatestImageLoad() { cancel() }

        /// The URL of the view.
        public var sd_imageURL: URL? { request()?.url }

        /// The transition to loaded images. The default is `nil`.
        public var sd_imageTransition: SDWebImageTransition? {
            get { ViewState.of(widget)["transition"] }
            nonmutating set { ViewState.of(widget)["transition"] = newValue }
        }

        /// The indicator. The default is `nil`.
        public var sd_imageIndicator: SDWebImageIndicator? {
            get { ViewState.of(widget)["indicator"] }
            nonmutating set {
                ViewState.of(widget)["indicator"] = newValue
                indicator = newValue?.indicator ?? .none
            }
        }

        /// The progress of the load.
        public var sd_imageProgress: Progress {
            get {
                if let progress = progress() { return progress }
                let progress = Progress(totalUnitCount: 0)
                setProgress(progress)
                return progress
            }
            nonmutating set { setProgress(newValue) }
        }
    }

    extension WebPicture {
        /// Loads and shows an image, as the method of `WebImageView` with the same name.
        public func sd_setImage(
            with url: URL?, placeholderImage placeholder: UIImage? = nil, options: SDWebImageOptions = [],
            context: SDWebImageContext? = nil, progress progressBlock: SDImageLoaderProgressBlock?,
            completed completedBlock: SDExternalCompletionBlock?
        ) {
            view.sd_setImage(
                with: url, placeholderImage: placeholder, options: options, context: context, progress: progressBlock,
                completed: completedBlock)
        }

        /// Loads and shows an image, and calls a closure with the image or with the error.
        public func sd_setImage(
            with url: URL?, placeholderImage placeholder: UIImage? = nil, options: SDWebImageOptions = [],
            completed completedBlock: SDExternalCompletionBlock?
        ) {
            view.sd_setImage(with: url, placeholderImage: placeholder, options: options, completed: completedBlock)
        }

        /// Loads and shows an image.
        public func sd_setImage(
            with url: URL?, placeholderImage placeholder: UIImage? = nil, options: SDWebImageOptions = [],
            context: SDWebImageContext? = nil
        ) {
            view.sd_setImage(with: url, placeholderImage: placeholder, options: options, context: context)
        }

        /// Loads and shows the image for the highlighted state.
        public func sd_setHighlightedImage(
            with url: URL?, options: SDWebImageOptions = [], context: SDWebImageContext? = nil,
            completed completedBlock: SDExternalCompletionBlock? = nil
        ) {
            view.sd_setHighlightedImage(with: url, options: options, context: context, completed: completedBlock)
        }

        /// Cancels the load of the image for the highlighted state.
        public func sd_cancelCurrentHighlightedImageLoad() { view.sd_cancelCurrentHighlightedImageLoad() }

        /// Cancels the load of the view.
        public func sd_cancelCurrentImageLoad() { view.cancel() }

        /// The URL of the view.
        public var sd_imageURL: URL? { view.sd_imageURL }

        /// The transition to loaded images. The default is `nil`.
        public var sd_imageTransition: SDWebImageTransition? {
            get { view.sd_imageTransition }
            set { view.sd_imageTransition = newValue }
        }

        /// The indicator. The default is `nil`.
        public var sd_imageIndicator: SDWebImageIndicator? {
            get { view.sd_imageIndicator }
            set { view.sd_imageIndicator = newValue }
        }

        /// The progress of the load.
        public var sd_imageProgress: Progress {
            get { view.sd_imageProgress }
            set { view.sd_imageProgress = newValue }
        }
    }
#endif
