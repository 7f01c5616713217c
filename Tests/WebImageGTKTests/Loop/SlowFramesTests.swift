// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import XCTest

    @testable import WebImageGTK
    @testable import webimage_gallery

    /// Tests of timers and idle calls while a window is animated and each frame takes too long.
    final class SlowFramesTests: XCTestCase {
        @MainActor
        private static func inAWindow(_ body: () throws -> Void) throws {
            let window = try TestWindow(XCTUnwrap(gtk_label_new("x")))
            window.show()
            let slow = SlowFrames(window.widget)
            try body()
            slow.end()
            window.close()
        }

        func testTimersOfTheGalleryFire() throws {
            try Stand.run {
                try Self.inAWindow {
                    var count = 0
                    let timer = LoopTimer(every: 20) {
                        count += 1
                        return true
                    }
                    Stand.pump("three timer events") { count == 3 }
                    timer.stop()
                }
            }
        }

        func testIdleCallRunsEvenIfTheLoopIsNeverIdle() throws {
            try Stand.run {
                try Self.inAWindow {
                    var calls = 0
                    let call = IdleCallback(latest: 60) { calls += 1 }
                    Stand.pump("the call") { calls > 0 }
                    withExtendedLifetime(call) {}
                }
            }
        }

        func testIdleCallRunsOnceAndImmediatelyInAnIdleLoop() throws {
            try Stand.run {
                var calls = 0
                let call = IdleCallback(latest: 3_600_000) { calls += 1 }
                Stand.pump("the call") { calls > 0 }
                Stand.settle()
                XCTAssertEqual(calls, 1)
                withExtendedLifetime(call) {}
            }
        }

        func testIdleCallOfADeallocatedObjectDoesNotRun() throws {
            try Stand.run {
                var calls = 0
                do {
                    let call = IdleCallback(latest: 1) { calls += 1 }
                    withExtendedLifetime(call) {}
                }
                Stand.settle()
                XCTAssertEqual(calls, 0)
            }
        }
    }
#endif
