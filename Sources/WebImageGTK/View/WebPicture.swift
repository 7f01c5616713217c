// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK
    import Foundation
    import WebImage
    import WebImageCore

    /// A widget that shows a picture from the network, ready to be put somewhere:
    ///
    /// ```swift
    /// let picture = WebPicture(url, alternativeText: "A lighthouse at dusk", fit: .cover, cornerRadius: 12)
    /// gtk_box_append(box, picture.widget)
    /// ```
    ///
    /// The widget is a GtkPicture, and keeps all it needs: this object may go once the widget has a parent.
    @MainActor
    public final class WebPicture: GTKWidgetRepresentable {
        /// The GtkPicture.
        public let widget: UnsafeMutablePointer<GtkWidget>
        /// Everything that a view can do.
        public let view: WebImageView
        private let menu: MenuHook

        /// A picture without content.
        ///
        /// - Parameters:
        ///   - alternativeText: what the picture shows; see ``alternativeText``. Default none.
        ///   - fit: how pictures take their place. Default ``ContentFit/contain``.
        ///   - cornerRadius: points. Default 0.
        ///   - manager: who loads. Default ``ImageManager/shared``.
        public init(
            alternativeText: String? = nil, fit: ContentFit = .contain, cornerRadius: Double = 0,
            manager: ImageManager = .shared
        ) {
            widget = gtk_picture_new()
            g_object_ref_sink(UnsafeMutableRawPointer(widget))
            view = WebImageView(picture: widget, manager: manager)
            menu = MenuHook(widget)
            view.fit = fit
            view.cornerRadius = cornerRadius
            self.alternativeText = alternativeText
            tellAlternativeText()
        }

        /// A picture that loads `request`.
        ///
        /// - Parameters:
        ///   - request: what is loaded.
        ///   - alternativeText: what the picture shows; see ``alternativeText``. Default none.
        ///   - fit: how pictures take their place. Default ``ContentFit/contain``.
        ///   - cornerRadius: points. Default 0.
        ///   - placeholder: shown until the picture is there. Default nothing.
        ///   - transition: how the picture comes in, unless it was in memory. Default at once.
        ///   - manager: who loads. Default ``ImageManager/shared``.
        public convenience init(
            _ request: ImageRequest, alternativeText: String? = nil, fit: ContentFit = .contain,
            cornerRadius: Double = 0,
            placeholder: Placeholder = .empty, transition: Transition = .none, manager: ImageManager = .shared
        ) {
            self.init(alternativeText: alternativeText, fit: fit, cornerRadius: cornerRadius, manager: manager)
            view.load(request, placeholder: placeholder, transition: transition)
        }

        /// A picture that loads `url`; parameters as in
        /// ``init(_:alternativeText:fit:cornerRadius:placeholder:transition:manager:)``.
        public convenience init(
            _ url: URL, alternativeText: String? = nil, fit: ContentFit = .contain, cornerRadius: Double = 0,
            placeholder: Placeholder = .empty, transition: Transition = .none, manager: ImageManager = .shared
        ) {
            self.init(
                ImageRequest(url), alternativeText: alternativeText, fit: fit, cornerRadius: cornerRadius,
                placeholder: placeholder, transition: transition, manager: manager)
        }

        isolated deinit { g_object_unref(UnsafeMutableRawPointer(widget)) }

        /// The widget, for bindings.
        public var gtkWidgetPointer: UnsafeMutableRawPointer { UnsafeMutableRawPointer(widget) }

        /// What the picture shows, for people who cannot see it: the widget's accessible label and description, and
        /// GtkPicture's alternative text. Default nil.
        public var alternativeText: String? {
            didSet { if alternativeText != oldValue { tellAlternativeText() } }
        }

        private func tellAlternativeText() {
            gtk_picture_set_alternative_text(OpaquePointer(widget), alternativeText)
            wi_gtk_set_accessible_text(widget, alternativeText, alternativeText)
        }

        /// Called where the user asks for a context menu, with the place in points: a click with the secondary button, a long
        /// press, the menu key or Shift+F10 (the middle of the widget then). Setting it lets the widget take the keyboard's
        /// focus. The widget keeps it; it must not hold the widget. Default nil.
        public var onContextMenu: (@MainActor (_ x: Double, _ y: Double) -> Void)? {
            get { menu.action }
            set {
                menu.action = newValue
                gtk_widget_set_focusable(widget, newValue == nil ? 0 : 1)
            }
        }
    }

    extension WebImageView {
        /// The view of what is known to be a GtkPicture without one.
        fileprivate init(picture: UnsafeMutablePointer<GtkWidget>, manager: ImageManager) {
            wi_gtk_picture_set_fill(picture)
            let chrome = PaintableChrome { gtk_picture_set_paintable(OpaquePointer(picture), $0) }
            self.init(WidgetController(picture, manager, chrome))
        }
    }
#endif
