// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage

    /// A cell of a list that shows one picture, with whatever else the app puts into it. Subclass it to keep labels and the
    /// like at hand.
    @MainActor
    open class ImageListCell {
        /// The cell's widget.
        public let root: UnsafeMutablePointer<GtkWidget>
        /// Where the picture is shown; in the root or the root itself.
        public let view: WebImageView
        /// The position that it shows; nil while it shows none.
        public internal(set) var position: Int?
        /// Whether any of it can be seen.
        public internal(set) var isVisible = false
        /// The priority of what is loaded, while it can be seen.
        var priority = RequestPriority.normal

        /// A cell; `root` is not in a parent yet.
        public init(root: UnsafeMutablePointer<GtkWidget>, view: WebImageView) {
            self.root = root
            self.view = view
        }

        /// A cell that is a GtkPicture and nothing else, `width` × `height` points large, its pictures covering it.
        public convenience init?(pictureOfWidth width: Int, height: Int, manager: ImageManager? = nil) {
            guard let picture = gtk_picture_new(), let view = WebImageView(of: picture, manager: manager) else {
                return nil
            }
            gtk_widget_set_size_request(picture, Int32(clamping: width), Int32(clamping: height))
            view.fit = .cover
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

        /// What cannot be seen is loaded behind what can.
        func setVisible(_ isVisible: Bool) {
            guard isVisible != self.isVisible else { return }
            self.isVisible = isVisible
            view.setPriority(isVisible ? priority : min(priority, .low))
        }
    }

    /// What a cell shows.
    public struct ImageListContent: Sendable {
        /// What is loaded; nil for a place without a picture. Give it a size: without one a cell loads at its own size, but
        /// nothing can be fetched ahead of cells.
        public var request: ImageRequest?
        /// Placeholder, transition, and the rest.
        public var options: BindingOptions

        /// The content of a cell.
        public init(_ request: ImageRequest?, options: BindingOptions = BindingOptions()) {
            self.request = request
            self.options = options
        }
    }
#endif
