// SPDX-License-Identifier: MIT

import WebImage
import WebImageCore

/// The options that control how a view displays the image that it's bound to. They're a value, so you can change a copy
/// freely.
public struct ImageViewOptions: Sendable {
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

    /// The events that cause a failed load to be retried.
    public struct Retries: OptionSet, Sendable, Hashable {
        /// The bits of the set, one for each event.
        public let rawValue: Int
        /// Creates a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// Retries a load that failed because of the network when the network is available again
        /// (``ImageBinder/networkBecameAvailable()``).
        public static let whenNetworkReturns = Retries(rawValue: 1)
        /// Retries a failed load when the view is on screen again. Such a retry uses the manager's negative cache.
        public static let whenMapped = Retries(rawValue: 2)
    }

    /// The policy that decides whether the binder changes the content of the view.
    public enum Setting: Sendable, Hashable {
        /// Changes the content. This is the default.
        case always
        /// Doesn't change the content. The completion handler receives the image and can use it as needed.
        case never
    }

    /// The placeholder that the view shows until an image is available.
    ///
    /// The default is ``ImagePlaceholder/empty``, which empties the view.
    public var placeholder = ImagePlaceholder.empty
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
    /// The default is `nil`, which means that the view keeps its content. ``ImagePlaceholder/empty`` empties the view.
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
    /// The events that cause a failed load to be retried automatically. The default is the return of the network.
    public var retries: Retries = .whenNetworkReturns
    /// The policy that decides whether the binder changes the content of the view. The default is always.
    public var sets = Setting.always
    /// A Boolean value that indicates whether a load continues at the lowest priority after the view no longer needs
    /// it, so that its result is cached.
    ///
    /// The default is `false`, which means that the load is canceled unless ``ImageRequest/continuesAfterCancellation``
    /// is `true`.
    public var continuesWhenReplaced = false

    /// Creates options with the default values.
    public init() {}

    /// Creates options with a placeholder, a transition, and otherwise default values.
    public init(placeholder: ImagePlaceholder, transition: ImageTransition = .none) {
        self.placeholder = placeholder
        self.transition = transition
    }
}
