// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Glibc
    import WebImage
    import WebImageCore
    import XCTest

    @testable import WebImageGTK

    /// The GTK environment of the tests. XCTest runs synchronous tests on the main thread of the process, which GTK
    /// requires.
    @MainActor
    enum Stand {
        private static let isReady: Bool = {
            setlocale(LC_ALL, "C")
            guard gtk_init_check() != 0 else { return false }
            GTKMainLoop.install()
            return true
        }()

        /// Runs `body` with GTK. Skips the test if no display is available.
        nonisolated static func run(_ body: @MainActor () throws -> Void) throws {
            try MainActor.assumeIsolated {
                guard isReady else { throw XCTSkip("no display is available (run the tests with xvfb-run)") }
                defer {
                    WidgetController.manualTime = nil
                    settle()
                }
                try body()
            }
        }

        /// The number of seconds that a condition may take. Sanitizers make the tests many times slower.
        private static var patience: Int {
            #if THREAD_SANITIZER || ADDRESS_SANITIZER
                200
            #else
                20
            #endif
        }

        /// Runs the main loop until `condition` returns `true`. If that takes longer than `seconds`, or ``patience`` by
        /// default, the test fails.
        static func pump(
            _ what: String = "the condition", seconds: Int? = nil, file: StaticString = #filePath, line: UInt = #line,
            until condition: () -> Bool
        ) {
            var wakes = 0
            // If checking the condition takes longer than this interval, the timer is always due. With a higher
            // priority than frames, it would leave no time for them.
            let timer = g_timeout_add_full(
                G_PRIORITY_LOW, 5,
                { data in
                    data?.assumingMemoryBound(to: Int.self).pointee += 1
                    return 1
                }, &wakes, nil)
            defer { g_source_remove(timer) }
            let end = g_get_monotonic_time() + (seconds ?? patience) * 1_000_000
            while !condition() {
                g_main_context_iteration(nil, 1)
                if g_get_monotonic_time() > end {
                    return XCTFail("timed out while waiting for \(what)", file: file, line: line)
                }
            }
        }

        /// Runs all ready sources of the main loop. If a slow animation keeps a source ready all the time, this method
        /// returns after 1/40 of ``patience``.
        static func settle() {
            let end = g_get_monotonic_time() + patience * 25_000
            while g_main_context_iteration(nil, 0) != 0, g_get_monotonic_time() < end {}
        }

        /// Runs `body` on the main actor while the main loop runs, for at most `seconds`, or ``patience`` by default.
        static func wait(seconds: Int? = nil, _ body: @escaping @MainActor () async throws -> Void) throws {
            var result: Result<Void, any Error>?
            Task { @MainActor in
                do {
                    try await body()
                    result = .success(())
                } catch {
                    result = .failure(error)
                }
            }
            pump("an asynchronous step", seconds: seconds) { result != nil }
            try result?.get()
        }
    }
#endif
