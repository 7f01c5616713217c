// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImageCore
    import XCTest

    @testable import WebImageGTK

    /// A window on the display of the tests. ``close()`` destroys it.
    @MainActor
    final class TestWindow {
        let widget: UnsafeMutablePointer<GtkWidget>
        private var window: UnsafeMutablePointer<GtkWindow> {
            UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkWindow.self)
        }

        init(_ child: UnsafeMutablePointer<GtkWidget>, width: Int32 = 160, height: Int32 = 120) throws {
            widget = try XCTUnwrap(gtk_window_new())
            gtk_window_set_decorated(window, 0)
            gtk_window_set_default_size(window, width, height)
            gtk_window_set_child(window, child)
        }

        /// Shows the window and waits for its first frame.
        func show() {
            gtk_window_present(window)
            Stand.pump("the window's first frame") {
                gtk_widget_get_mapped(widget) != 0 && gtk_widget_get_width(widget) > 0
            }
            frame()
        }

        func hide() {
            gtk_widget_set_visible(widget, 0)
            Stand.settle()
        }

        func close() {
            gtk_window_destroy(window)
            Stand.settle()
        }

        /// Waits until frames have been drawn, which means that a tick callback was called three times.
        func frame() {
            var ticks = 0
            withUnsafeMutablePointer(to: &ticks) { counter in
                _ = gtk_widget_add_tick_callback(
                    widget,
                    { _, _, data in
                        guard let count = data?.assumingMemoryBound(to: Int.self) else { return 0 }
                        count.pointee += 1
                        return count.pointee < 3 ? 1 : 0
                    }, counter, nil)
                Stand.pump("a frame") { counter.pointee >= 3 }
            }
            gtk_widget_queue_draw(widget)
        }

        /// Returns a screenshot of the window or of one of its widgets, with `scale` pixels per point.
        func screenshot(of part: UnsafeMutablePointer<GtkWidget>? = nil, scale: Double = 1) throws -> Screenshot {
            let part = part ?? widget
            let paintable = try XCTUnwrap(gtk_widget_paintable_new(part))
            defer { g_object_unref(UnsafeMutableRawPointer(paintable)) }
            var found: OpaquePointer?
            let width = Double(gtk_widget_get_width(part))
            let height = Double(gtk_widget_get_height(part))
            // While a layout is pending, there is no node.
            Stand.pump("a nonempty snapshot") {
                let snapshot = gtk_snapshot_new()
                gtk_snapshot_scale(snapshot, Float(scale), Float(scale))
                gdk_paintable_snapshot(paintable, snapshot, width, height)
                found = gtk_snapshot_free_to_node(snapshot)
                return found != nil
            }
            let node = try XCTUnwrap(found)
            defer { gsk_render_node_unref(node) }
            let renderer = gtk_native_get_renderer(OpaquePointer(widget))
            var viewport = graphene_rect_t(LayoutRect(x: 0, y: 0, width: width * scale, height: height * scale))
            let texture = try XCTUnwrap(gsk_renderer_render_texture(renderer, node, &viewport))
            defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
            return Screenshot(texture)
        }
    }
#endif
