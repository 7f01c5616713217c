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
        /// The image, or `nil` for other content and for no content.
        public let image: DecodedImage?
        /// The color, if the content is a solid color instead of an image.
        public internal(set) var color: PixelColor?
        /// The name of the icon, if the content is an icon instead of an image.
        public internal(set) var icon: String?
        /// The content, if only the toolkit can draw it.
        public internal(set) var custom: (any PlaceholderContent)?
        /// The transition to the content.
        public let transition: ImageTransition
        /// The source of the image, or `nil` for previews and placeholders.
        ///
        /// For content of the kinds ``Kind/cachedImage`` and ``Kind/image``, it's the source in the response. For a
        /// ``Kind/cachedPlaceholder``, it's ``ImageResponse/Source/memoryCache``.
        public let source: ImageResponse.Source?
        /// The number of the binding. Each call of ``ImageBinder/bind(_:options:completion:)`` begins a binding with a
        /// higher number.
        public let bindingID: Int

        package init(
            _ kind: Kind, image: DecodedImage? = nil, color: PixelColor? = nil, transition: ImageTransition = .none,
            source: ImageResponse.Source? = nil, bindingID: Int
        ) {
            self.kind = kind
            self.image = image
            self.color = color
            self.transition = transition
            self.source = source
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
        /// The image is loading, and the view or the ``ImageViewOptions/onPresentation`` handler received a preview or
        /// a cached image.
        case previewing
        /// The image is displayed.
        case showing
        /// The load failed with this error.
        case failed(ImageError)
        /// The load was canceled by ``ImageBinder/cancel()`` before the image was available.
        case cancelled
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
        /// The request that the view is bound to, or `nil` if the view isn't bound or has no URL.
        ///
        /// This is the request that was passed to ``ImageBinder/bind(_:options:completion:)``, without the size that the
        /// binder derives from the bounds of the view. It doesn't change if the load fails or is canceled.
        public let request: ImageRequest?
        /// The request whose image the view displays as a preview, as a cached image, or in its final form. The value is
        /// `nil` if the view displays no image or a placeholder.
        ///
        /// It differs from ``request`` while the image of an earlier binding remains, for example because of
        /// ``ImageViewOptions/keepsCurrentImage``. Images that only the ``ImageViewOptions/onPresentation`` handler
        /// receives don't change it.
        public let displayedRequest: ImageRequest?
        /// The number of the binding, or 0 before the first one.
        package let generation: Int

        init(
            state: ImageBinder.State = .idle, progress: ImageTask.Progress? = nil,
            content: ImageBinder.Presentation.Kind? = nil, request: ImageRequest? = nil,
            displayedRequest: ImageRequest? = nil, generation: Int = 0
        ) {
            self.state = state
            self.progress = progress
            self.content = content
            self.request = request
            self.displayedRequest = displayedRequest
            self.generation = generation
        }

        /// The unit counts of a progress object in this state, or `nil` if the state doesn't change them.
        var unitCounts: (completed: Int64, total: Int64)? {
            let received = Int64(clamping: max(0, progress?.receivedByteCount ?? 0))
            let expected = progress?.expectedByteCount.map { Int64(clamping: max(1, $0)) }
            switch state {
            case .idle, .failed, .cancelled: return nil
            case .waiting, .loading, .previewing:
                return expected.map { (completed: min(received, $0), total: $0) } ?? (completed: 0, total: 1)
            case .showing:
                let total = expected ?? max(1, received)
                return (completed: total, total: total)
            }
        }
    }
}
