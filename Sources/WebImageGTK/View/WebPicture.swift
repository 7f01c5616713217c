// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageUI

    /// A widget that loads and shows an image:
    ///
    /// ```swift
    /// let picture = WebPicture(url: url, alternativeText: "A lighthouse at dusk", contentFit: .cover)
    /// gtk_box_append(box, picture.widget)
    /// ```
    ///
    /// The widget is a GtkPicture and retains everything that it needs. You don't need to retain this object after you
    /// add the widget to a parent.
    @MainActor
    public final class WebPicture: GTKWidgetRepresentable {
        /// The GtkPicture.
        public let widget: UnsafeMutablePointer<GtkWidget>
        /// The view of the widget, which provides all further functions.
        public let view: WebImageView
        private let menu: ContextMenuGesture

        /// Creates a widget without an image.
        ///
        /// - Parameters:
        ///   - alternativeText: The description of the image. See ``alternativeText``. The default is `nil`.
        ///   - contentFit: A value that describes how images fit into the bounds. The default is
        ///     ``ContentFit/contain``.
        ///   - cornerRadius: The radius of the corners, in points. The default is 0.
        ///   - manager: The manager that loads images. The default is ``ImageManager/shared``.
        public init(
            alternativeText: String? = nil, contentFit: ContentFit = .contain, cornerRadius: Double = 0,
            manager: ImageManager = .shared
        ) {
            widget = gtk_picture_new()
            g_object_ref_sink(UnsafeMutableRawPointer(widget))
            view = WebImageView(pictureWidget: widget, manager: manager)
            menu = ContextMenuGesture(widget)
            view.contentFit = contentFit
            view.cornerRadius = cornerRadius
            view.controller.accessibility.isManaged = true
            self.alternativeText = alternativeText
        }

        /// Creates a widget that loads the image for a request.
        ///
        /// - Parameters:
        ///   - request: The request to load.
        ///   - alternativeText: The description of the image. See ``alternativeText``. The default is `nil`.
        ///   - contentFit: A value that describes how images fit into the bounds. The default is
        ///     ``ContentFit/contain``.
        ///   - cornerRadius: The radius of the corners, in points. The default is 0.
        ///   - placeholder: The placeholder that the widget shows until the image is loaded. The default is empty.
        ///   - transition: The transition to the image if it wasn't in the memory cache. By default, the image appears
        ///     immediately.
        ///   - manager: The manager that loads images. The default is ``ImageManager/shared``.
        public convenience init(
            request: ImageRequest, alternativeText: String? = nil, contentFit: ContentFit = .contain,
            cornerRadius: Double = 0, placeholder: ImagePlaceholder = .empty, transition: ImageTransition = .none,
            manager: ImageManager = .shared
        ) {
            self.init(
                alternativeText: alternativeText, contentFit: contentFit, cornerRadius: cornerRadius, manager: manager)
            view.load(request, placeholder: placeholder, transition: transition)
        }

        /// Creates a widget that loads the image at `url`. For the parameters, see
        /// ``init(request:alternativeText:contentFit:cornerRadius:placeholder:transition:manager:)``.
        public convenience init(
            url: URL, alternativeText: String? = nil, contentFit: ContentFit = .contain, cornerRadius: Double = 0,
            placeholder: ImagePlaceholder = .empty, transition: ImageTransition = .none, manager: ImageManager = .shared
        ) {
            self.init(
                request: ImageRequest(url: url), alternativeText: alternativeText, contentFit: contentFit,
                cornerRadius: cornerRadius, placeholder: placeholder, transition: transition, manager: manager)
        }

        isolated deinit { g_object_unref(UnsafeMutableRawPointer(widget)) }

        /// The pointer to the widget for other bindings.
        public var gtkWidgetPointer: UnsafeMutableRawPointer { UnsafeMutableRawPointer(widget) }

        /// The description of the image for people who can't see it. The default is `nil`.
        ///
        /// The text becomes the accessible label and description of the widget and the alternative text of the
        /// GtkPicture. Without it, the label and the description are those of the image file (see
        /// ``WebImageView/describesImages``).
        public var alternativeText: String? {
            get { view.alternativeText }
            set {
                view.alternativeText = newValue
                gtk_picture_set_alternative_text(OpaquePointer(widget), newValue)
            }
        }

        /// A closure that's called with a position, in points, when the user requests a context menu. The default is
        /// `nil`.
        ///
        /// The user requests the menu with a click of the secondary button, a long press, the Menu key, or Shift+F10.
        /// For the keys, the position is the center of the widget. While the closure isn't `nil`, the widget can
        /// receive the keyboard focus. The widget retains the closure, which must not capture the widget strongly.
        public var onContextMenu: (@MainActor (_ x: Double, _ y: Double) -> Void)? {
            get { menu.action }
            set {
                menu.action = newValue
                view.controller.accessibility.claimFocus(.menu, newValue != nil)
            }
        }
    }

    extension WebImageView {
        /// Creates the view of a new GtkPicture that has no view yet.
        fileprivate init(pictureWidget: UnsafeMutablePointer<GtkWidget>, manager: ImageManager) {
            wi_gtk_picture_set_fill(pictureWidget)
            let adapter = PaintableAdapter { gtk_picture_set_paintable(OpaquePointer(pictureWidget), $0) }
            self.init(WidgetController(pictureWidget, manager, adapter))
        }
    }
#endif
