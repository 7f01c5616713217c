// SPDX-License-Identifier: MIT

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

#if GTK
    import CGTK4

    @MainActor
    open class Widget {
        public let widgetPointer: UnsafeMutablePointer<GtkWidget>

        init(_ pointer: UnsafeMutablePointer<GtkWidget>) {
            widgetPointer = pointer
            g_object_ref_sink(UnsafeMutableRawPointer(pointer))
        }
    }

    @MainActor
    public final class Picture: Widget {
        public init() { super.init(gtk_picture_new()) }
    }
#endif
