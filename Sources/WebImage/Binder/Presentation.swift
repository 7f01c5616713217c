// SPDX-License-Identifier: MIT

import WebImageCore

/// What a view is to show now.
public struct Presentation: Sendable {
    /// What it is.
    public enum Kind: Sendable, Hashable {
        /// Nothing: the view is emptied.
        case nothing
        /// The placeholder.
        case placeholder
        /// The same picture in another size, until the right one is there.
        case otherSize
        /// A partial picture of the running download.
        case preview
        /// The stored picture, while the server is asked whether it still holds.
        case stored
        /// The picture.
        case picture
        /// What is shown when loading failed.
        case failure
        /// What is shown where there is no URL.
        case empty
    }

    /// What it is.
    public let kind: Kind
    /// The picture; nil for a colour and for nothing.
    public let image: Image?
    /// A plain colour, where that is shown instead of a picture.
    public let color: PixelColor?
    /// How it comes in.
    public let transition: Transition
    /// Number of the binding it belongs to; every ``ImageBinder/bind(_:options:completion:)`` has the next one.
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

/// How far a view is with its picture.
public enum BinderState: Sendable, Hashable {
    /// Not bound, or bound to nothing.
    case idle
    /// Bound; loading waits for the view to come on the screen or to have a size.
    case waiting
    /// Loading.
    case loading
    /// Loading, and a partial or older picture is shown.
    case previewing
    /// The picture is there.
    case showing
    /// There is none, for this reason.
    case failed(ImageError)
}

/// All that can be seen of a binder.
public struct BinderSnapshot: Sendable, Hashable {
    /// How far it is.
    public var state = BinderState.idle
    /// How far the download is; nil before it begins and when there is none.
    public var progress: ImageProgress?
    /// What is shown; nil when nothing is.
    public var shown: Presentation.Kind?
    /// Number of the binding; 0 before the first.
    public var generation = 0
}
