// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCommand
    import WebImagePrograms
    import XCTest

    @testable import WebImageGTK
    @testable import webimage_gallery

    /// Tests of the whole application except its command line: model, server, and window.
    final class GalleryTests: XCTestCase {
        func testOpensShowsScrollsAndReleasesEverything() throws {
            try Stand.run {
                let before = ControllerRegistry.shared.count
                // The objects that retain the parts of the window are released at the end of this function.
                @MainActor func use() throws -> ImageManager {
                    let stage = try GalleryStage("--count", "3000", "--thumbnail-size", "96", "--transition", "none")
                    stage.waitForImages(atLeast: 24)
                    try stage.checkImages()
                    let upper = stage.window.grid.scroll.upper
                    for part in [0.2, 0.9, 0.5, 1] {
                        stage.window.grid.scroll.value = upper * part
                        stage.frame()
                        stage.waitForImages(atLeast: 24)
                        try stage.checkImages()
                    }
                    XCTAssertEqual(stage.window.grid.visible.upperBound, 3_000)
                    stage.close()
                    return stage.model.manager
                }
                let manager = try use()
                Stand.pump("the release of all controllers") { ControllerRegistry.shared.count == before }
                Stand.pump("rest") { manager.runningJobs == 0 }
            }
        }

        func testImageOpensWithItsThumbnailAndKeysMoveBetweenImages() throws {
            try Stand.run {
                let stage = try GalleryStage("--count", "50", "--transition", "none")
                stage.waitForImages(atLeast: 10)
                let window = stage.window
                XCTAssertFalse(window.perform("next"))
                window.open(1)
                XCTAssertTrue(window.isFull)
                // Before the first frame, the view shows the image that the grid has in memory.
                let instant = WidgetController.of(window.full.view.widget)?.renderer(.image).current?.image
                XCTAssertLessThan(try XCTUnwrap(instant).size.width, GalleryStage.dimension)
                stage.waitForFullImage()
                XCTAssertEqual(window.full.image?.size.width, GalleryStage.dimension)
                XCTAssertTrue(window.perform("next"))
                XCTAssertEqual(window.index, 2)
                stage.waitForFullImage()
                stage.frame()
                assertColor(
                    try stage.screenshot(of: window.full.view.widget).middle, GalleryStage.color(2), "the third image"
                )
                XCTAssertTrue(window.perform("previous"))
                window.step(by: -5)
                XCTAssertEqual(window.index, 0)
                XCTAssertFalse(window.perform("previous"))
                window.step(by: 500)
                XCTAssertEqual(window.index, 49)
                XCTAssertTrue(window.perform("back"))
                XCTAssertFalse(window.isFull)
                XCTAssertEqual(window.grid.selected, 49)
                Stand.pump("the last cells") { window.grid.visible.upperBound == 50 }
                XCTAssertEqual(GalleryWindow.action(forKey: UInt32(GDK_KEY_Escape)), "back")
                XCTAssertEqual(GalleryWindow.action(forKey: UInt32(GDK_KEY_Right)), "next")
                XCTAssertNil(GalleryWindow.action(forKey: UInt32(GDK_KEY_a)))
                stage.close()
            }
        }

        func testPreferencesApplyToTheCells() throws {
            try Stand.run {
                let stage = try GalleryStage("--count", "60", "--transition", "none")
                stage.waitForImages(atLeast: 10)
                stage.model.settings.cellSize = 240
                stage.frame()
                stage.waitForImages(atLeast: 4)
                let cell = try XCTUnwrap(stage.window.grid.cells.first)
                XCTAssertEqual(gtk_widget_get_width(cell.view.widget), 240)
                XCTAssertTrue(stage.window.perform("smaller"))
                XCTAssertEqual(stage.model.settings.cellSize, 216)
                stage.model.setFilter("number 7")
                Stand.pump("the filtered images") {
                    stage.window.grid.visible.upperBound == stage.model.contents.visibleItems.count
                }
                XCTAssertTrue(stage.model.contents.visibleItems.allSatisfy { $0.title.contains("7") })
                stage.model.setFilter("nothing like this")
                stage.frame()
                XCTAssertEqual(stage.window.grid.progress.all, 0)
                stage.model.setFilter("")
                stage.waitForImages(atLeast: 4)
                stage.close()
            }
        }

        func testFailuresAreShownAndRetried() throws {
            try Stand.run {
                let stage = try GalleryStage(
                    "--count", "12", "--transition", "none", "--failure-rate", "100", "--retry", "0")
                stage.waitForImages(atLeast: 12)
                XCTAssertTrue(stage.window.grid.cells.allSatisfy { $0.view.snapshot().state != .showing })
                stage.model.settings.network.failures = 0
                XCTAssertTrue(stage.window.perform("retry"))
                Stand.pump("the images") { stage.window.grid.cells.allSatisfy { $0.view.snapshot().state == .showing } }
                stage.close()
            }
        }

        func testDroppedFilesAreAddedAndOpened() throws {
            try Stand.run {
                let stage = try GalleryStage("--count", "12")
                stage.waitForImages(atLeast: 12)
                let file = stage.directory.appending(path: "p5.png").absoluteString
                stage.window.add([file])
                stage.waitForFullImage()
                XCTAssertEqual(stage.model.contents.items.count, 13)
                XCTAssertEqual(stage.window.index, 12)
                stage.window.add([stage.directory.absoluteString])
                Stand.pump("the dropped images") { stage.model.contents.items.count == 12 + GalleryStage.imageCount }
                XCTAssertEqual(
                    Dropped.lines("# list\r\nhttps://a.example/x\r\n\r\n y \n"), ["https://a.example/x", "y"])
                stage.close()
            }
        }
    }

    /// A gallery of images, each of which has one color.
    @MainActor
    final class GalleryStage {
        static let imageCount = 24
        static let dimension = 400
        private let dimension: Int
        private let count: Int
        let directory: URL
        let model: GalleryModel
        let window: GalleryWindow

        static func color(_ number: Int) -> [Int] { Sources.color(of: number * 19 % 4_096).map(Int.init) }

        /// Creates a gallery and presents its window.
        ///
        /// - Parameters:
        ///   - words: The command line.
        ///   - dimension: The width and height of the images, in pixels.
        ///   - count: The number of different images. Additional cells repeat them.
        ///   - animated: A Boolean value that indicates whether the first image is an animation.
        ///   - hashes: The BlurHashes of the images, which repeat from the first. If the array is empty, images have no
        ///     BlurHash.
        init(
            _ words: String..., dimension: Int = GalleryStage.dimension, count: Int = GalleryStage.imageCount,
            animated: Bool = false, hashes: [String] = []
        ) throws {
            self.dimension = dimension
            self.count = count
            Style.install()
            directory = FileManager.default.temporaryDirectory.appending(
                path: "webimage-gallery-test-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            var entries: [String] = []
            for number in 0..<count {
                let data =
                    animated && number == 0
                    ? try NumberedImages.gif(frames: 3, milliseconds: 30)
                    : try Sources.png(Self.color(number).map(UInt8.init), width: dimension, height: dimension)
                try data.write(to: directory.appending(path: "p\(number).png"))
                let hash = hashes.isEmpty ? "" : #", "blurHash": "\#(hashes[number % hashes.count])""#
                entries.append(
                    #"{"file": "p\#(number).png", "title": "Number \#(number)", "kind": "picture"\#(hash)}"#)
            }
            try Data("[\(entries.joined(separator: ","))]".utf8).write(to: directory.appending(path: "album.json"))
            setenv("WEBIMAGE_ALBUM", directory.path(percentEncoded: false), 1)
            let options = try GalleryOptions(Arguments(words, for: Commands.gallery))
            model = try GalleryModel(options) { XCTFail($0) }
            window = GalleryWindow(model, application: nil)
            window.present()
            frame()
        }

        private var widget: UnsafeMutablePointer<GtkWidget> {
            UnsafeMutableRawPointer(window.window).assumingMemoryBound(to: GtkWidget.self)
        }

        func frame() {
            Stand.pump("the window") { gtk_widget_get_mapped(widget) != 0 && gtk_widget_get_width(widget) > 0 }
            for _ in 0..<4 {
                var ticked = false
                withUnsafeMutablePointer(to: &ticked) { flag in
                    _ = gtk_widget_add_tick_callback(
                        widget,
                        { _, _, data in
                            data?.assumingMemoryBound(to: Bool.self).pointee = true
                            return 0
                        }, flag, nil)
                    Stand.pump("a frame") { flag.pointee }
                }
            }
            Stand.settle()
        }

        /// Waits until all visible cells have finished loading.
        func waitForImages(atLeast count: Int, file: StaticString = #filePath, line: UInt = #line) {
            Stand.pump("\(count) images", file: file, line: line) {
                let progress = window.grid.progress
                return progress.all >= count && progress.ready == progress.all
            }
            frame()
        }

        /// Waits until the large view shows its image, also after the transition from the content before.
        func waitForFullImage(file: StaticString = #filePath, line: UInt = #line) {
            Stand.pump("the full-size image", file: file, line: line) { window.full.image != nil }
            let renderer = WidgetController.of(window.full.view.widget)?.renderer(.image)
            Stand.pump("the end of the transition", file: file, line: line) { renderer?.transition == nil }
        }

        /// Checks that every visible cell shows its image.
        func checkImages(file: StaticString = #filePath, line: UInt = #line) throws {
            for (position, view) in window.grid.cells where window.grid.visible.contains(position) {
                guard gtk_widget_get_mapped(view.widget) != 0 else { continue }
                XCTAssertEqual(view.snapshot().state, .showing, file: file, line: line)
                assertColor(
                    try screenshot(of: view.widget).middle, Self.color(position % count), "at \(position)",
                    file: file,
                    line: line)
            }
        }

        /// Returns a screenshot of the window or a part of it.
        func screenshot(of part: UnsafeMutablePointer<GtkWidget>? = nil) throws -> Screenshot {
            let part = part ?? widget
            let paintable = try XCTUnwrap(gtk_widget_paintable_new(part))
            defer { g_object_unref(UnsafeMutableRawPointer(paintable)) }
            var found: OpaquePointer?
            let (width, height) = (Double(gtk_widget_get_width(part)), Double(gtk_widget_get_height(part)))
            Stand.pump("a nonempty snapshot") {
                let snapshot = gtk_snapshot_new()
                gdk_paintable_snapshot(paintable, snapshot, width, height)
                found = gtk_snapshot_free_to_node(snapshot)
                return found != nil
            }
            let node = try XCTUnwrap(found)
            defer { gsk_render_node_unref(node) }
            let renderer = gtk_native_get_renderer(OpaquePointer(widget))
            var viewport = graphene_rect_t(LayoutRect(x: 0, y: 0, width: width, height: height))
            let texture = try XCTUnwrap(gsk_renderer_render_texture(renderer, node, &viewport))
            defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
            return Screenshot(texture)
        }

        func close() {
            gtk_window_destroy(window.window)
            Stand.settle()
            model.close()
            try? FileManager.default.removeItem(at: directory)
        }
    }
#endif
