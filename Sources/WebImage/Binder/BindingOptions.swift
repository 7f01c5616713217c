// SPDX-License-Identifier: MIT

import WebImageCore

/// How a view shows what it is bound to. A value; change a copy freely.
public struct BindingOptions: Sendable {
    /// What happens to a running load when the view is not on the screen any more.
    public enum Unmapping: Sendable, Hashable {
        /// It is given up, and begun anew when the view is back. While the view is away nothing is loaded. The default.
        case cancel
        /// It goes on at this priority.
        case lower(to: RequestPriority)
        /// It goes on as it is.
        case keep
    }

    /// Occasions on which a load that failed is tried again.
    public struct Retries: OptionSet, Sendable, Hashable {
        /// One bit per occasion.
        public let rawValue: Int
        /// Creates a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// When the network is back (``ImageBinder/networkReturned()``), and it was the network that failed.
        public static let whenNetworkReturns = Retries(rawValue: 1)
        /// When the view comes on the screen again. Failures that the manager remembers are not asked for anew.
        public static let whenMapped = Retries(rawValue: 2)
    }

    /// Whether the view's content is set.
    public enum Setting: Sendable, Hashable {
        /// Yes. The default.
        case always
        /// No: the handler receives the picture and does with it what it wants. The view stays as it is.
        case never
    }

    /// The placeholder that the view shows until an image is available.
    ///
    /// The default is ``Placeholder/empty``, which empties the view.
    public var placeholder = Placeholder.empty
    /// Whether the picture that is shown stays until the new one is there, instead of the placeholder. Default false.
    public var keepsCurrent = false
    /// Whether a picture of the same bytes in another size that is in memory is shown before the placeholder. Default
    /// true.
    public var showsOtherSizes = true
    /// Whether the binding looks at the disk too before it returns, and decodes what is there **on the calling thread**:
    /// for a picture that must be in the first frame, never for lists. Default false.
    public var looksOnDisk = false
    /// The placeholder that the view shows after a load fails.
    ///
    /// The default is `nil`, which means that the view keeps its content. ``Placeholder/empty`` empties the view.
    public var failure: Placeholder?
    /// The placeholder that the view shows if it has no URL.
    ///
    /// The default is `nil`, which means ``placeholder``. ``Placeholder/empty`` empties the view.
    public var empty: Placeholder?
    /// How the picture comes in, unless it was in memory. Default none.
    public var transition = Transition.none
    /// How partial pictures come in. Default none.
    public var previewTransition = Transition.none
    /// How the size to decode to follows from the view's, for requests without a size. Default ``AutomaticSize/fit``.
    public var sizing = AutomaticSize.fit
    /// What happens to a running load when the view leaves the screen. Default ``Unmapping/cancel``.
    public var unmapping = Unmapping.cancel
    /// When a failed load is tried again by itself. Default when the network returns.
    public var retries: Retries = .whenNetworkReturns
    /// Whether the view's content is set. Default always.
    public var sets = Setting.always
    /// Whether a load that the view does not want any more goes on at the lowest priority, so that the caches have it
    /// next time. Default false: it is cancelled, unless ``ImageRequest/survivesOwner`` says so.
    public var survivesOwner = false

    /// The defaults.
    public init() {}

    /// The defaults with a placeholder and a transition.
    public init(placeholder: Placeholder, transition: Transition = .none) {
        self.placeholder = placeholder
        self.transition = transition
    }
}
