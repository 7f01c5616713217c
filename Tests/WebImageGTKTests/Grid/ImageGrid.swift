// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import Glibc
    import WebImage
    import WebImageCore
    import XCTest

    @testable import WebImageGTK

    /// A grid of numbered images. A GTK factory binds and unbinds its cells.
    @MainActor
    final class ImageGrid {
        let widget: UnsafeMutablePointer<GtkWidget>
        private(set) var binds = 0
        private var instant = 0
        private var late = 0
        private var times: [Int] = []
        /// The processor time of the main thread for each bind, which excludes time spent by other threads.
        private var work: [Int] = []
        private let manager: ImageManager
        private let count: Int
        /// The number that each cell is bound to, keyed by the GtkPicture of the cell.
        private var cells: [UnsafeMutablePointer<GtkWidget>: Int] = [:]

        init(count: Int, manager: ImageManager) throws {
            self.manager = manager
            self.count = count
            widget = try XCTUnwrap(gtk_scrolled_window_new())
            let list = try XCTUnwrap(gtk_string_list_new(nil))
            for number in 0..<count { gtk_string_list_append(list, "\(number)") }
            let factory = try XCTUnwrap(gtk_signal_list_item_factory_new())
            let selection = try XCTUnwrap(gtk_no_selection_new(list))
            let grid = try XCTUnwrap(gtk_grid_view_new(selection, factory))
            gtk_grid_view_set_max_columns(OpaquePointer(grid), 8)
            gtk_grid_view_set_min_columns(OpaquePointer(grid), 8)
            gtk_scrolled_window_set_child(OpaquePointer(widget), grid)
            for name in ["setup", "bind", "unbind"] {
                let handler: @convention(c) (OpaquePointer?, OpaquePointer?, gpointer?) -> Void =
                    switch name {
                    case "setup": { _, item, _ in ImageGrid.setUp(item) }
                    case "bind": { _, item, data in ImageGrid.with(item, data) { $0.bind($1, $2) } }
                    default: { _, item, data in ImageGrid.with(item, data) { grid, cell, _ in grid.unbind(cell) } }
                    }
                connect(
                    UnsafeMutableRawPointer(factory), name, unsafeBitCast(handler, to: GCallback.self),
                    Unmanaged.passUnretained(self).toOpaque())
            }
        }

        nonisolated private static func setUp(_ item: OpaquePointer?) {
            let picture = gtk_picture_new()
            gtk_widget_set_size_request(picture, 40, 40)
            gtk_list_item_set_child(item, picture)
        }

        nonisolated private static func with(
            _ item: OpaquePointer?, _ data: gpointer?,
            _ body: @MainActor (ImageGrid, UnsafeMutablePointer<GtkWidget>, Int) -> Void
        ) {
            guard let data, let item, let cell = gtk_list_item_get_child(item) else { return }
            let number = Int(gtk_list_item_get_position(item))
            let grid = Unmanaged<ImageGrid>.fromOpaque(data).takeUnretainedValue()
            // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
            nonisolated(unsafe) let picture = cell
            MainActor.assumeIsolated { body(grid, picture, number) }
        }

        private func bind(_ cell: UnsafeMutablePointer<GtkWidget>, _ number: Int) {
            binds += 1
            cells[cell] = number
            guard let view = WebImageView(for: cell, manager: manager) else { return XCTFail("the cell has no view") }
            let begin = (g_get_monotonic_time(), Self.threadTime())
            view.load(Sources.url("\(number)"), transition: .crossFade(duration: .milliseconds(50)))
            times.append(Int(g_get_monotonic_time() - begin.0))
            work.append(Self.threadTime() - begin.1)
            if view.snapshot().state == .showing { instant += 1 } else { late += 1 }
        }

        private func unbind(_ cell: UnsafeMutablePointer<GtkWidget>) {
            cells[cell] = nil
            WebImageView(for: cell)?.clear()
        }

        /// Returns the processor time of this thread, in microseconds.
        private static func threadTime() -> Int {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
        }

        var report: String {
            func summary(_ values: [Int]) -> String {
                let sorted = values.sorted()
                return """
                    \(sorted[sorted.count / 2]) µs, 99% below \(sorted[sorted.count * 99 / 100]) µs, \
                    longest \(sorted.last ?? 0) µs
                    """
            }
            return """
                a bind takes \(summary(times)), processor time \(summary(work)), \
                \(instant) of \(instant + late) displayed immediately
                """
        }

        func scroll(to position: Int) {
            let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(widget))
            let range = gtk_adjustment_get_upper(adjustment) - gtk_adjustment_get_page_size(adjustment)
            gtk_adjustment_set_value(adjustment, range * Double(position) / Double(count))
        }

        private var onScreen: [UnsafeMutablePointer<GtkWidget>] {
            cells.keys.filter { gtk_widget_get_mapped($0) != 0 && gtk_widget_get_width($0) > 0 }
        }

        /// A Boolean value that indicates whether cells are on screen.
        var isVisible: Bool { !onScreen.isEmpty }

        /// A Boolean value that indicates whether there are cells on screen, and each of them shows its image.
        var isComplete: Bool {
            isVisible && onScreen.allSatisfy { WebImageView(for: $0)?.snapshot().state == .showing }
        }

        /// Returns the cells whose stage contains the image of another cell.
        func wrongImages() -> [String] {
            cells.compactMap { cell, number in
                guard let pixels = WidgetController.of(cell)?.renderers[.image]?.current?.pixels else { return nil }
                let shown = pixels.pixel(x: 8, y: 8).map { [$0.red, $0.green, $0.blue] }
                return shown == Sources.color(of: number) ? nil : "\(number): \(shown ?? [])"
            }
        }

        /// Returns the cells on screen whose pixels differ from their image.
        func wrongPixels(_ screenshot: Screenshot, in window: UnsafeMutablePointer<GtkWidget>) -> [String] {
            var seen = 0
            let wrong: [String] = cells.compactMap { cell, number in
                var bounds = graphene_rect_t()
                guard gtk_widget_get_mapped(cell) != 0, gtk_widget_compute_bounds(cell, window, &bounds) != 0 else {
                    return nil
                }
                let x = Int(bounds.origin.x + bounds.size.width / 2)
                let y = Int(bounds.origin.y + bounds.size.height / 2)
                guard x > 0, y > 0, x < screenshot.width, y < screenshot.height,
                    gtk_widget_pick(window, Double(x), Double(y), GTK_PICK_DEFAULT) == cell
                else { return nil }
                seen += 1
                let color = screenshot.color(x, y)
                let isRight = zip(color, Sources.color(of: number)).allSatisfy { abs($0 - Int($1)) < 8 }
                return isRight ? nil : "\(number): \(color)"
            }
            XCTAssertGreaterThan(seen, 20)
            return wrong
        }
    }
#endif
