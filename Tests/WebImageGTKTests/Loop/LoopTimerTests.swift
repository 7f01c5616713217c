// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import XCTest

    @testable import webimage_gallery

    /// Tests of the gallery's timers. GLib reports the removal of a timer that doesn't exist anymore as a critical error,
    /// which ends the tests.
    final class LoopTimerTests: XCTestCase {
        func testTimerStopsWithItsActionWithAMethodAndWithItsRelease() throws {
            try Stand.run {
                var calls = [0, 0, 0, 0]
                var timers: [LoopTimer?] = [nil, nil, nil, nil]
                // The action ends the first timer, stops the second, and releases the third.
                timers[0] = LoopTimer(every: 1) {
                    calls[0] += 1
                    return calls[0] < 3
                }
                timers[1] = LoopTimer(every: 1) {
                    calls[1] += 1
                    timers[1]?.stop()
                    return true
                }
                timers[2] = LoopTimer(every: 1) {
                    calls[2] += 1
                    timers[2] = nil
                    return false
                }
                timers[3] = LoopTimer(every: 3_600_000) {
                    calls[3] += 1
                    return true
                }
                Stand.pump("the timers") { calls.prefix(3).reduce(0, +) >= 5 }
                XCTAssertEqual(timers.map { $0?.isActive }, [false, false, nil, true])
                timers.forEach { $0?.stop() }
                timers = []
                Stand.settle()
                XCTAssertEqual(calls, [3, 1, 1, 0])
            }
        }

        /// A grid whose widgets are destroyed ends the timer that describes its cells.
        func testClosedGridIsReleasedAfterItsTimerEnded() throws {
            try Stand.run {
                let stage = try GalleryStage("--count", "10", "--retry", "0", "--transition", "none")
                stage.waitForImages(atLeast: 10)
                stage.close()
                // The timer of the closed grid fires before the stage is released.
                var isOver = false
                let timer = LoopTimer(every: 300) {
                    isOver = true
                    return false
                }
                Stand.pump("the timer of the grid") { isOver }
                XCTAssertFalse(timer.isActive)
                withExtendedLifetime(stage) {}
            }
        }
    }
#endif
