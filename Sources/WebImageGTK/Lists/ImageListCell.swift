// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageUI

    /// A cell of a list, which shows one image.
    ///
    /// To add other contents, such as labels, create a subclass that has properties for their widgets.
    @MainActor
    open class ImageListCell {
        /// The root widget of the cell.
        public let root: UnsafeMutablePointer<GtkWidget>
        /// The view that shows the image. Its widget is `root` or a descendant of `root`.
        public let view: WebImageView
        /// The position that the cell shows, or `nil` if it shows none.
        public internal(set) var position: Int?
        /// A Boolean value that indicates whether at least a part of the cell is visible.
        public internal(set) var isVisible = false
        /// A closure that's called when the image can't be loaded.
        var didFail: (@MainActor (ImageError) -> Void)?
        /// The priority of the request while the cell is visible.
        var priority = RequestPriority.normal
        /// The content whose load waits until the cell is near the visible area and the list moves slowly, or `nil` if no
        /// load waits.
        private var deferred: ImageListContent?
        private var appliedPriority: RequestPriority?

        /// Creates a cell from its root widget, which must not have a parent yet.
        public init(root: UnsafeMutablePointer<GtkWidget>, view: WebImageView) {
            self.root = root
            self.view = view
        }

        /// Creates a cell that consists of a GtkPicture with a size of `width` × `height` points. Images cover the
        /// widget.
        public convenience init?(width: Int, height: Int, manager: ImageManager? = nil) {
            guard let picture = gtk_picture_new(), let view = WebImageView(for: picture, manager: manager) else {
                return nil
            }
            gtk_widget_set_size_request(picture, Int32(clamping: width), Int32(clamping: height))
            view.contentFit = .cover
            self.init(root: picture, view: view)
        }

        /// Shows the content. If `defers` is `true` and the image isn't in memory, the cell shows only the placeholder, or
        /// the image in another size or quality that is in memory, until ``startDeferred()`` is called.
        func show(_ position: Int, _ content: ImageListContent, defers: Bool = true) {
            self.position = position
            isVisible = false
            deferred = nil
            appliedPriority = nil
            priority = content.request?.priority ?? .normal
            guard defers, let request = content.request,
                request.cachePolicy?.usesCache == false || view.manager.cachedImage(for: request) == nil
            else { return load(content) }
            deferred = content
            var options = content.options
            let stored =
                request.preliminary.flatMap { view.manager.cachedImage(for: $0) }
                ?? (options.usesCachedPlaceholder ? view.manager.cachedPlaceholder(for: request) : nil)
            options.fallback = stored.map { .image($0) } ?? options.placeholder
            options.onPresentation = nil
            view.load(nil, options: options)
        }

        private func load(_ content: ImageListContent) {
            guard content.request != nil else {
                view.load(nil, options: content.options)
                return
            }
            view.load(content.request, options: content.options) { [weak self] result in
                if case .failure(let error) = result, !error.isCancelled { self?.didFail?(error) }
            }
        }

        func startDeferred() {
            guard let content = deferred else { return }
            let wanted = appliedPriority
            deferred = nil
            appliedPriority = nil
            load(content)
            if let wanted { apply(wanted) }
        }

        func showNothing() {
            position = nil
            isVisible = false
            deferred = nil
            appliedPriority = nil
            view.clear()
        }

        /// Raises the priority of cells in the middle of the visible area, and lowers that of cells that aren't visible,
        /// so that images load in the order in which the user needs them.
        func setVisible(_ isVisible: Bool, isCentral: Bool = false) {
            guard isVisible || self.isVisible || deferred == nil else { return }
            self.isVisible = isVisible
            if isVisible {
                apply(
                    isCentral ? max(priority, RequestPriority(rawValue: priority.rawValue + 1) ?? priority) : priority)
            } else {
                apply(min(priority, .low))
            }
        }

        private func apply(_ priority: RequestPriority) {
            guard priority != appliedPriority else { return }
            appliedPriority = priority
            view.setPriority(priority)
        }
    }

    /// The content of a cell.
    public struct ImageListContent: Sendable {
        /// The request to load, or `nil` if the position has no image.
        ///
        /// Set the size of the request. A request without a size is loaded at the size of the cell, but it can't be
        /// prefetched.
        public var request: ImageRequest?
        /// The options of the binding, such as the placeholder and the transition.
        public var options: ImageViewOptions

        /// Creates the content of a cell.
        public init(_ request: ImageRequest?, options: ImageViewOptions = ImageViewOptions()) {
            self.request = request
            self.options = options
        }
    }
#endif
