// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK
    @testable import webimage_gallery

    /// Tests that check that idle views don't wake the main loop.
    final class IdleTests: XCTestCase {
        /// Runs the loop for a while and returns how many times it woke for views.
        @MainActor
        private static func wakes(inMilliseconds milliseconds: guint) -> Int {
            let before = GTKMainLoop.wakes
            var isOver = false
            g_timeout_add_full(
                G_PRIORITY_DEFAULT, milliseconds,
                { data in
                    data?.assumingMemoryBound(to: Bool.self).pointee = true
                    return 0
                }, &isOver, nil)
            while !isOver { g_main_context_iteration(nil, 1) }
            return GTKMainLoop.wakes - before
        }

        /// Waits until running work has finished, and then expects no further wake-ups.
        @MainActor
        private static func expectRest(_ what: String, file: StaticString = #filePath, line: UInt = #line) {
            Stand.pump("rest of \(what)", file: file, line: line) { wakes(inMilliseconds: 100) == 0 }
            XCTAssertEqual(wakes(inMilliseconds: 300), 0, what, file: file, line: line)
        }

        func testLoadedImagesCauseNoWakeups() throws {
            try Stand.run {
                let grid = try GridStage(count: 2_000)
                grid.window.show()
                try grid.check("at the top")
                Self.expectRest("a grid")
                grid.scroll(to: 5_000)
                try grid.check("further down")
                Self.expectRest("a scrolled grid")
                grid.window.close()
                Self.expectRest("a closed grid")
            }
        }

        func testPausedAnimationCausesNoWakeups() throws {
            try Stand.run {
                let (window, view) = try NumberedImages.playing(milliseconds: 20)
                Stand.pump("the image") { view.player()?.state == .playing }
                XCTAssertGreaterThan(Self.wakes(inMilliseconds: 300), 5, "the animation plays")
                view.player()?.pause()
                Self.expectRest("a paused animation")
                view.player()?.play()
                window.hide()
                Self.expectRest("a hidden animation")
                window.close()
            }
        }

        func testWaitingAndFailedLoadsCauseNoWakeups() throws {
            try Stand.run {
                let stub = StubImageManager()
                let gate = TestGate()
                stub.respond(
                    to: Sources.url("slow"),
                    with: .color(PixelColor(red: 1, green: 2, blue: 3), width: 40, height: 30, gate: gate))
                let picture = try XCTUnwrap(gtk_picture_new())
                let window = try TestWindow(picture)
                let view = try XCTUnwrap(WebImageView(for: picture, manager: stub.manager))
                view.load(Sources.url("slow"), transition: .crossFade(duration: .milliseconds(50)))
                window.show()
                try Stand.wait { await stub.waitForRequests(count: 1) }
                Self.expectRest("a load that waits for its server")
                gate.open()
                Stand.pump("the image") { view.snapshot().state == .showing }
                Self.expectRest("a loaded image")
                view.load(Sources.url("nothing"))
                Stand.pump("the failure") {
                    if case .failed = view.snapshot().state { true } else { false }
                }
                Self.expectRest("a failure")
                window.close()
            }
        }

        func testTheGalleryMeasuresItself() throws {
            try Stand.run {
                let stage = try GalleryStage("--count", "40", "--transition", "none", animated: true)
                var lines: [String] = []
                let measurement = IdleMeasurement(of: stage.window, seconds: 0.2) { lines.append($0) }
                Stand.pump("the measurement") { lines.count == 1 }
                let line = try XCTUnwrap(lines.first)
                print(line)
                XCTAssertTrue(line.hasPrefix("at rest for 0.2 s: "))
                XCTAssertTrue(line.hasSuffix(", 0 wake-ups of views"))
                withExtendedLifetime(measurement) {}
                stage.close()
            }
        }
    }
#endif
