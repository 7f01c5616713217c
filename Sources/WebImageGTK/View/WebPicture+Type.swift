// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageUI

    extension WebPicture {
        /// Registers the widget class `WebImagePicture`, which GtkBuilder and Blueprint files can use:
        ///
        /// ```xml
        /// <object class="WebImagePicture">
        ///   <property name="uri">https://example.org/photo.jpg</property>
        ///   <property name="alternative-text">A lighthouse at dusk</property>
        ///   <property name="content-fit">cover</property>
        ///   <property name="corner-radius">12</property>
        /// </object>
        /// ```
        ///
        /// Call this method after `gtk_init()` and before you create a GtkBuilder. `WebImageView(for:)` returns the view of
        /// such a widget, which loads the image and provides all further functions. A change of a property emits
        /// `notify`. If `uri` isn't valid, the load fails. When the widget is disposed, its load is canceled.
        ///
        /// - Parameter manager: The manager that loads the images of all widgets of the class. The default is
        ///   ``ImageManager/shared``. Further calls replace it for widgets that are created later.
        /// - Returns: The GType of the class.
        @discardableResult
        public static func registerType(manager: ImageManager = .shared) -> GType {
            typeManager = manager
            return GType(wi_gtk_web_picture_register(functions))
        }

        fileprivate static var typeManager = ImageManager.shared

        fileprivate static func prepare(_ widget: UnsafeMutablePointer<GtkWidget>) {
            let view = WebImageView(for: widget, manager: typeManager) {
                wi_gtk_web_picture_set_paintable(widget, UnsafeMutableRawPointer($0))
            }
            view.describesImages = true
        }
    }

    extension WebImageView {
        /// Loads the image at the URI of a property, or clears the view if it's `nil`.
        fileprivate func load(uri: String?) {
            // A URL without a scheme fails with the reason, like any other URL that can't be loaded.
            load(uri.map { ImageRequest(string: $0) ?? ImageRequest(url: URL(filePath: $0)) })
        }

        /// Changes the fit, and loads the image again at the size for it.
        fileprivate func setContentFit(_ fit: ContentFit) {
            contentFit = fit
            if let request = request(of: .image) { load(request) }
        }
    }

    /// Runs `body` on the main actor with the view of a widget that a C callback received.
    private func withView(_ widget: UnsafeMutableRawPointer?, _ body: @MainActor (WebImageView) -> Void) {
        // Safe: `assumeIsolated` runs synchronously on the main thread, where GTK calls, so the pointer never leaves it.
        nonisolated(unsafe) let widget = widget?.assumingMemoryBound(to: GtkWidget.self)
        MainActor.assumeIsolated {
            guard let widget, let controller = WidgetController.of(widget) else { return }
            body(WebImageView(controller))
        }
    }

    // Safe: the table is initialized once, before the class is registered, and never changes. It's never freed because
    // the class points to it.
    nonisolated(unsafe) private let functions: UnsafePointer<wi_gtk_web_picture_functions> = {
        let table = UnsafeMutablePointer<wi_gtk_web_picture_functions>.allocate(capacity: 1)
        table.initialize(
            to: wi_gtk_web_picture_functions(
                constructed: { widget in
                    // Safe: as in `withView`.
                    nonisolated(unsafe) let widget = widget?.assumingMemoryBound(to: GtkWidget.self)
                    MainActor.assumeIsolated { if let widget { WebPicture.prepare(widget) } }
                },
                set_uri: { widget, uri in
                    let uri = uri.map { String(cString: $0) }
                    withView(widget) { $0.load(uri: uri) }
                },
                set_alternative_text: { widget, text in
                    let text = text.map { String(cString: $0) }
                    withView(widget) { $0.alternativeText = text }
                },
                set_content_fit: { widget, fit in
                    withView(widget) { $0.setContentFit(ContentFit(rawValue: Int(fit)) ?? .contain) }
                },
                set_corner_radius: { widget, radius in withView(widget) { $0.cornerRadius = radius } }))
        return UnsafePointer(table)
    }()
#endif
