// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Tests of the package's own widget.
    final class WebPictureTests: XCTestCase {
        func testShowsItsImageAndRetainsItsObjects() throws {
            try Stand.run {
                let before = ControllerRegistry.shared.count
                let stub = StubImageManager()
                stub.respond(
                    to: Sources.url("a"), with: .color(PixelColor(red: 0, green: 200, blue: 0), width: 40, height: 20))
                var picture: WebPicture? = WebPicture(
                    url: Sources.url("a"), alternativeText: "A meadow", contentFit: .cover, cornerRadius: 8,
                    manager: stub.manager)
                let widget = try XCTUnwrap(picture?.widget)
                let window = try TestWindow(widget)
                picture = nil
                window.show()
                Stand.pump("the image") { WebImageView(for: widget)?.snapshot().state == .showing }
                window.frame()
                let drawn = try window.screenshot()
                assertColor(drawn.middle, [0, 200, 0])
                assertColor(drawn.color(80, 1), [0, 200, 0], "the image covers the bounds")
                XCTAssertNotEqual(drawn.color(0, 0), drawn.middle, "the corners are rounded")
                XCTAssertEqual(
                    gtk_picture_get_alternative_text(OpaquePointer(widget)).map { String(cString: $0) }, "A meadow")
                window.close()
                XCTAssertEqual(ControllerRegistry.shared.count, before)
            }
        }

        func testUnusedWidgetIsReleased() throws {
            try Stand.run {
                let before = ControllerRegistry.shared.count
                do {
                    let picture = WebPicture(alternativeText: nil)
                    picture.onContextMenu = { _, _ in }
                    XCTAssertEqual(ControllerRegistry.shared.count, before + 1)
                }
                XCTAssertEqual(ControllerRegistry.shared.count, before)
            }
        }

        func testMenuKeyRequestsTheMenuAtTheCenter() throws {
            try Stand.run {
                let picture = WebPicture(alternativeText: "A meadow")
                let window = try TestWindow(picture.widget)
                window.show()
                var asked: [[Double]] = []
                picture.onContextMenu = { asked.append([$0, $1]) }
                XCTAssertEqual(gtk_widget_get_focusable(picture.widget), 1)
                let keys = try XCTUnwrap(Self.controller(of: picture.widget, gtk_event_controller_key_get_type()))
                XCTAssertTrue(Self.press(keys, guint(GDK_KEY_Menu)))
                XCTAssertFalse(Self.press(keys, guint(GDK_KEY_a)))
                XCTAssertEqual(asked, [[80, 60]])
                picture.onContextMenu = nil
                XCTAssertEqual(gtk_widget_get_focusable(picture.widget), 0)
                window.close()
            }
        }

        @MainActor
        private static func controller(of widget: UnsafeMutablePointer<GtkWidget>, _ type: GType) -> OpaquePointer? {
            let all = gtk_widget_observe_controllers(widget)
            defer { g_object_unref(UnsafeMutableRawPointer(all)) }
            for index in 0..<g_list_model_get_n_items(all) {
                guard let item = g_list_model_get_item(all, index) else { continue }
                g_object_unref(item)
                if g_type_check_instance_is_a(item.assumingMemoryBound(to: GTypeInstance.self), type) != 0 {
                    return OpaquePointer(item)
                }
            }
            return nil
        }

        /// Emits `key-pressed` like GTK.
        @MainActor
        private static func press(_ keys: OpaquePointer, _ key: guint) -> Bool {
            var values = [GValue](repeating: GValue(), count: 4)
            g_value_init(&values[0], gtk_event_controller_key_get_type())
            g_value_set_object(&values[0], UnsafeMutableRawPointer(keys))
            g_value_init(&values[1], g_type_from_name("guint"))
            g_value_set_uint(&values[1], key)
            g_value_init(&values[2], g_type_from_name("guint"))
            g_value_init(&values[3], gdk_modifier_type_get_type())
            var result = GValue()
            g_value_init(&result, g_type_from_name("gboolean"))
            let signal = g_signal_lookup("key-pressed", gtk_event_controller_key_get_type())
            g_signal_emitv(&values, signal, 0, &result)
            g_value_unset(&values[0])
            return g_value_get_boolean(&result) != 0
        }
    }
#endif
