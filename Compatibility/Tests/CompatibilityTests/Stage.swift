// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImageGTK
    import XCTest

    /// The GTK environment of the tests. XCTest runs synchronous tests on the main thread, which GTK requires.
    @MainActor
    enum Stage {
        private static let isReady: Bool = {
            guard gtk_init_check() != 0 else { return false }
            GTKMainLoop.install()
            return true
        }()

        /// Runs a test with a server. Skips the test if no display is available.
        static func run(_ body: (Origin) throws -> Void) throws {
            guard isReady else { throw XCTSkip("no display is available (run the tests with xvfb-run)") }
            try body(Origin())
        }

        /// Shows a widget in a window while `body` runs.
        static func show(_ child: UnsafeMutablePointer<GtkWidget>, _ body: () throws -> Void) rethrows {
            guard let widget = gtk_window_new() else { return XCTFail("no window") }
            let window = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkWindow.self)
            gtk_window_set_default_size(window, 80, 80)
            gtk_window_set_child(window, child)
            gtk_window_present(window)
            defer { gtk_window_destroy(window) }
            try body()
        }

        /// Runs the main loop until a condition is met, at most 30 seconds.
        static func wait(until condition: () -> Bool, file: StaticString = #filePath, line: UInt = #line) {
            let timer = g_timeout_add(5, { _ in 1 }, nil)
            defer { g_source_remove(timer) }
            let end = g_get_monotonic_time() + 30_000_000
            while !condition() {
                g_main_context_iteration(nil, 1)
                if g_get_monotonic_time() > end { return XCTFail("timed out", file: file, line: line) }
            }
        }
    }
#endif
