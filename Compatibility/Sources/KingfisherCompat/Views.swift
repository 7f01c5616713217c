// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import WebImage
import WebImageUI

/// A transition of a view.
public enum ImageTransition: Sendable {
    /// No transition.
    case none
    /// Fades to the image. The duration is in seconds.
    case fade(TimeInterval)
    /// Flips from the left. The duration is in seconds.
    case flipFromLeft(TimeInterval)
    /// Flips from the right. The duration is in seconds.
    case flipFromRight(TimeInterval)
    /// Flips from the top. The duration is in seconds.
    case flipFromTop(TimeInterval)
    /// Flips from the bottom. The duration is in seconds.
    case flipFromBottom(TimeInterval)

    var mapped: WebImageUI.ImageTransition {
        switch self {
        case .none: .none
        case .fade(let seconds): .crossFade(duration: .seconds(seconds))
        case .flipFromLeft(let seconds): .flip(from: .left, duration: .seconds(seconds))
        case .flipFromRight(let seconds): .flip(from: .right, duration: .seconds(seconds))
        case .flipFromTop(let seconds): .flip(from: .top, duration: .seconds(seconds))
        case .flipFromBottom(let seconds): .flip(from: .bottom, duration: .seconds(seconds))
        }
    }
}

/// A value with functions of this library under the name `kf`.
public struct KingfisherWrapper<Base> {
    /// The value.
    public let base: Base

    init(_ base: Base) { self.base = base }
}

extension KingfisherWrapper: Sendable where Base: Sendable {}

/// A type with the property `kf`.
public protocol KingfisherCompatible {}

extension KingfisherCompatible {
    /// The functions of this library.
    public var kf: KingfisherWrapper<Self> {
        get { KingfisherWrapper(self) }
        // Without a setter, a program couldn't set properties of `kf`. They change the base, not the wrapper.
        set { _ = newValue }
    }
}

extension UIImage: KingfisherCompatible {}

extension KingfisherWrapper where Base == UIImage {
    /// Returns the image with rounded corners. Lengths are in points.
    @available(*, deprecated, message: "Use RoundCornerImageProcessor.")
    public func image(withRadius radius: Radius, fit size: CGSize) -> UIImage {
        let processor = RoundCornerImageProcessor(radius: radius, targetSize: size)
        return processor.process(item: .image(base), options: KingfisherParsedOptionsInfo(nil)) ?? base
    }

    /// Returns the image as a PNG file.
    public func pngRepresentation() -> Data? { base.pngData() }

    /// Returns the image as a JPEG file.
    public func jpegRepresentation(compressionQuality: CGFloat) -> Data? {
        base.jpegData(compressionQuality: compressionQuality)
    }
}

