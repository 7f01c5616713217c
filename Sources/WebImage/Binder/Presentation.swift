// SPDX-License-Identifier: MIT

import WebImageCore

/// The content that a view must display.
public struct Presentation: Sendable {
    /// The kind of content.
    public enum Kind: Sendable, Hashable {
        /// No content. The view is cleared.
        case nothing
        /// The placeholder.
        case placeholder
        /// The same image in another size, until the requested size is available.
        case otherSize
        /// A preview of the running download.
        case preview
        /// The cached image, while the manager revalidates it.
        case stored
        /// The final image.
        case picture
        /// The placeholder for a failed load.
        case failure
        /// The placeholder for a view without a URL.
        case empty
    }

    /// The kind of content.
    public let kind: Kind
    /// The image, or `nil` for a color or no content.
    public let image: Image?
    /// The color, if the content is a solid color instead of an image.
    public let color: PixelColor?
    /// The transition to the content.
    public let transition: Transition
    /// The number of the binding. Each call of ``ImageBinder/bind(_:options:completion:)`` begins a binding with a
    /// higher number.
    public let generation: Int

    init(
        _ kind: Kind, image: Image? = nil, color: PixelColor? = nil, transition: Transition = .none, generation: Int
    ) {
        self.kind = kind
        self.image = image
        self.color = color
        self.transition = transition
        self.generation = generation
    }
}

/// The loading state of a view.
public enum BinderState: Sendable, Hashable {
    /// The view isn't bound, or it's bound to no request.
    case idle
    /// The view is bound, but the load waits until the view is on screen and has bounds.
    case waiting
    /// The image is loading.
    case loading
    /// The image is loading, and the view shows a preview or a cached image.
    case previewing
    /// The image is displayed.
    case showing
    /// The load failed with this error.
    case failed(ImageError)
}

/// A snapshot of the observable state of a binder.
public struct BinderSnapshot: Sendable, Hashable {
    /// The loading state.
    public var state = BinderState.idle
    /// The progress of the download, or `nil` if there's no download.
    public var progress: ImageProgress?
    /// The kind of the displayed content, or `nil` if there's none.
    public var shown: Presentation.Kind?
    /// The number of the binding, or 0 before the first one.
    public var generation = 0
}
