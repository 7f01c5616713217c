// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Glibc
    import WebImage
    import WebImageCore
    import XCTest

    @testable import WebImageGTK

    /// GTK for tests. XCTest runs synchronous tests on the process's main thread, where GTK has to be.
    @MainActor
    enum Stand {
        private static let isReady: Bool = {
            setlocale(LC_ALL, "C")
            guard gtk_init_check() != 0 else { return false }
            GTKMainLoop.install()
            return true
        }()

        /// Runs `body` with GTK; skips where there is no display.
        nonisolated static func run(_ body: @MainActor () throws -> Void) throws {
            try MainActor.assumeIsolated {
                guard isReady else { throw XCTSkip("no display: run under xvfb-run") }
                defer {
                    WidgetController.manualTime = nil
                    settle()
                }
                try body()
            }
        }

        /// Seconds that a condition may take to come true; all is many times slower under a sanitizer.
        private static var patience: Int {
            #if THREAD_SANITIZER || ADDRESS_SANITIZER
                200
            #else
                20
            #endif
        }

        /// Lets the loop run until `condition` holds; fails the test when it does not within ``patience``.
        static func pump(
            _ what: String = "the condition", file: StaticString = #filePath, line: UInt = #line,
            until condition: () -> Bool
        ) {
            var wakes = 0
            // Always due where a condition takes longer than this to look at: before frames it would leave no time for them.
            let timer = g_timeout_add_full(
                G_PRIORITY_LOW, 5,
                { data in
                    data?.assumingMemoryBound(to: Int.self).pointee += 1
                    return 1
                }, &wakes, nil)
            defer { g_source_remove(timer) }
            let end = g_get_monotonic_time() + patience * 1_000_000
            while !condition() {
                g_main_context_iteration(nil, 1)
                if g_get_monotonic_time() > end {
                    return XCTFail("\(what) did not come true", file: file, line: line)
                }
            }
        }

        /// Lets everything run that is ready; for a fortieth of ``patience`` where something moves all the time and frames take
        /// so long that there is always one ready.
        static func settle() {
            let end = g_get_monotonic_time() + patience * 25_000
            while g_main_context_iteration(nil, 0) != 0, g_get_monotonic_time() < end {}
        }

        /// Runs `body` on the main actor while the loop runs.
        static func wait(_ body: @escaping @MainActor () async throws -> Void) throws {
            var result: Result<Void, any Error>?
            Task { @MainActor in
                do {
                    try await body()
                    result = .success(())
                } catch {
                    result = .failure(error)
                }
            }
            pump("an asynchronous step") { result != nil }
            try result?.get()
        }
    }
#endif
