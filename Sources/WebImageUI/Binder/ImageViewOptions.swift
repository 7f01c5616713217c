// SPDX-License-Identifier: MIT

import WebImage
import WebImageCore

/// The options that control how a view displays the image that it's bound to. They're a value, so you can change a copy
/// freely.
public struct ImageViewOptions: Sendable {
    /// A closure that receives the content of a binding.
    public typealias PresentationHandler = @MainActor (ImageBinder.Presentation) -> Void

    /// The handling of a running load after the view leaves the screen.
    public enum OffscreenBehavior: Sendable, Hashable {
        /// Cancels the load and restarts it when the view returns. While the view is off screen, it starts no loads.
        /// This is the default.
        case cancel
        /// Continues the load at the given priority.
        case lowerPriority(to: RequestPriority)
        /// Continues the load without changes.
        case `continue`
    }

    /// The placeholder that the view shows until an image is available.
    ///
    /// The default is ``ImagePlaceholder/empty``, which empties the view.
    public var placeholder = ImagePlaceholder.empty
    /// A Boolean value that indicates whether ``placeholder`` appears only after the load has ended without an image.
    ///
    /// During the load, the view keeps its content. The placeholder appears when the load fails, unless there's a
    /// ``failurePlaceholder``, and when the load is canceled by ``ImageBinder/cancel()``. It doesn't replace an image
    /// that ``keepsCurrentImage`` keeps, nor a preview or a cached image of the binding. If the view is bound again, the
    /// placeholder of the previous binding doesn't appear. The default is `false`.
    public var delaysPlaceholder = false
    /// A Boolean value that indicates whether the current image remains until the new one is available, instead of the
    /// placeholder. The default is `false`.
    public var keepsCurrentImage = false
    /// A Boolean value that indicates whether the view shows the same image in another size, if it's in memory, instead
    /// of the placeholder. The default is `true`.
    public var usesCachedPlaceholder = true
    /// A Boolean value that indicates whether binding also reads the disk cache and decodes the image **on the calling
    /// thread** before it returns.
    ///
    /// Use this option for an image that must be in the first frame, but never for lists. The default is `false`.
    public var loadsFromDiskSynchronously = false
    /// The placeholder that the view shows after a load fails.
    ///
    /// The default is `nil`, which means that the view keeps its content. If it would be empty, it shows
    /// ``ImagePlaceholder/missingImage``, except in the slots of states and backgrounds. ``ImagePlaceholder/empty`` empties
    /// the view.
    public var failurePlaceholder: ImagePlaceholder?
    /// The placeholder that the view shows if it has no URL.
    ///
    /// The default is `nil`, which means ``placeholder``. ``ImagePlaceholder/empty`` empties the view.
    public var fallback: ImagePlaceholder?
    /// The transition to the image if it wasn't in memory. The default is no transition.
    public var transition = ImageTransition.none
    /// The transition to previews. The default is no transition.
    public var previewTransition = ImageTransition.none
    /// The rule that derives the size to decode to from the bounds of the view, for requests without a size. The
    /// default is ``ImageViewOptions/AutomaticSizing/fit``.
    public var sizing = ImageViewOptions.AutomaticSizing.fit
    /// The handling of a running load after the view leaves the screen. The default is ``OffscreenBehavior/cancel``.
    public var offscreenBehavior = OffscreenBehavior.cancel
    /// A Boolean value that indicates whether a load that failed because of the network is retried when the network is
    /// available again (``ImageBinder/networkBecameAvailable()``). The default is `true`.
    public var retriesWhenNetworkReturns = true
    /// A Boolean value that indicates whether a failed load is retried when the view is on screen again. Such a retry
    /// uses the manager's negative cache. The default is `false`.
    public var retriesWhenVisible = false
    /// A Boolean value that indicates whether the binder changes the content of the view.
    ///
    /// If it's `false`, only ``onPresentation`` and the completion handler receive the image and can use it as needed.
    /// The default is `true`.
    public var setsImageAutomatically = true
    /// The manager that loads the image of the binding. The default is `nil`, which means the manager of the binder or of
    /// the view.
    public var manager: ImageManager?
    /// A closure that receives the content of the binding in order, also if ``setsImageAutomatically`` is `false`.
    ///
    /// The closure receives each placeholder, preview, cached image, and final image that the view displays or would
    /// display if it set images automatically. Like a view, it receives no preview after a cached image. The closure is
    /// called on the main actor, after the view has changed and before the completion handler. It can bind the view
    /// again. After the completion, it receives further content only if the load is retried or if the view needs a
    /// larger image. If a binding is replaced, its closure is no longer called. If the view is cleared, the closure
    /// receives ``ImageBinder/Presentation/Kind/nothing`` as its last content.
    ///
    /// The view retains the closure, which must not capture the view strongly. The default is `nil`.
    public var onPresentation: PresentationHandler?
    /// A Boolean value that indicates whether the view shows colors outside sRGB if its toolkit can.
    ///
    /// If it can, and if ``ImageDecodingOptions/color`` of the request is ``ImageColorSpace/sRGB``, the image is decoded to
    /// Display P3. Requests with transformers that change colors remain unchanged. Images in Display P3 are separate
    /// entries in the memory cache, so prefetch them with this color space, too. The default is `false`.
    public var showsWideGamut = false
    /// A Boolean value that indicates whether a load continues at the lowest priority after the view no longer needs
    /// it, so that its result is cached.
    ///
    /// The binding ends immediately with ``ImageError/cancelled``, because the view never shows the result. This applies
    /// to a view that is bound again, canceled, cleared, or deallocated. A load that is still waiting for the visibility
    /// or the size of the view doesn't begin. ``ImageManager/runningTasks`` contains the load until it finishes.
    ///
    /// The default is `false`, which means that the load is canceled unless ``ImageRequest/continuesAfterCancellation``
    /// is `true`.
    public var continuesWhenReplaced = false

    /// Creates options with otherwise default values.
    ///
    /// - Parameters:
    ///   - placeholder: The placeholder that the view shows until an image is available. The default is
    ///     ``ImagePlaceholder/empty``.
    ///   - transition: The transition to the image if it wasn't in memory. The default is no transition.
    public init(placeholder: ImagePlaceholder = .empty, transition: ImageTransition = .none) {
        self.placeholder = placeholder
        self.transition = transition
    }

    /// Returns the request in the color space and in the dynamic range in which the view shows the image.
    ///
    /// - Parameters:
    ///   - request: The request of the application.
    ///   - canShowDisplayP3: Whether the toolkit converts Display P3 for the monitor.
    ///   - canShowPQ: Whether the toolkit converts PQ for the monitor. Otherwise, a view shows the standard dynamic range.
    package func adapted(_ request: ImageRequest, canShowDisplayP3: Bool, canShowPQ: Bool) -> ImageRequest {
        // Other transformers define colors in sRGB with a standard dynamic range.
        let isGeometric = request.transformers.allSatisfy(\.isGeometric)
        var request = request
        if showsWideGamut, canShowDisplayP3, isGeometric, request.decoding.color == .sRGB {
            request.decoding.color = .displayP3
        }
        if request.decoding.dynamicRange.keepsRange {
            request.decoding.dynamicRange = canShowPQ && isGeometric ? .pq : .standard
        }
        return request
    }
}
