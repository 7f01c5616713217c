// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Tests of the keyboard control of failed images, and of indicators for high contrast and right-to-left interfaces.
    final class ViewAccessibilityTests: XCTestCase {
        private static let green = PixelColor(red: 0, green: 200, blue: 0)

        @MainActor
        private static func isFailed(_ view: WebImageView) -> Bool {
            if case .failed = view.snapshot().state { true } else { false }
        }

        func testEnterRetriesAFailedImageThatHasTheFocus() throws {
            try Stand.run {
                let stub = StubImageManager()
                stub.respond(
                    to: Sources.url("a"), with: .failure(.request(.rejected(reason: "no"))),
                    .color(Self.green, width: 40, height: 30))
                let picture = WebPicture(url: Sources.url("a"), manager: stub.manager)
                let window = try TestWindow(picture.widget)
                XCTAssertEqual(gtk_widget_get_focusable(picture.widget), 0, "an image isn't a control")
                window.show()
                Stand.pump("the failure") { Self.isFailed(picture.view) }
                XCTAssertEqual(gtk_widget_get_focusable(picture.widget), 1)
                XCTAssertEqual(gtk_widget_grab_focus(picture.widget), 1)
                gtk_window_set_focus_visible(
                    UnsafeMutableRawPointer(window.widget).assumingMemoryBound(to: GtkWindow.self), 1)
                Stand.pump("the visible focus") { picture.view.controller.accessibility.showsFocus }
                window.frame()
                let focused = try window.screenshot()
                XCTAssertNotEqual(focused.color(0, 60), focused.color(20, 60), "a frame shows the focus")
                XCTAssertFalse(try Self.press(picture.widget, guint(GDK_KEY_a)))
                XCTAssertTrue(try Self.press(picture.widget, guint(GDK_KEY_Return)))
                Stand.pump("the image") { picture.view.snapshot().state == .showing }
                window.frame()
                assertColor(try window.screenshot().color(0, 60), [0, 200, 0], "the frame of the focus is gone")
                XCTAssertFalse(try Self.press(picture.widget, guint(GDK_KEY_Return)), "nothing remains to retry")
                XCTAssertEqual(gtk_widget_get_focusable(picture.widget), 1, "the focused widget keeps the focus")
                gtk_window_set_focus(
                    UnsafeMutableRawPointer(window.widget).assumingMemoryBound(to: GtkWindow.self), nil)
                Stand.pump("the end of the focus") { gtk_widget_get_focusable(picture.widget) == 0 }
                window.close()
            }
        }

        func testApplicationDecidesAboutTheFocus() throws {
            try Stand.run {
                let stub = StubImageManager()
                stub.respond(to: Sources.url("a"), with: .failure(.request(.rejected(reason: "no"))))
                let picture = WebPicture(url: Sources.url("a"), manager: stub.manager)
                picture.view.retriesOnClick = false
                let window = try TestWindow(picture.widget)
                window.show()
                Stand.pump("the failure") { Self.isFailed(picture.view) }
                XCTAssertEqual(gtk_widget_get_focusable(picture.widget), 0)
                picture.view.retriesOnClick = true
                XCTAssertEqual(gtk_widget_get_focusable(picture.widget), 1)
                picture.onContextMenu = { _, _ in }
                picture.view.retriesOnClick = false
                XCTAssertEqual(gtk_widget_get_focusable(picture.widget), 1, "the menu needs the focus")
                picture.onContextMenu = nil
                XCTAssertEqual(gtk_widget_get_focusable(picture.widget), 0)
                window.close()
            }
        }

        func testBarFillsFromTheRightInARightToLeftInterface() throws {
            try Stand.run {
                for isRightToLeft in [false, true] {
                    let host = TestRendererHost()
                    host.style.isRightToLeft = isRightToLeft
                    host.renderer.indicator = .bar.delayed(by: .zero)
                    host.renderer.load = IndicatorState(fraction: 0.5)
                    host.pass(16)
                    let drawn = try host.drawn()
                    let (full, empty) = isRightToLeft ? (35, 5) : (5, 35)
                    assertColor(drawn.color(full, 28), [0, 0, 0], within: 16)
                    XCTAssertGreaterThan(drawn.color(empty, 28)[0], 100)
                }
            }
        }

        func testDirectionOfTheWidgetReachesItsIndicator() throws {
            try Stand.run {
                let picture = WebPicture()
                XCTAssertFalse(picture.view.controller.style.isRightToLeft)
                gtk_widget_set_direction(picture.widget, GTK_TEXT_DIR_RTL)
                XCTAssertTrue(picture.view.controller.style.isRightToLeft)
            }
        }

        func testIndicatorsAreOpaqueWithHighContrast() throws {
            try Stand.run {
                for indicator in [ImageIndicator.spinner, .ring, .bar] {
                    let host = TestRendererHost()
                    host.foreground = PixelColor(red: 255, green: 255, blue: 255)
                    host.style.hasHighContrast = true
                    host.renderer.indicator = indicator.delayed(by: .zero)
                    host.renderer.load = IndicatorState(fraction: 0.5)
                    host.pass(16)
                    let drawn = try host.drawn(width: 80, height: 80)
                    let isBar = indicator.style == .bar
                    // The background of the indicator is black, and its edge is white.
                    XCTAssertEqual(drawn.color(isBar ? 70 : 40, isBar ? 78 : 40), [0, 0, 0])
                    XCTAssertEqual(drawn.bytes[(isBar ? 78 * 80 + 70 : 40 * 80 + 40) * 4 + 3], 255, "opaque")
                    XCTAssertEqual(drawn.color(isBar ? 70 : 40, isBar ? 72 : 17), [255, 255, 255])
                }
            }
        }

        func testThemesWithHighContrastAreRecognized() {
            for theme in ["HighContrast", "HighContrastInverse", "Default-hc", "Default-hc-dark", "highcontrast:dark"] {
                XCTAssertTrue(MainActor.assumeIsolated { DesktopSettings.isHighContrast(theme) }, theme)
            }
            for theme in ["Default", "Adwaita", "Adwaita-dark", "Tech-hcolor", ""] {
                XCTAssertFalse(MainActor.assumeIsolated { DesktopSettings.isHighContrast(theme) }, theme)
            }
        }

        func testThemeSettingReachesTheViews() throws {
            try Stand.run {
                guard getenv("GTK_THEME") == nil else { throw XCTSkip("GTK_THEME replaces the setting") }
                let picture = WebPicture()
                let settings = try XCTUnwrap(gtk_settings_get_default())
                func set(_ name: String) {
                    var value = GValue()
                    g_value_init(&value, g_type_from_name("gchararray"))
                    g_value_set_string(&value, name)
                    g_object_set_property(
                        UnsafeMutableRawPointer(settings).assumingMemoryBound(to: GObject.self), "gtk-theme-name",
                        &value)
                    g_value_unset(&value)
                }
                set("HighContrast")
                XCTAssertTrue(picture.view.controller.style.hasHighContrast)
                set("Default")
                XCTAssertFalse(picture.view.controller.style.hasHighContrast)
            }
        }

        /// Emits `key-pressed` for all event controllers of a widget until one of them handles the key, like GTK.
        @MainActor
        private static func press(_ widget: UnsafeMutablePointer<GtkWidget>, _ key: guint) throws -> Bool {
            let list = try XCTUnwrap(gtk_widget_observe_controllers(widget))
            defer { g_object_unref(UnsafeMutableRawPointer(list)) }
            for index in 0..<g_list_model_get_n_items(list) {
                guard let item = g_list_model_get_item(list, index) else { continue }
                g_object_unref(item)
                guard WidgetKind.isA(item, gtk_event_controller_key_get_type()) else { continue }
                var values = [GValue](repeating: GValue(), count: 4)
                g_value_init(&values[0], gtk_event_controller_key_get_type())
                g_value_set_object(&values[0], item)
                g_value_init(&values[1], g_type_from_name("guint"))
                g_value_set_uint(&values[1], key)
                g_value_init(&values[2], g_type_from_name("guint"))
                g_value_init(&values[3], gdk_modifier_type_get_type())
                var result = GValue()
                g_value_init(&result, g_type_from_name("gboolean"))
                let signal = g_signal_lookup("key-pressed", gtk_event_controller_key_get_type())
                g_signal_emitv(&values, signal, 0, &result)
                g_value_unset(&values[0])
                if g_value_get_boolean(&result) != 0 { return true }
            }
            return false
        }
    }
#endif
