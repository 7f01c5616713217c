// SPDX-License-Identifier: MIT

import WebImage
import WebImageCore

extension ImageBinder {
    /// The content that a view must display.
    public struct Presentation: Sendable {
        /// The kind of content.
        public enum Kind: String, Sendable, CaseIterable {
            /// No content. The view is cleared.
            case nothing
            /// The placeholder.
            case placeholder
            /// The same image in another size, until the requested size is available.
            case cachedPlaceholder
            /// A preview of the running download.
            case preview
            /// The cached image, while the manager revalidates it.
            case cachedImage
            /// The final image.
            case image
            /// The placeholder for a failed load.
            case failurePlaceholder
            /// The placeholder for a view without a URL.
            case fallback
        }

        /// The kind of content.
        public let kind: Kind
        /// The image, or `nil` for a color or no content.
        public let image: DecodedImage?
        /// The color, if the content is a solid color instead of an image.
        public let color: PixelColor?
        /// The transition to the content.
        public let transition: ImageTransition
        /// The number of the binding. Each call of ``ImageBinder/bind(_:options:completion:)`` begins a binding with a
        /// higher number.
        public let bindingID: Int

        package init(
            _ kind: Kind, image: DecodedImage? = nil, color: PixelColor? = nil, transition: ImageTransition = .none,
            bindingID: Int
        ) {
            self.kind = kind
            self.image = image
            self.color = color
            self.transition = transition
            self.bindingID = bindingID
        }
    }
}

extension ImageBinder {
    /// The loading state of a view.
    public enum State: Sendable, Hashable {
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
}

extension ImageBinder {
    /// A snapshot of the observable state of a binder.
    public struct Snapshot: Sendable, Hashable {
        /// The loading state.
        public let state: ImageBinder.State
        /// The progress of the download, or `nil` if there's no download.
        public let progress: ImageTask.Progress?
        /// The kind of the displayed content, or `nil` if there's none.
        public let content: ImageBinder.Presentation.Kind?
        /// The number of the binding, or 0 before the first one.
        package let generation: Int

        init(
            state: ImageBinder.State = .idle, progress: ImageTask.Progress? = nil,
            content: ImageBinder.Presentation.Kind? = nil, generation: Int = 0
        ) {
            self.state = state
            self.progress = progress
            self.content = content
            self.generation = generation
        }
    }
}
