// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Tests with lists of thousands of images, whose colors depend on their numbers.
    final class ListTests: XCTestCase {
        func testGridShowsTheRightImagesAtEveryScrollPosition() throws {
            try Stand.run {
                let before = ControllerRegistry.shared.count
                let stage = try GridStage(count: 4_000)
                stage.window.show()
                try stage.check("at the top")
                for value in [900.0, 20_000, 60_000, 0, 1e9] {
                    stage.scroll(to: value)
                    try stage.check("at \(value)")
                }
                XCTAssertEqual(stage.factory.visibleRange.upperBound, 4_000)
                // The list has far fewer cells than positions.
                XCTAssertLessThan(ControllerRegistry.shared.count - before, 600)
                stage.window.close()
                Stand.pump("the release of all controllers") { ControllerRegistry.shared.count == before }
                Stand.pump("rest") { stage.manager.runningJobs == 0 }
            }
        }

        func testTenThousandRebindsReleaseAllControllers() throws {
            try Stand.run {
                let before = ControllerRegistry.shared.count
                let stage = try GridStage(count: 10_000)
                stage.window.show()
                var step = 0
                while stage.binds < 10_000 {
                    step += 1
                    // Each step scrolls far from the previous one, so that all cells are rebound.
                    stage.scroll(to: Double(step * 37 % 97) * 800)
                    stage.window.frame()
                }
                stage.scroll(to: 12_000)
                try stage.check("at rest")
                stage.window.close()
                Stand.pump("rest") { stage.manager.runningJobs == 0 }
                Stand.pump("the release of all controllers") { ControllerRegistry.shared.count == before }
            }
        }

        func testPrefetchesAheadAndRestartsForAnotherList() throws {
            try Stand.run {
                let stage = try GridStage(count: 4_000)
                stage.window.show()
                try stage.check("at the top")
                let prefetcher = try XCTUnwrap(stage.factory.prefetcher)
                XCTAssertEqual(prefetcher.window.visible, stage.factory.visibleRange)
                XCTAssertFalse(prefetcher.window.started.isEmpty)
                Stand.pump("the end of the prefetches") { prefetcher.runningCount == 0 }
                // This is the first scroll, and it goes far. Without a workaround, GtkGridView of GTK 4.8 shows no
                // cells then.
                stage.scroll(to: stage.height * 0.8)
                try stage.check("near the end")
                XCTAssertGreaterThan(stage.factory.visibleRange.lowerBound, 3_000)
                XCTAssertEqual(prefetcher.window.direction, .forward)
                let below = stage.factory.visibleRange
                stage.scroll(to: stage.height * 0.3)
                try stage.check("back at the top")
                Stand.pump("the visible range at the top") { stage.factory.visibleRange.upperBound < below.lowerBound }
                XCTAssertEqual(prefetcher.window.direction, .backward)
                XCTAssertLessThan(
                    try XCTUnwrap(prefetcher.window.started.min()), stage.factory.visibleRange.lowerBound)
                // A shorter list restarts the prefetcher.
                gtk_string_list_splice(stage.names, 0, 3_990, nil)
                Stand.pump("the shorter list") { stage.factory.visibleRange.upperBound == 10 }
                XCTAssertEqual(prefetcher.window.count, 10)
                stage.window.close()
            }
        }

        func testVisibleRangeIsKnownEvenIfEveryFrameIsSlow() throws {
            try Stand.run {
                let stage = try GridStage(count: 400)
                let slow = SlowFrames(stage.window.widget)
                stage.window.show()
                Stand.pump("the visible images") { !stage.factory.visibleRange.isEmpty }
                slow.end()
                try stage.check("at the top")
                stage.window.close()
            }
        }

        func testInFlightCellsWaitAndTheLandingIsPrefetched() throws {
            try Stand.run {
                let stage = try GridStage(count: 4_000)
                stage.window.show()
                try stage.check("at the top")
                let prefetcher = try XCTUnwrap(stage.factory.prefetcher)
                let target = stage.height * 0.9
                var elapsed = 0.0
                var (sawWaiting, sawLanding, isOver) = (false, false, false)
                // A frame of a busy machine can take longer than the flight, so each frame stands for the same time. It's
                // shorter than that of a frame, so that the real clock is ahead afterward.
                let start = Double(g_get_monotonic_time()) / 1e6
                stage.factory.frameClock = { start + elapsed }
                let script = FrameScript(stage.window.widget) {
                    elapsed += 1.0 / 75
                    isOver = elapsed >= 3
                    stage.move(to: isOver ? target : target * (1 - exp(-elapsed / 0.4)))
                    sawWaiting = sawWaiting || stage.factory.cells.contains { $0.cell.view.snapshot().state == .idle }
                    let visible = stage.factory.visibleRange
                    sawLanding = sawLanding || prefetcher.window.started.contains { $0 > visible.upperBound + 300 }
                }
                Stand.pump("the flight") { isOver }
                script.end()
                stage.factory.frameClock = nil
                XCTAssertTrue(sawWaiting, "a cell in flight started its load")
                XCTAssertTrue(sawLanding, "nothing was prefetched at the landing")
                try stage.check("at rest")
                XCTAssertGreaterThan(stage.factory.visibleRange.lowerBound, 3_400)
                stage.window.close()
                Stand.pump("rest") { stage.manager.runningJobs == 0 }
            }
        }

        func testFirstImagesLoadBeforeTheListIsVisible() throws {
            try Stand.run {
                let stage = try GridStage(count: 4_000)
                if !stage.factory.cells.isEmpty {
                    Stand.pump("the first loads") { stage.manager.statistics.loads == 6 }
                }
                stage.window.show()
                try stage.check("at the top")
                stage.window.close()
                Stand.pump("rest") { stage.manager.runningJobs == 0 }
            }
        }

        func testCellsFarFromTheVisibleAreaNeverLoad() throws {
            try Stand.run {
                let loader = Sources.numbered(width: 40, height: 40)
                let stage = try GridStage(count: 4_000, loader: loader)
                // GTK has mapped the rows, but hasn't laid them out, until the first frame ends.
                let slow = SlowFrames(stage.window.widget)
                stage.window.show()
                try stage.check("at the top")
                slow.end()
                XCTAssertGreaterThan(stage.factory.cells.count, 100)
                Stand.pump("rest") { stage.manager.runningJobs == 0 }
                // The visible cells, and as many cells after those.
                let count = 2 * stage.factory.visibleRange.count + 5
                let requested = Set(loader.requests.compactMap { Int($0.url.lastPathComponent) })
                XCTAssertTrue(requested.isSuperset(of: stage.factory.visibleRange))
                XCTAssertTrue(requested.allSatisfy { $0 < count }, "\(requested.sorted())")
                let loading = stage.factory.cells.filter { $0.cell.view.snapshot().state != .idle }.map(\.position)
                XCTAssertTrue(loading.allSatisfy { $0 < count }, "\(loading)")
                XCTAssertEqual(stage.manager.statistics.cancellations, 0)

                // A jump to another page loads only the cells there.
                stage.scroll(to: stage.height / 2)
                try stage.check("in the middle")
                Stand.pump("rest") { stage.manager.runningJobs == 0 }
                let visible = stage.factory.visibleRange
                let near = (visible.lowerBound - count)..<(visible.upperBound + count)
                let later = Set(loader.requests.compactMap { Int($0.url.lastPathComponent) }).subtracting(requested)
                XCTAssertTrue(later.allSatisfy { near.contains($0) }, "\(later.sorted()), visible: \(visible)")
                stage.window.close()
            }
        }

        func testWaitingCellShowsAnotherSizeThatIsInMemory() throws {
            try Stand.run {
                let loader = Sources.numbered(width: 40, height: 40)
                let manager = Sources.manager(loader)
                let small = ImageRequest(url: Sources.url("9"), size: .fit(width: 10, height: 10))
                let large = ImageRequest(url: small.url, size: .fit(width: 40, height: 40))
                let task = manager.load(small)
                Stand.pump("the small image") { manager.cachedImage(for: small) != nil }
                task.cancel()
                let cell = GridStage.cell(manager)
                let window = try TestWindow(cell.root)
                window.show()
                window.frame()
                let empty = try window.screenshot().middle
                var options = ImageViewOptions()
                options.usesCachedPlaceholder = false
                cell.show(0, ImageListContent(large, options: options))
                window.frame()
                XCTAssertEqual(try window.screenshot().middle, empty)
                options.usesCachedPlaceholder = true
                cell.show(0, ImageListContent(large, options: options))
                window.frame()
                XCTAssertEqual(cell.view.snapshot().state, .idle)
                assertColor(try window.screenshot().middle, Sources.color(of: 9).map(Int.init))
                XCTAssertEqual(loader.requests.count, 1)
                cell.startDeferred()
                Stand.pump("the image") { cell.view.snapshot().state == .showing }
                XCTAssertEqual(cell.view.snapshot().content, .image)
                window.close()
            }
        }

        func testReloadRequestsAllContentAgain() throws {
            try Stand.run {
                let stage = try GridStage(count: 100)
                stage.window.show()
                try stage.check("at the top")
                stage.offset = 7
                stage.factory.reload()
                try stage.check("after the change")
                stage.window.close()
            }
        }

        func testFailuresOfCellsAreReportedWithTheirPositions() throws {
            try Stand.run {
                let failure = ImageError.request(.rejected(reason: "the number is odd"))
                let loader = StubLoader { request in
                    let number = Int(request.url.lastPathComponent) ?? 0
                    return number.isMultiple(of: 2)
                        ? StubLoader.Response(body: (try? Sources.png([9, 9, 9], width: 40, height: 40)) ?? Data())
                        : StubLoader.Response(error: failure)
                }
                let stage = try GridStage(count: 10, loader: loader)
                var failed: [Int: ImageError] = [:]
                stage.factory.onFailure = { cell, position, error in
                    XCTAssertEqual(cell.position, position)
                    failed[position] = error
                }
                stage.window.show()
                Stand.pump("the failures") { failed.count == 5 }
                XCTAssertEqual(Set(failed.keys), [1, 3, 5, 7, 9])
                XCTAssertTrue(failed.values.allSatisfy { $0.code == failure.code })
                Stand.pump("the images") {
                    stage.factory.cells.filter { $0.cell.view.snapshot().state == .showing }.count == 5
                }
                XCTAssertEqual(failed.count, 5)
                stage.window.close()
            }
        }

        func testOnlyListsAcceptTheFactory() throws {
            try Stand.run {
                let label = try XCTUnwrap(gtk_label_new("x"))
                g_object_ref_sink(UnsafeMutableRawPointer(label))
                defer { g_object_unref(UnsafeMutableRawPointer(label)) }
                let factory = ImageListFactory(makeCell: GridStage.cell, content: { _ in ImageListContent(nil) })
                XCTAssertFalse(factory.install(on: OpaquePointer(label)))
                XCTAssertNil(
                    ImageFlowBox(
                        OpaquePointer(label), count: 1, makeCell: GridStage.cell,
                        content: { _ in ImageListContent(nil) }))
            }
        }

        func testFlowBoxLoadsVisibleImagesAndReleasesDistantOnes() throws {
            try Stand.run {
                let before = ControllerRegistry.shared.count
                let manager = Sources.manager(Sources.numbered(width: 40, height: 40))
                // The objects that retain the cells are released at the end of this function.
                @MainActor func use() throws {
                    let box = try XCTUnwrap(gtk_flow_box_new())
                    gtk_flow_box_set_max_children_per_line(OpaquePointer(box), 4)
                    gtk_flow_box_set_min_children_per_line(OpaquePointer(box), 4)
                    let flow = try XCTUnwrap(
                        ImageFlowBox(
                            OpaquePointer(box), count: 200, manager: manager,
                            makeCell: { GridStage.cell(manager) },
                            content: {
                                ImageListContent(
                                    ImageRequest(url: Sources.url("\($0)"), size: .fit(width: 40, height: 40)))
                            }))
                    let scroller = try XCTUnwrap(gtk_scrolled_window_new())
                    gtk_scrolled_window_set_child(OpaquePointer(scroller), box)
                    let window = try TestWindow(scroller, width: 240, height: 200)
                    window.show()
                    @MainActor func isReady() -> Bool {
                        !flow.visibleRange.isEmpty
                            && flow.visibleRange.allSatisfy { flow.cells[$0].view.snapshot().state == .showing }
                    }
                    Stand.pump("the visible images") { isReady() }
                    XCTAssertEqual(flow.visibleRange.lowerBound, 0)
                    XCTAssertLessThan(flow.visibleRange.upperBound, 60)
                    XCTAssertNil(flow.cells[199].position)
                    let first = flow.visibleRange
                    let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scroller))
                    gtk_adjustment_set_value(adjustment, gtk_adjustment_get_upper(adjustment))
                    Stand.pump("the last images") { flow.visibleRange.upperBound == 200 && isReady() }
                    XCTAssertTrue(first.allSatisfy { flow.cells[$0].position == nil })
                    let picture = try XCTUnwrap(flow.cells.last?.root)
                    assertColor(try window.screenshot(of: picture).middle, Sources.color(of: 199).map(Int.init))
                    flow.count = 3
                    Stand.pump("three") { flow.visibleRange == 0..<3 && isReady() }
                    window.close()
                }
                try use()
                Stand.pump("the release of all controllers") { ControllerRegistry.shared.count == before }
                Stand.pump("rest") { manager.runningJobs == 0 }
            }
        }

        /// With the address sanitizer, this test also checks that nothing of the first flow box is used after it was
        /// replaced.
        func testSecondFlowBoxOnTheSameWidgetReplacesTheFirst() throws {
            try Stand.run {
                let before = ControllerRegistry.shared.count
                let manager = Sources.manager(Sources.numbered(width: 40, height: 40))
                @MainActor func use() throws {
                    let box = try XCTUnwrap(gtk_flow_box_new())
                    let scroller = try XCTUnwrap(gtk_scrolled_window_new())
                    gtk_scrolled_window_set_child(OpaquePointer(scroller), box)
                    @MainActor func fill(_ count: Int) throws -> ImageFlowBox<ImageListCell> {
                        try XCTUnwrap(
                            ImageFlowBox(
                                OpaquePointer(box), count: count, manager: manager,
                                makeCell: { GridStage.cell(manager) },
                                content: {
                                    ImageListContent(
                                        ImageRequest(url: Sources.url("\($0)"), size: .fit(width: 40, height: 40)))
                                }))
                    }
                    let handlers = ["map", "destroy"].map { handlerCount(box, $0) }
                    weak var first: ImageFlowBox<ImageListCell>?
                    do { first = try fill(80) }
                    XCTAssertNotNil(first)
                    let window = try TestWindow(scroller, width: 240, height: 200)
                    window.show()
                    Stand.pump("the images of the first flow box") { first?.visibleRange.isEmpty == false }
                    let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scroller))
                    gtk_adjustment_set_value(adjustment, 100)
                    // A tick of the first flow box is pending now.
                    let second = try fill(60)
                    XCTAssertNil(first)
                    XCTAssertEqual(["map", "destroy"].map { handlerCount(box, $0) }, handlers.map { $0 + 1 })
                    XCTAssertEqual(childCount(box), 60)
                    window.frame()
                    gtk_adjustment_set_value(adjustment, 300)
                    Stand.pump("the middle of the second flow box") { second.visibleRange.lowerBound > 0 }
                    gtk_adjustment_set_value(adjustment, 0)
                    Stand.pump("the images of the second flow box") {
                        second.visibleRange.lowerBound == 0 && !second.visibleRange.isEmpty
                            && second.visibleRange.allSatisfy { second.cells[$0].view.snapshot().state == .showing }
                    }
                    window.hide()
                    window.show()
                    window.close()
                }
                try use()
                Stand.pump("the release of all controllers") { ControllerRegistry.shared.count == before }
                Stand.pump("rest") { manager.runningJobs == 0 }
            }
        }
    }

    @MainActor
    private func handlerCount(_ widget: UnsafeMutablePointer<GtkWidget>, _ signal: String) -> Int {
        let (object, id) = (UnsafeMutableRawPointer(widget), g_signal_lookup(signal, gtk_widget_get_type()))
        var blocked: [gulong] = []
        while true {
            let mask = GSignalMatchType(rawValue: G_SIGNAL_MATCH_ID.rawValue | G_SIGNAL_MATCH_UNBLOCKED.rawValue)
            let handler = g_signal_handler_find(object, mask, id, 0, nil, nil, nil)
            guard handler != 0 else { break }
            g_signal_handler_block(object, handler)
            blocked.append(handler)
        }
        for handler in blocked { g_signal_handler_unblock(object, handler) }
        return blocked.count
    }

    @MainActor
    private func childCount(_ widget: UnsafeMutablePointer<GtkWidget>) -> Int {
        var count = 0
        var child = gtk_widget_get_first_child(widget)
        while let present = child {
            count += 1
            child = gtk_widget_get_next_sibling(present)
        }
        return count
    }

    /// A grid in a window.
    @MainActor
    final class GridStage {
        let manager: ImageManager
        let window: TestWindow
        let names: OpaquePointer
        let factory: ImageListFactory<ImageListCell>
        /// The difference between the number of an image and its position.
        var offset = 0
        private(set) var binds = 0
        private let grid: UnsafeMutablePointer<GtkWidget>

        static func cell() -> ImageListCell { cell(.shared) }

        static func cell(_ manager: ImageManager) -> ImageListCell {
            let picture: UnsafeMutablePointer<GtkWidget> = gtk_picture_new()
            gtk_widget_set_size_request(picture, 40, 40)
            let view = WebImageView(for: picture, manager: manager) {
                gtk_picture_set_paintable(OpaquePointer(picture), $0)
            }
            view.contentFit = .cover
            return ImageListCell(root: picture, view: view)
        }

        init(count: Int, loader: StubLoader = Sources.numbered(width: 40, height: 40)) throws {
            let manager = Sources.manager(loader)
            self.manager = manager
            names = try XCTUnwrap(gtk_string_list_new(nil))
            for _ in 0..<count { gtk_string_list_append(names, "") }
            grid = try XCTUnwrap(gtk_grid_view_new(gtk_no_selection_new(names), nil))
            gtk_grid_view_set_min_columns(OpaquePointer(grid), 5)
            gtk_grid_view_set_max_columns(OpaquePointer(grid), 5)
            let scroller = try XCTUnwrap(gtk_scrolled_window_new())
            gtk_scrolled_window_set_child(OpaquePointer(scroller), grid)
            window = try TestWindow(scroller, width: 260, height: 240)
            weak var stage: GridStage?
            factory = ImageListFactory(
                manager: manager, makeCell: { GridStage.cell(manager) },
                content: { position in
                    ImageListContent(
                        ImageRequest(
                            url: Sources.url("\(position + (stage?.offset ?? 0))"), size: .fit(width: 40, height: 40)))
                },
                willShow: { _, _ in stage?.binds += 1 })
            stage = self
            XCTAssertTrue(factory.install(on: OpaquePointer(grid)))
        }

        private var adjustment: UnsafeMutablePointer<GtkAdjustment>? {
            gtk_scrollable_get_vadjustment(OpaquePointer(grid))
        }
        /// The height of the whole list. GTK estimates the rows that have never been laid out.
        var height: Double { gtk_adjustment_get_upper(adjustment) }

        func move(to value: Double) { gtk_adjustment_set_value(adjustment, value) }

        func scroll(to value: Double) {
            move(to: value)
            window.frame()
            Stand.settle()
        }

        /// Waits for all visible cells and compares their pixels with their numbers.
        func check(_ what: String, file: StaticString = #filePath, line: UInt = #line) throws {
            Stand.pump("cells \(what)", file: file, line: line) {
                let seen = factory.cells.filter { $0.cell.isVisible }
                return seen.count >= 20 && seen.allSatisfy { $0.cell.view.snapshot().state == .showing }
            }
            window.frame()
            for (position, cell) in factory.cells where cell.isVisible {
                let screenshot = try window.screenshot(of: cell.root)
                let number = (position + offset) % 4_096
                assertColor(
                    screenshot.middle, Sources.color(of: number).map(Int.init), "at \(position), \(what)", file: file,
                    line: line)
            }
        }
    }
#endif
