// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Tests of each supported kind of widget.
    final class WidgetTests: XCTestCase {
        @MainActor
        private static func stub() -> StubImageManager {
            let stub = StubImageManager()
            for (name, color) in [
                ("red", PixelColor(red: 200, green: 0, blue: 0)), ("green", PixelColor(red: 0, green: 200, blue: 0)),
                ("blue", PixelColor(red: 0, green: 0, blue: 200)),
                ("yellow", PixelColor(red: 200, green: 200, blue: 0)),
            ] {
                stub.respond(to: Sources.url(name), with: .color(color, width: 32, height: 32))
            }
            return stub
        }

        func testGtkImageShowsItInsteadOfItsIcon() throws {
            try Stand.run {
                let image = try XCTUnwrap(gtk_image_new())
                gtk_image_set_pixel_size(OpaquePointer(image), 48)
                let window = try TestWindow(image)
                let view = try XCTUnwrap(WebImageView(for: OpaquePointer(image), manager: Self.stub().manager))
                view.load(Sources.url("red"))
                window.show()
                Stand.pump("the image") { view.snapshot().state == .showing }
                window.frame()
                let drawn = try window.screenshot()
                assertColor(drawn.middle, [200, 0, 0])
                XCTAssertNotEqual(drawn.color(10, 60), drawn.middle, "only the area of the icon")
                window.close()
            }
        }

        func testAGtkPictureFitsImagesInTheSameWayWithAndWithoutAClosure() throws {
            try Stand.run {
                for fit in [ContentFit.cover, .contain, .fill, .scaleDown] {
                    let checked = try Self.screenshot(fit, usesClosure: false)
                    let closure = try Self.screenshot(fit, usesClosure: true)
                    XCTAssertEqual(checked.bytes, closure.bytes, "\(fit)")
                    let isCovered = fit == .cover || fit == .fill
                    XCTAssertEqual(Self.isNear(closure.color(2, 60), [200, 0, 0]), isCovered, "\(fit)")
                    // Scaled down at most, the image is in the center.
                    XCTAssertEqual(Self.isNear(closure.color(80, 2), [200, 0, 0]), fit != .scaleDown, "\(fit)")
                }
            }
        }

        /// Returns the screenshot of a GtkPicture of 160 × 120 points with a red image of 32 × 32 pixels.
        @MainActor
        private static func screenshot(_ fit: ContentFit, usesClosure: Bool) throws -> Screenshot {
            let picture = try XCTUnwrap(gtk_picture_new())
            let window = try TestWindow(picture)
            let view =
                if usesClosure {
                    WebImageView(for: picture, manager: stub().manager) {
                        gtk_picture_set_paintable(OpaquePointer(picture), $0)
                    }
                } else {
                    try XCTUnwrap(WebImageView(for: picture, manager: stub().manager))
                }
            view.contentFit = fit
            view.load(ImageRequest(url: Sources.url("red"), size: .fill(width: 32, height: 32)))
            window.show()
            Stand.pump("the image") { view.snapshot().state == .showing }
            window.frame()
            defer { window.close() }
            return try window.screenshot()
        }

        func testFailureWithoutAPlaceholderShowsTheIconForMissingImages() throws {
            try Stand.run {
                let missing = try Self.screenshot(failure: nil)
                let background = missing.color(2, 2)
                // The icon is in the center, and as large as a third of the shorter side.
                let drawn = (0..<missing.width).filter { x in
                    (0..<missing.height).contains { missing.color(x, $0) != background }
                }
                let rows = (0..<missing.height).filter { y in
                    (0..<missing.width).contains { missing.color($0, y) != background }
                }
                XCTAssertGreaterThan(drawn.count, 20)
                XCTAssertTrue(drawn.allSatisfy { (59...101).contains($0) }, "\(drawn)")
                XCTAssertTrue(rows.allSatisfy { (39...81).contains($0) }, "\(rows)")
                let empty = try Self.screenshot(failure: .empty)
                XCTAssertTrue((0..<empty.width).allSatisfy { empty.color($0, 60) == background })
                XCTAssertNotEqual(try Self.screenshot(failure: .icon("edit-clear-symbolic")).bytes, missing.bytes)
                // A name that the theme doesn't contain.
                let unknown = try Self.screenshot(failure: .icon("no-such-icon"))
                XCTAssertTrue((59...101).contains { x in (39...81).contains { unknown.color(x, $0) != background } })
            }
        }

        func testPaintableIsAPlaceholder() throws {
            try Stand.run {
                let texture = try XCTUnwrap(GTKTexture.texture(for: Sources.pixels([0, 0, 200], width: 4, height: 4)))
                let drawn = try Self.screenshot(failure: .paintable(texture.pointer))
                for (x, y) in [(1, 1), (158, 1), (80, 60), (1, 118), (158, 118)] {
                    assertColor(drawn.color(x, y), [0, 0, 200])
                }
            }
        }

        /// Returns the screenshot of a GtkPicture of 160 × 120 points after a load that failed.
        @MainActor
        private static func screenshot(failure: ImagePlaceholder?) throws -> Screenshot {
            let picture = try XCTUnwrap(gtk_picture_new())
            let window = try TestWindow(picture)
            let view = try XCTUnwrap(WebImageView(for: picture, manager: stub().manager))
            var options = ImageViewOptions()
            options.failurePlaceholder = failure
            view.load(ImageRequest(url: Sources.url("unknown"), size: .fill(width: 32, height: 32)), options: options)
            window.show()
            Stand.pump("the failure") {
                if case .failed = view.snapshot().state { true } else { false }
            }
            window.frame()
            defer { window.close() }
            return try window.screenshot()
        }

        func testButtonKeepsItsLabelNextToTheImageAndHasABackground() throws {
            try Stand.run {
                let button = try XCTUnwrap(gtk_button_new_with_label("Go"))
                let label = try XCTUnwrap(gtk_button_get_child(Self.button(button)))
                let window = try TestWindow(button)
                let view = try XCTUnwrap(WebImageView(for: button, manager: Self.stub().manager))
                view.load(Sources.url("green"), slot: .background)
                window.show()
                Stand.pump("the background") { view.snapshot(of: .background).state == .showing }
                window.frame()
                let drawn = try window.screenshot()
                assertColor(drawn.color(4, 60), [0, 200, 0], "past the padding")
                XCTAssertNotNil(gtk_widget_get_ancestor(label, gtk_button_get_type()), "the label is still a child")
                view.load(ImageRequest(url: Sources.url("red"), size: .fit(width: 32, height: 32)))
                Stand.pump("the image") { view.snapshot().state == .showing }
                window.frame()
                let both = try window.screenshot()
                XCTAssertTrue((0..<both.width).contains { both.color($0, 60) == drawn.color(4, 60) })
                XCTAssertTrue((0..<both.width).contains { Self.isNear(both.color($0, 60), [200, 0, 0]) })
                window.close()
            }
        }

        func testEveryStateOfAButtonHasAnImage() throws {
            try Stand.run {
                let button = try XCTUnwrap(gtk_button_new())
                let window = try TestWindow(button)
                let view = try XCTUnwrap(WebImageView(for: Self.button(button), manager: Self.stub().manager))
                view.load(Sources.url("red"))
                view.load(Sources.url("green"), slot: .image(.hover))
                view.load(Sources.url("blue"), slot: .image(.disabled))
                window.show()
                let slots: [ImageSlot] = [.image, .image(.hover), .image(.disabled)]
                Stand.pump("the images of all states") {
                    slots.allSatisfy { view.snapshot(of: $0).state == .showing }
                }
                window.frame()
                assertColor(try window.screenshot().middle, [200, 0, 0])
                gtk_widget_set_state_flags(button, GTK_STATE_FLAG_PRELIGHT, 0)
                window.frame()
                assertColor(try window.screenshot().middle, [0, 200, 0])
                gtk_widget_set_state_flags(button, GTK_STATE_FLAG_ACTIVE, 0)
                window.frame()
                assertColor(
                    try window.screenshot().middle, [200, 0, 0], "a state without an image uses the normal one")
                gtk_widget_set_sensitive(button, 0)
                window.frame()
                XCTAssertGreaterThan(try window.screenshot().middle[2], 90, "the theme dims the image")
                window.close()
            }
        }

        func testStateWithoutContentShowsTheNormalImage() throws {
            try Stand.run {
                let button = try XCTUnwrap(gtk_button_new())
                let window = try TestWindow(button)
                let stub = Self.stub()
                let gate = TestGate()
                let error = ImageError.network(ImageError.NetworkFailure(.offline, url: Sources.url("broken")))
                stub.respond(to: Sources.url("broken"), with: .failure(error))
                stub.respond(
                    to: Sources.url("slow"),
                    with: .color(PixelColor(red: 0, green: 0, blue: 200), width: 32, height: 32, gate: gate))
                let view = try XCTUnwrap(WebImageView(for: Self.button(button), manager: stub.manager))
                view.load(Sources.url("red"))
                view.load(Sources.url("broken"), slot: .image(.hover))
                view.load(Sources.url("slow"), slot: .image(.active))
                window.show()
                Stand.pump("the image and the failure") {
                    guard case .failed = view.snapshot(of: .image(.hover)).state else { return false }
                    return view.snapshot().state == .showing
                }
                for flag in [GTK_STATE_FLAG_PRELIGHT, GTK_STATE_FLAG_ACTIVE] {
                    gtk_widget_set_state_flags(button, flag, 1)
                    XCTAssertEqual(view.displayedSlot(), .image)
                    window.frame()
                    assertColor(try window.screenshot().middle, [200, 0, 0])
                }
                gate.open()
                Stand.pump("the image of the pressed button") {
                    view.snapshot(of: .image(.active)).state == .showing
                }
                XCTAssertEqual(view.displayedSlot(), .image(.active))
                XCTAssertEqual(view.request(of: view.displayedSlot())?.url, Sources.url("slow"))
                window.frame()
                assertColor(try window.screenshot().middle, [0, 0, 200], "without a change of the state")
                view.clear(.image(.active))
                window.frame()
                assertColor(try window.screenshot().middle, [200, 0, 0])
                window.close()
            }
        }

        func testHighlightedImage() throws {
            try Stand.run {
                for isButton in [false, true] {
                    let widget = try XCTUnwrap(isButton ? gtk_button_new() : gtk_picture_new())
                    let window = try TestWindow(widget)
                    let view = try XCTUnwrap(WebImageView(for: widget, manager: Self.stub().manager))
                    view.load(Sources.url("red"))
                    view.load(Sources.url("green"), slot: .highlighted)
                    window.show()
                    Stand.pump("both images") {
                        view.snapshot().state == .showing && view.snapshot(of: .highlighted).state == .showing
                    }
                    @MainActor func check(_ color: [Int], _ slot: ImageSlot, _ message: String) throws {
                        XCTAssertEqual(view.displayedSlot(), slot, message)
                        window.frame()
                        assertColor(try window.screenshot().middle, color, message)
                    }
                    gtk_widget_set_state_flags(widget, GTK_STATE_FLAG_NORMAL, 1)
                    try check([200, 0, 0], .image, "normal")
                    for flag in [GTK_STATE_FLAG_PRELIGHT, GTK_STATE_FLAG_ACTIVE, GTK_STATE_FLAG_SELECTED] {
                        gtk_widget_set_state_flags(widget, flag, 1)
                        try check([0, 200, 0], .highlighted, "state \(flag.rawValue)")
                    }
                    gtk_widget_set_state_flags(widget, GTK_STATE_FLAG_NORMAL, 1)
                    view.isHighlighted = true
                    try check([0, 200, 0], .highlighted, "highlighted by the application")
                    view.load(Sources.url("blue"), slot: .image(.active))
                    Stand.pump("the third image") { view.snapshot(of: .image(.active)).state == .showing }
                    try check([0, 0, 200], .image(.active), "the image of a state precedes the highlighted one")
                    view.clear(.image(.active))
                    view.clear(.highlighted)
                    try check([200, 0, 0], .image, "no highlighted image")
                    view.isHighlighted = false
                    XCTAssertEqual(view.displayedSlot(for: .background), .background)
                    window.close()
                }
            }
        }

        func testInsensitiveWidgetIsNotHighlighted() throws {
            try Stand.run {
                let picture = try XCTUnwrap(gtk_picture_new())
                let window = try TestWindow(picture)
                let view = try XCTUnwrap(WebImageView(for: picture, manager: Self.stub().manager))
                view.load(Sources.url("red"))
                view.load(Sources.url("green"), slot: .highlighted)
                view.isHighlighted = true
                window.show()
                Stand.pump("both images") {
                    view.snapshot().state == .showing && view.snapshot(of: .highlighted).state == .showing
                }
                XCTAssertEqual(view.displayedSlot(), .highlighted)
                gtk_widget_set_sensitive(picture, 0)
                XCTAssertEqual(view.displayedSlot(), .image)
                gtk_widget_set_sensitive(picture, 1)
                XCTAssertEqual(view.displayedSlot(), .highlighted)
                window.close()
            }
        }

        func testMenuButton() throws {
            try Stand.run {
                let button = try XCTUnwrap(gtk_menu_button_new())
                let window = try TestWindow(button)
                let view = try XCTUnwrap(WebImageView(for: button, manager: Self.stub().manager))
                view.load(Sources.url("yellow"))
                window.show()
                Stand.pump("the image") { view.snapshot().state == .showing }
                window.frame()
                assertColor(try window.screenshot().middle, [200, 200, 0])
                window.close()
            }
        }

        func testAnyWidgetWithAClosure() throws {
            try Stand.run {
                let inner = try XCTUnwrap(gtk_picture_new())
                let frame = try XCTUnwrap(gtk_frame_new(nil))
                gtk_frame_set_child(UnsafeMutableRawPointer(frame).assumingMemoryBound(to: GtkFrame.self), inner)
                XCTAssertNil(WebImageView(for: frame), "the class has no image property")
                let window = try TestWindow(frame)
                nonisolated(unsafe) let picture = OpaquePointer(inner)
                let view = WebImageView(for: frame, manager: Self.stub().manager) {
                    gtk_picture_set_paintable(picture, $0)
                }
                view.load(Sources.url("blue"))
                window.show()
                Stand.pump("the image") { view.snapshot().state == .showing }
                window.frame()
                assertColor(try window.screenshot().middle, [0, 0, 200])
                window.close()
            }
        }

        func testWidgetsOfOtherBindings() throws {
            try Stand.run {
                struct Widget: GTKWidgetRepresentable {
                    let gtkWidgetPointer: UnsafeMutableRawPointer
                }
                let picture = try XCTUnwrap(gtk_picture_new())
                let window = try TestWindow(picture)
                let view = try XCTUnwrap(
                    WebImageView(for: Widget(gtkWidgetPointer: picture), manager: Self.stub().manager))
                XCTAssertTrue(
                    view.controller === WebImageView(for: picture)?.controller, "views of a widget share a controller")
                XCTAssertNil(WebImageView(for: OpaquePointer(try XCTUnwrap(gtk_adjustment_new(0, 0, 1, 1, 1, 1)))))
                window.close()
            }
        }

        func testAnotherManagerUnbindsThePreviousLoad() throws {
            try Stand.run {
                let (first, second) = (Self.stub(), Self.stub())
                let picture = try XCTUnwrap(gtk_picture_new())
                let window = try TestWindow(picture)
                var codes: [Int] = []
                WebImageView(for: picture, manager: first.manager)?.load(Sources.url("red")) { result in
                    if case .failure(let error) = result { codes.append(error.code) }
                }
                let view = try XCTUnwrap(WebImageView(for: picture, manager: second.manager))
                XCTAssertEqual(codes.count, 1)
                view.load(Sources.url("green"))
                window.show()
                Stand.pump("the image") { view.snapshot().state == .showing }
                window.frame()
                assertColor(try window.screenshot().middle, [0, 200, 0])
                XCTAssertEqual(first.requests.count, 0)
                window.close()
            }
        }

        @MainActor
        private static func button(_ widget: UnsafeMutablePointer<GtkWidget>) -> UnsafeMutablePointer<GtkButton> {
            UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkButton.self)
        }

        private static func isNear(_ color: [Int], _ other: [Int]) -> Bool {
            zip(color, other).allSatisfy { abs($0 - $1) < 8 }
        }
    }
#endif
