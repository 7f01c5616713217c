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
        /// The priority of the request while the cell is visible.
        var priority = RequestPriority.normal

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

        func show(_ position: Int, _ content: ImageListContent) {
            self.position = position
            isVisible = false
            priority = content.request?.priority ?? .normal
            view.load(content.request, options: content.options)
        }

        func showNothing() {
            position = nil
            isVisible = false
            view.clear()
        }

        /// Lowers the priority of cells that aren't visible, so that visible cells load first.
        func setVisible(_ isVisible: Bool) {
            guard isVisible != self.isVisible else { return }
            self.isVisible = isVisible
            view.setPriority(isVisible ? priority : min(priority, .low))
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
