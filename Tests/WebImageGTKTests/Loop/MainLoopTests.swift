// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Dispatch
    import Glibc
    import XCTest

    @testable import WebImageGTK

    /// Tests of the main actor while GLib's main loop runs on the main thread.
    final class MainLoopTests: XCTestCase {
        func testWorkOfTheMainActorRunsInsideTheLoop() throws {
            try Stand.run {
                var count = 0
                for _ in 0..<100 { Task { @MainActor in count += 1 } }
                DispatchQueue.main.async { MainActor.assumeIsolated { count += 1 } }
                Stand.pump("all tasks") { count == 101 }
            }
        }

        func testInstallingAgainDoesNothing() throws {
            try Stand.run {
                XCTAssertTrue(GTKMainLoop.install())
                XCTAssertTrue(GTKMainLoop.install())
            }
        }

        func testInstallsNothingOffTheMainThread() throws {
            try Stand.run {
                try Stand.wait {
                    let result = await Task.detached { GTKMainLoop.install() }.value
                    XCTAssertFalse(result)
                }
            }
        }

        func testViewOffTheMainThreadWarnsOnce() throws {
            try Stand.run {
                XCTAssertFalse(GTKMainLoop.installOrWarn(), "the main thread causes no warning")
                try Stand.wait {
                    let results = await Task.detached { [GTKMainLoop.installOrWarn(), GTKMainLoop.installOrWarn()] }
                        .value
                    XCTAssertEqual(results, [true, false])
                }
            }
        }

        func testTimersOfTheMainActorFire() throws {
            try Stand.run {
                // The timer itself is under test, so a signal can't replace it.
                try Stand.wait { try await Task.sleep(for: .milliseconds(1)) }
            }
        }

        /// Counts the iterations of the main loop. Each iteration blocks until a source is ready.
        func testLoopSleepsWithoutWork() throws {
            try Stand.run {
                Stand.settle()
                var wakes = 0
                var isOver = false
                let timer = g_timeout_add_full(
                    G_PRIORITY_DEFAULT, 500,
                    { data in
                        data?.assumingMemoryBound(to: Bool.self).pointee = true
                        return 0
                    }, &isOver, nil)
                while !isOver {
                    g_main_context_iteration(nil, 1)
                    wakes += 1
                }
                _ = timer
                // The loop wakes for the timer and for leftovers of other tests. A loop that spins would wake tens of
                // thousands of times.
                XCTAssertLessThan(wakes, 20)
            }
        }
    }
#endif
