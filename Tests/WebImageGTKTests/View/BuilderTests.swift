// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Tests of the widget class `WebImagePicture` in files of GtkBuilder.
    final class BuilderTests: XCTestCase {
        private static let green = PixelColor(red: 0, green: 200, blue: 0)

        func testBuilderCreatesAWidgetThatLoadsItsImage() throws {
            try Stand.run {
                let before = ControllerRegistry.shared.count
                let stub = StubImageManager()
                stub.respond(to: Sources.url("a"), with: .color(Self.green, width: 40, height: 20))
                let widget = try Self.build(
                    stub.manager,
                    """
                    <property name="uri">\(Sources.url("a"))</property>
                    <property name="alternative-text">A meadow</property>
                    <property name="content-fit">cover</property>
                    <property name="corner-radius">8</property>
                    """)
                let window = try TestWindow(widget)
                g_object_unref(UnsafeMutableRawPointer(widget))
                window.show()
                // A view retains the controller, so it must not outlive this block.
                do {
                    let view = try XCTUnwrap(WebImageView(for: widget))
                    Stand.pump("the image") { view.snapshot().state == .showing }
                    window.frame()
                    let drawn = try window.screenshot()
                    try keep(drawn, as: "builder")
                    assertColor(drawn.middle, [0, 200, 0])
                    assertColor(drawn.color(80, 1), [0, 200, 0], "the image covers the bounds")
                    XCTAssertNotEqual(drawn.color(0, 0), drawn.middle, "the corners are rounded")
                    XCTAssertEqual(view.contentFit, .cover)
                    XCTAssertEqual(view.cornerRadius, 8)
                    XCTAssertEqual(view.alternativeText, "A meadow")
                    // The order of the properties in the file doesn't change the size at which the image is decoded.
                    XCTAssertEqual(
                        view.displayedRequest()?.url, Sources.url("a"), "the view displays the image of the property")
                }
                window.close()
                XCTAssertEqual(ControllerRegistry.shared.count, before)
            }
        }

        func testPropertiesNotifyOnlyOfChanges() throws {
            try Stand.run {
                let stub = StubImageManager()
                stub.respond(to: Sources.url("a"), with: .color(Self.green, width: 4, height: 4))
                let widget = try Self.build(stub.manager, "")
                let object = UnsafeMutableRawPointer(widget)
                for (name, text) in [
                    ("uri", Sources.url("a").absoluteString), ("alternative-text", "A meadow"), ("content-fit", "2"),
                    ("corner-radius", "6"),
                ] {
                    let count = try Self.notifications(of: name, from: object) {
                        Self.set(name, text, of: object)
                        Self.set(name, text, of: object)
                    }
                    XCTAssertEqual(count, 1, name)
                    XCTAssertEqual(Self.text(name, of: object), text)
                }
                Self.set("corner-radius", "-1", of: object)
                XCTAssertEqual(Self.text("corner-radius", of: object), "6", "GObject rejects a value out of range")
                let view = try XCTUnwrap(WebImageView(for: widget))
                XCTAssertEqual(view.request()?.url, Sources.url("a"))
                Self.set("uri", nil, of: object)
                XCTAssertNil(view.request())
                XCTAssertNil(Self.text("uri", of: object))
                g_object_ref_sink(object)
                g_object_unref(object)
            }
        }

        func testInvalidURIFails() throws {
            try Stand.run {
                let widget = try Self.build(StubImageManager().manager, "<property name=\"uri\">no scheme</property>")
                let view = try XCTUnwrap(WebImageView(for: widget))
                let window = try TestWindow(widget)
                g_object_unref(UnsafeMutableRawPointer(widget))
                window.show()
                Stand.pump("the failure") { if case .failed = view.snapshot().state { true } else { false } }
                window.close()
            }
        }

        func testDisposalCancelsTheLoad() throws {
            try Stand.run {
                let gate = TestGate()
                var response = StubLoader.Response(try Sources.png([0, 200, 0]))
                response.bodyGate = gate
                let loader = StubLoader()
                loader.respond(to: Sources.url("a"), with: response)
                let manager = Sources.manager(loader)
                let widget = try Self.build(manager, "<property name=\"uri\">\(Sources.url("a"))</property>")
                let window = try TestWindow(widget)
                g_object_unref(UnsafeMutableRawPointer(widget))
                window.show()
                try Stand.wait { await loader.waitForRequests(count: 1) }
                window.close()
                try Stand.wait { await loader.waitForCancellations(count: 1) }
                XCTAssertEqual(loader.cancelledCount, 1)
                gate.open()
            }
        }

        // MARK: - GObject

        /// Builds a widget of the class with some properties. The caller owns a reference to it.
        @MainActor
        private static func build(
            _ manager: ImageManager, _ properties: String
        ) throws -> UnsafeMutablePointer<GtkWidget> {
            XCTAssertNotEqual(WebPicture.registerType(manager: manager), 0)
            let text = "<interface><object class=\"WebImagePicture\" id=\"it\">\(properties)</object></interface>"
            let builder = try XCTUnwrap(gtk_builder_new())
            defer { g_object_unref(UnsafeMutableRawPointer(builder)) }
            var error: UnsafeMutablePointer<GError>?
            gtk_builder_add_from_string(builder, text, -1, &error)
            XCTAssertNil(error.map { String(cString: $0.pointee.message) })
            let object = try XCTUnwrap(gtk_builder_get_object(builder, "it"))
            g_object_ref(UnsafeMutableRawPointer(object))
            return UnsafeMutableRawPointer(object).assumingMemoryBound(to: GtkWidget.self)
        }

        /// Sets a property to a text, which is converted to the type of the property. `nil` removes a text.
        @MainActor
        private static func set(_ name: String, _ text: String?, of object: UnsafeMutableRawPointer) {
            var value = GValue()
            switch name {
            case "content-fit":
                g_value_init(&value, gtk_content_fit_get_type())
                g_value_set_enum(&value, gint(text ?? "") ?? 0)
            case "corner-radius":
                g_value_init(&value, g_type_from_name("gdouble"))
                g_value_set_double(&value, Double(text ?? "") ?? 0)
            default:
                g_value_init(&value, g_type_from_name("gchararray"))
                g_value_set_string(&value, text)
            }
            g_object_set_property(object.assumingMemoryBound(to: GObject.self), name, &value)
            g_value_unset(&value)
        }

        @MainActor
        private static func text(_ name: String, of object: UnsafeMutableRawPointer) -> String? {
            var value = GValue()
            g_object_get_property(object.assumingMemoryBound(to: GObject.self), name, &value)
            defer { g_value_unset(&value) }
            switch name {
            case "content-fit": return "\(g_value_get_enum(&value))"
            case "corner-radius": return "\(Int(g_value_get_double(&value)))"
            default: return g_value_get_string(&value).map { String(cString: $0) }
            }
        }

        /// Returns how often a property notified during `body`.
        @MainActor
        private static func notifications(
            of name: String, from object: UnsafeMutableRawPointer, _ body: () -> Void
        ) throws -> Int {
            var count = 0
            let changed: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, _, data in
                data?.assumingMemoryBound(to: Int.self).pointee += 1
            }
            return withUnsafeMutablePointer(to: &count) { counter in
                let handler = g_signal_connect_data(
                    object, "notify::\(name)", unsafeBitCast(changed, to: GCallback.self), counter, nil,
                    GConnectFlags(rawValue: 0))
                body()
                g_signal_handler_disconnect(object, handler)
                return counter.pointee
            }
        }
    }
#endif
