// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Tests that compare animations and scrolled grids, at known times and positions, with the images of the
    /// documentation.
    final class MovingLooksTests: XCTestCase {
        func testAnimationShowsTheExpectedFrames() throws {
            try Stand.run {
                let begin = 1_000_000_000
                WidgetController.manualTime = begin
                let (window, view) = try NumberedImages.playing(milliseconds: 100)
                Stand.pump("the image") { view.snapshot().state == .showing }
                window.frame()
                // Each pair contains a time in milliseconds and the frame that is due then.
                for (time, index) in [(0, 0), (99, 0), (100, 1), (199, 1), (200, 2), (299, 2), (300, 0)] {
                    WidgetController.manualTime = begin + time * 1_000_000
                    Stand.pump("frame \(index) after \(time) ms") {
                        view.controller.requestTick()
                        return view.player()?.frameIndex == index
                    }
                    window.frame()
                    XCTAssertEqual(view.player()?.frameIndex, index)
                    try assertLooks(try window.screenshot(), as: "animation-\(index)")
                }
                window.close()
            }
        }

        /// GTK reuses the same few cells, so each of them has shown hundreds of images when the grid stops.
        func testGridAfterFastScrolling() throws {
            try Stand.run {
                let grid = try NumberedGrid(count: 4_000)
                grid.window.show()
                for value in [500.0, 9_000, 40_000, 3_000, 45_000, 20_000, 0, 31_000] {
                    grid.scroll(to: value)
                    // Some images don't get enough time to load. GtkGridView of GTK 4.8 shows no cells if it is
                    // scrolled again before its layout.
                    grid.window.frame()
                }
                grid.waitForImages()
                XCTAssertLessThan(grid.cells, 600)
                try assertLooks(try grid.window.screenshot(), as: "grid")
                grid.window.close()
            }
        }

        func testGridBeforeItsImagesAreLoaded() throws {
            try Stand.run {
                let gate = TestGate()
                let grid = try NumberedGrid(count: 4_000, gate: gate)
                grid.window.show()
                for value in [500.0, 9_000, 31_000] {
                    grid.scroll(to: value)
                    grid.window.frame()
                }
                Stand.pump("placeholders") { grid.isWaiting }
                grid.window.frame()
                try assertLooks(try grid.window.screenshot(), as: "grid-placeholders")
                gate.open()
                grid.waitForImages()
                try assertLooks(try grid.window.screenshot(), as: "grid")
                grid.window.close()
            }
        }
    }

    /// A grid of numbered images in a window. It has no scroll bars because they fade.
    @MainActor
    private final class NumberedGrid {
        let window: TestWindow
        private let factory: ImageListFactory<ImageListCell>
        private let grid: OpaquePointer

        init(count: Int, gate: TestGate? = nil) throws {
            let manager = Sources.manager(
                StubLoader { request in
                    let number = Int(request.url.lastPathComponent) ?? 0
                    return StubLoader.Response(
                        body: (try? NumberedImages.png(number, width: 72, height: 54)) ?? Data(), responseGate: gate)
                })
            let names = try XCTUnwrap(gtk_string_list_new(nil))
            for _ in 0..<count { gtk_string_list_append(names, "") }
            let view = try XCTUnwrap(gtk_grid_view_new(gtk_no_selection_new(names), nil))
            grid = OpaquePointer(view)
            gtk_grid_view_set_min_columns(grid, 5)
            gtk_grid_view_set_max_columns(grid, 5)
            let scroller = try XCTUnwrap(gtk_scrolled_window_new())
            gtk_scrolled_window_set_policy(OpaquePointer(scroller), GTK_POLICY_NEVER, GTK_POLICY_EXTERNAL)
            gtk_scrolled_window_set_child(OpaquePointer(scroller), view)
            window = try TestWindow(scroller, width: 420, height: 260)
            factory = ImageListFactory(
                manager: manager,
                makeCell: {
                    let picture: UnsafeMutablePointer<GtkWidget> = gtk_picture_new()
                    gtk_widget_set_size_request(picture, 72, 54)
                    // This initializer always succeeds for a GtkPicture.
                    let view =
                        WebImageView(for: picture, manager: manager)
                        ?? WebImageView(for: picture, manager: manager) { _ in }
                    view.contentFit = .cover
                    view.cornerRadius = 6
                    return ImageListCell(root: picture, view: view)
                },
                content: { position in
                    ImageListContent(
                        ImageRequest(url: Sources.url("\(position)"), size: .fit(width: 72, height: 54)),
                        options: ImageViewOptions(
                            placeholder: .color(PixelColor(red: 128, green: 132, blue: 140, alpha: 90))))
                })
            XCTAssertTrue(factory.install(on: grid))
        }

        var cells: Int { factory.cells.count }

        func scroll(to value: Double) { gtk_adjustment_set_value(gtk_scrollable_get_vadjustment(grid), value) }

        private func isEverywhere(_ holds: (ImageBinder.Snapshot) -> Bool) -> Bool {
            let seen = factory.cells.filter { $0.cell.isVisible }
            return seen.count >= 15 && seen.allSatisfy { holds($0.cell.view.snapshot()) }
        }

        var isWaiting: Bool { isEverywhere { $0.content == .placeholder && $0.state == .loading } }

        /// Waits until all visible images are loaded and drawn.
        func waitForImages(file: StaticString = #filePath, line: UInt = #line) {
            Stand.pump("the images", file: file, line: line) { isEverywhere { $0.state == .showing } }
            window.frame()
            Stand.pump("drawn images", file: file, line: line) {
                factory.cells.allSatisfy { cell in
                    !cell.cell.isVisible || cell.cell.view.controller.renderers[.image]?.reached == .transitionFinished
                }
            }
        }
    }
#endif
