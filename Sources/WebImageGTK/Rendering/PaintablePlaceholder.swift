// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImageUI

    /// A GdkPaintable as a placeholder. It fills the bounds of the view.
    ///
    /// To show a widget as a placeholder, pass the result of `gtk_widget_paintable_new`.
    @MainActor
    public final class PaintablePlaceholder: PlaceholderContent {
        /// The GdkPaintable.
        public let pointer: OpaquePointer

        /// Creates a placeholder that retains a GdkPaintable.
        public init(_ paintable: OpaquePointer) {
            g_object_ref(UnsafeMutableRawPointer(paintable))
            pointer = paintable
        }

        isolated deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }
    }

    extension ImagePlaceholder {
        /// Returns a placeholder that draws a GdkPaintable in the bounds of the view. It retains the paintable.
        ///
        /// The view is drawn again only if its content changes, so the paintable must not be animated.
        @MainActor
        public static func paintable(_ paintable: OpaquePointer) -> ImagePlaceholder {
            .custom(PaintablePlaceholder(paintable))
        }
    }
#endif
