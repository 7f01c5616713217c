// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImagePrograms
    import WebImageTestSupport
    import XCTest

    @testable import WebImageGTK
    @testable import webimage_gallery

    /// Tests with one image that is larger than the window. `ImageZoomTests` tests the calculations, and these tests
    /// check the widgets.
    final class ZoomTests: XCTestCase {
        @MainActor
        private static func opened() throws -> GalleryStage {
            let stage = try GalleryStage("--count", "12", "--transition", "none")
            stage.waitForImages(atLeast: 4)
            stage.window.open(1)
            stage.waitForFullImage()
            stage.frame()
            return stage
        }

        @MainActor
        private static func width(_ stage: GalleryStage) -> Int {
            stage.frame()
            return Int(gtk_widget_get_width(stage.window.full.view.widget))
        }

        func testKeysZoomInAndOutAndFit() throws {
            try Stand.run {
                let stage = try Self.opened()
                let window = stage.window
                for (key, action) in [
                    (GDK_KEY_plus, "zoom-in"), (GDK_KEY_minus, "zoom-out"), (GDK_KEY_0, "zoom-fit"),
                    (GDK_KEY_1, "zoom-actual"),
                ] {
                    XCTAssertEqual(GalleryWindow.action(forKey: UInt32(key)), action)
                }
                let fitted = window.full.area.zoom
                XCTAssertNil(fitted.scale)
                XCTAssertFalse(fitted.isCut)
                // The window handles the mouse wheel, which changes to other images.
                var policies = (GTK_POLICY_ALWAYS, GTK_POLICY_ALWAYS)
                gtk_scrolled_window_get_policy(window.full.area.widget.opaque, &policies.0, &policies.1)
                XCTAssertTrue(policies == (GTK_POLICY_NEVER, GTK_POLICY_NEVER))
                XCTAssertTrue(window.perform("zoom-actual"))
                XCTAssertEqual(Self.width(stage), GalleryStage.dimension, "one pixel per point")
                XCTAssertTrue(window.perform("zoom-in"))
                XCTAssertEqual(Self.width(stage), GalleryStage.dimension * 5 / 4)
                for _ in 0..<8 { window.perform("zoom-in") }
                XCTAssertTrue(window.full.area.zoom.isCut)
                XCTAssertEqual(Self.width(stage), Int((window.full.area.zoom.content.width).rounded()))
                XCTAssertTrue(window.perform("zoom-out"))
                XCTAssertTrue(window.perform("zoom-fit"))
                stage.frame()
                XCTAssertEqual(window.full.area.zoom, fitted)
                // Another image is fitted at first.
                window.perform("zoom-in")
                window.perform("next")
                XCTAssertNil(window.full.area.zoom.scale)
                stage.close()
            }
        }

        func testScrolledWindowShowsTheExpectedPart() throws {
            try Stand.run {
                let stage = try Self.opened()
                let area = stage.window.full.area
                area.change { $0.show(scale: 8, at: ImageZoom.Point(x: 0, y: 0)) }
                let asked = area.zoom
                stage.frame()
                XCTAssertEqual(area.zoom.offset.x, asked.offset.x, accuracy: 1)
                XCTAssertEqual(area.zoom.offset.y, asked.offset.y, accuracy: 1)
                let middle = area.middle
                area.change { $0.show(scale: 6, at: middle) }
                stage.frame()
                area.change { $0.pan(x: -300, y: -200) }
                let moved = area.zoom.offset
                stage.frame()
                XCTAssertEqual(area.zoom.offset.x, moved.x, accuracy: 1)
                XCTAssertGreaterThanOrEqual(moved.x, 300)
                stage.close()
            }
        }

        func testDoubleClickAndDrag() throws {
            try Stand.run {
                let stage = try Self.opened()
                let area = stage.window.full.area
                area.change { $0.show(scale: 4, at: area.middle) }
                stage.frame()
                let before = area.zoom.offset
                let drag = try Emission.controller(gtk_gesture_drag_get_type(), of: area.widget)
                Emission.emit(drag, "drag-begin", 100, 100)
                Emission.emit(drag, "drag-update", 30, 10)
                Emission.emit(drag, "drag-update", 50, 40)
                XCTAssertEqual(area.zoom.offset.x, before.x - 50, accuracy: 1)
                XCTAssertEqual(area.zoom.offset.y, before.y - 40, accuracy: 1)
                area.change { $0.toggle(at: area.middle) }
                stage.frame()
                XCTAssertNil(area.zoom.scale)
                Emission.emit(drag, "drag-begin", 100, 100)
                Emission.emit(drag, "drag-update", 30, 10)
                XCTAssertEqual(area.zoom.offset, ImageZoom.Point(), "a fitted image doesn't move")
                let pinch = try Emission.controller(gtk_gesture_zoom_get_type(), of: area.widget)
                Emission.emit(pinch, "scale-changed", 2)
                XCTAssertEqual(area.zoom.current, 2, accuracy: 0.01, "twice the scale at the beginning of the gesture")
                XCTAssertEqual(GalleryWindow.pan(forKey: UInt32(GDK_KEY_Left))?.x, 80)
                XCTAssertNil(GalleryWindow.pan(forKey: UInt32(GDK_KEY_Page_Down)))
                stage.close()
            }
        }

        func testExpectedPartOfAPhotographIsShown() throws {
            try Stand.run {
                let stage = try GalleryStage("--count", "12", "--transition", "none")
                let file = Fixtures.directory.deletingLastPathComponent().deletingLastPathComponent()
                    .appending(path: "Sources/webimage/Album/dusk.jpg")
                let pixels = try ImageCoderRegistry.standard.decode(
                    LooksTests.dusk.get(), options: ImageDecodingOptions(), context: ImageProcessingContext()
                ).pixels
                stage.window.add([file.absoluteString])
                stage.waitForFullImage()
                stage.frame()
                try keep(try stage.screenshot(), as: "gallery-fitted")
                let area = stage.window.full.area
                area.change { $0.show(scale: 3, at: area.middle) }
                area.change { $0.pan(x: 200, y: 150) }
                let view = stage.window.full.view.controller
                Stand.pump("the full-size image") { view.renderers[.image]?.current?.pixels?.size == pixels.size }
                stage.frame()
                try keep(try stage.screenshot(), as: "gallery-zoomed-photograph")
                let (zoom, drawn) = (area.zoom, try stage.screenshot(of: area.widget))
                XCTAssertEqual(zoom.current, 3)
                for (x, y) in [(100, 60), (400, 300), (700, 200), (900, 500)] {
                    let (left, top) = (Int((zoom.offset.x + Double(x)) / 3), Int((zoom.offset.y + Double(y)) / 3))
                    let pixel = try XCTUnwrap(pixels.pixel(x: left, y: top))
                    assertColor(
                        drawn.color(x, y), [pixel.red, pixel.green, pixel.blue].map { Int($0) }, within: 24,
                        "at \(x), \(y)")
                }
                stage.close()
            }
        }

        func testZoomedImageIsDecodedAtItsSize() throws {
            try Stand.run {
                let stage = try GalleryStage("--count", "12", "--transition", "none", dimension: 2_000, count: 2)
                stage.waitForImages(atLeast: 4)
                stage.window.open(1)
                stage.waitForFullImage()
                stage.frame()
                let view = stage.window.full.view
                XCTAssertLessThan(view.controller.renderers[.image]?.current?.pixels?.width ?? 0, 1_500)
                stage.window.perform("zoom-actual")
                Stand.pump("the full-size image") { view.controller.renderers[.image]?.current?.pixels?.width == 2_000 }
                stage.frame()
                try keep(try stage.screenshot(), as: "gallery-zoomed")
                stage.close()
            }
        }
    }
#endif