#if GTK
    import WebImageGTK

    extension WebPicture: KingfisherCompatible {}
    extension WebImageView: KingfisherCompatible {}

    /// A view that plays animations, as all views of WebImage do.
    public typealias AnimatedImageView = UIImageView

    /// The indicator of a view.
    public enum IndicatorType: Sendable {
        /// No indicator.
        case none
        /// A spinner.
        case activity

        /// Not available.
        @available(*, unavailable, message: "Use ImageIndicator.custom(isAnimated:draw:) of WebImageGTK.")
        case image(imageData: Data)
        /// Not available.
        @available(*, unavailable, message: "Use ImageIndicator.custom(isAnimated:draw:) of WebImageGTK.")
        case custom(indicator: Any.Type)
    }

    /// A handle with a view of WebImage.
    @MainActor
    public protocol KingfisherImageView {
        /// The view.
        var webImageView: WebImageView { get }
    }

    extension WebPicture: KingfisherImageView {
        /// The view.
        public var webImageView: WebImageView { view }
    }

    extension WebImageView: KingfisherImageView {
        /// The view itself.
        public var webImageView: WebImageView { self }
    }

    extension KF.Builder {
        /// Loads and shows the image in a view.
        @discardableResult
        public func set(to imageView: some KingfisherImageView & KingfisherCompatible) -> DownloadTask? {
            imageView.kf.setImage(
                with: source, placeholder: placeholder, options: options, progressBlock: progress
            ) { [success, failure] result in
                switch result {
                case .success(let result): success?(result)
                case .failure(let error): failure?(error)
                }
            }
        }

        /// Sets the transition.
        public func transition(_ transition: ImageTransition) -> KF.Builder {
            options.append(.transition(transition))
            return self
        }

        /// Sets a transition that fades. The duration is in seconds.
        public func fade(duration: TimeInterval) -> KF.Builder { transition(.fade(duration)) }

        /// Runs the transition for images in memory, too.
        public func forceTransition(_ enabled: Bool = true) -> KF.Builder {
            if enabled { options.append(.forceTransition) }
            return self
        }
    }

    @MainActor
    extension KingfisherWrapper where Base: KingfisherImageView {
        private var view: WebImageView { base.webImageView }

        /// The indicator. The default is none.
        public var indicatorType: IndicatorType {
            get { ViewState.of(view.widget)["indicatorType"] ?? .none }
            nonmutating set {
                ViewState.of(view.widget)["indicatorType"] = newValue
                if case .activity = newValue { view.indicator = .spinner } else { view.indicator = .none }
            }
        }

        /// Loads and shows the image of a resource.
        @discardableResult
        public func setImage(
            with resource: (any Resource)?, placeholder: KFCrossPlatformImage? = nil,
            options: KingfisherOptionsInfo? = nil, progressBlock: DownloadProgressBlock? = nil,
            completionHandler: KingfisherManager.Completion?
        ) -> DownloadTask? {
            setImage(
                with: resource?.convertToSource(), placeholder: placeholder, options: options,
                progressBlock: progressBlock, completionHandler: completionHandler)
        }

        /// Loads and shows the image of a resource.
        @discardableResult
        public func setImage(
            with resource: (any Resource)?, placeholder: KFCrossPlatformImage? = nil,
            options: KingfisherOptionsInfo? = nil
        ) -> DownloadTask? {
            setImage(with: resource, placeholder: placeholder, options: options, completionHandler: nil)
        }

        /// Loads and shows the image of a source.
        @discardableResult
        public func setImage(
            with source: Source?, placeholder: KFCrossPlatformImage? = nil, options: KingfisherOptionsInfo? = nil
        ) -> DownloadTask? {
            setImage(with: source, placeholder: placeholder, options: options, completionHandler: nil)
        }

        /// Loads and shows the image of a provider.
        @discardableResult
        public func setImage(
            with provider: (any ImageDataProvider)?, placeholder: KFCrossPlatformImage? = nil,
            options: KingfisherOptionsInfo? = nil, progressBlock: DownloadProgressBlock? = nil,
            completionHandler: KingfisherManager.Completion?
        ) -> DownloadTask? {
            setImage(
                with: provider?.convertToSource(), placeholder: placeholder, options: options,
                progressBlock: progressBlock, completionHandler: completionHandler)
        }

        /// Loads and shows the image of a source. An image modifier changes only the image of the completion closure.
        ///
        /// - Returns: A handle without a task of WebImage. Its cancellation cancels the load of the view.
        @discardableResult
        public func setImage(
            with source: Source?, placeholder: KFCrossPlatformImage? = nil, options: KingfisherOptionsInfo? = nil,
            progressBlock: DownloadProgressBlock? = nil, completionHandler: KingfisherManager.Completion?
        ) -> DownloadTask? {
            load(source, .image, placeholder, options, progressBlock, completionHandler)
        }

        private func load(
            _ source: Source?, _ slot: ImageSlot, _ placeholder: KFCrossPlatformImage?,
            _ options: KingfisherOptionsInfo?, _ progressBlock: DownloadProgressBlock?,
            _ completionHandler: KingfisherManager.Completion?
        ) -> DownloadTask? {
            let parsed = KingfisherParsedOptionsInfo(KingfisherManager.shared.defaultOptions + (options ?? []))
            let viewOptions = parsed.viewOptions(placeholder)
            guard let source else {
                view.load(nil, options: viewOptions, slot: slot)
                completionHandler?(.failure(.imageSettingError(reason: .emptySource)))
                return nil
            }
            let load = ViewLoad(
                view: view, slot: slot, source: source, modifier: parsed.modifier, progress: progressBlock,
                completion: completionHandler)
            let request = parsed.request(for: source)
            guard let modifier = parsed.requestModifier else {
                load.start(request, viewOptions)
                return load.handle
            }
            Task {
                guard let modified = await modifier.modified(for: URLRequest(url: request.url)) else {
                    completionHandler?(.failure(.requestError(reason: .emptyRequest)))
                    return
                }
                var request = request
                request.apply(modified)
                load.start(request, viewOptions)
            }
            return load.handle
        }

        /// Loads and shows the image of a resource. Canceling the current task doesn’t cancel the load.
        @discardableResult
        public func setImage(
            with resource: (any Resource)?, placeholder: KFCrossPlatformImage? = nil,
            options: KingfisherOptionsInfo? = nil
        ) async throws -> RetrieveImageResult {
            try await withCheckedThrowingContinuation { continuation in
                setImage(
                    with: resource, placeholder: placeholder, options: options,
                    completionHandler: { continuation.resume(with: $0) })
            }
        }

        /// Loads and shows the image for a state of a button.
        @discardableResult
        public func setImage(
            with resource: (any Resource)?, for state: UIControl.State, placeholder: KFCrossPlatformImage? = nil,
            options: KingfisherOptionsInfo? = nil, completionHandler: KingfisherManager.Completion? = nil
        ) -> DownloadTask? {
            load(
                resource?.convertToSource(), .image(state.buttonState), placeholder, options, nil, completionHandler)
        }

        /// Loads and shows the background for a state of a button.
        @discardableResult
        public func setBackgroundImage(
            with resource: (any Resource)?, for state: UIControl.State, placeholder: KFCrossPlatformImage? = nil,
            options: KingfisherOptionsInfo? = nil, completionHandler: KingfisherManager.Completion? = nil
        ) -> DownloadTask? {
            load(
                resource?.convertToSource(), .background(state.buttonState), placeholder, options, nil,
                completionHandler)
        }

        /// Cancels the load of the view.
        public func cancelDownloadTask() { view.cancel() }

        /// Not available.
        @available(*, unavailable, message: "Use WebImageView.request(of:) of WebImageGTK.")
        public var taskIdentifier: UInt? { nil }
    }

    /// A load of a view.
    @MainActor
    private final class ViewLoad {
        let handle: DownloadTask
        private let view: WebImageView
        private let slot: ImageSlot
        private let source: Source
        private let modifier: (any ImageModifier)?
        private let progress: DownloadProgressBlock?
        private let completion: KingfisherManager.Completion?

        init(
            view: WebImageView, slot: ImageSlot, source: Source, modifier: (any ImageModifier)?,
            progress: DownloadProgressBlock?,
            completion: KingfisherManager.Completion?
        ) {
            self.view = view
            self.slot = slot
            self.source = source
            self.modifier = modifier
            self.progress = progress
            self.completion = completion
            let key = source.cacheKey
            handle = DownloadTask {
                onMain {
                    if view.request(of: slot)?.caching.key ?? view.request(of: slot)?.url.absoluteString == key {
                        view.cancel(slot)
                    }
                }
            }
        }

        func start(_ request: ImageRequest, _ options: ImageViewOptions) {
            guard !handle.isCancelled else {
                completion?(.failure(.requestError(reason: .taskCancelled)))
                return
            }
            var report: (@MainActor @Sendable (Int, Int?) -> Void)?
            if let progress { report = { if let total = $1 { progress(Int64($0), Int64(total)) } } }
            view.load(request, options: options, slot: slot, progress: report) { [self] result in
                switch result {
                case .success(let response):
                    let alternatives = request.network.alternativeURLs
                    let result = RetrieveImageResult(response, source, modifier, alternatives: alternatives)
                    completion?(.success(result))
                case .failure(.cancelled) where view.snapshot(of: slot).state != .cancelled:
                    completion?(.failure(.imageSettingError(reason: .notCurrentSourceTask(source: source))))
                case .failure(let error):
                    let hasAlternatives = !request.network.alternativeURLs.isEmpty
                    completion?(.failure(KingfisherError(error, source, hasAlternatives: hasAlternatives)))
                }
            }
        }
    }
#endif
