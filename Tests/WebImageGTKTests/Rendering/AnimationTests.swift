// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import XCTest

    @testable import WebImage
    @testable import WebImageCore
    @testable import WebImageGTK

    /// Tests of animations at known times.
    final class AnimationTests: XCTestCase {
        private static let colors: [[UInt8]] = [[200, 0, 0], [0, 200, 0], [0, 0, 200], [200, 200, 0]]

        /// Waits for the frame, which is decoded on another thread.
        @MainActor
        private static func wait(_ host: TestRendererHost, for index: Int) {
            Stand.pump("frame \(index)") {
                host.pass(0)
                return host.renderer.player?.frameIndex == index
            }
        }

        func testFrameForTheCurrentTimeIsDrawn() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.present(try ColorFrames(Self.colors).image())
                host.pass(0)
                assertColor(try host.drawn().middle, [200, 0, 0])
                for (index, color) in [(1, [0, 200, 0]), (2, [0, 0, 200]), (3, [200, 200, 0]), (0, [200, 0, 0])] {
                    host.pass(100)
                    Self.wait(host, for: index)
                    assertColor(try host.drawn().middle, color, "frame \(index)")
                }
            }
        }

        func testNextFrameIsScheduledOnTime() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.present(try ColorFrames(Self.colors).image())
                host.pass(0)
                XCTAssertEqual(host.pass(30), 70)
            }
        }

        func testHiddenRenderersPause() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.present(try ColorFrames(Self.colors).image())
                host.pass(0)
                host.renderer.isVisible = false
                XCTAssertNil(host.pass(1_000))
                XCTAssertEqual(host.renderer.player?.frameIndex, 0)
            }
        }

        func testAnimationsStartOnlyWithAutoplay() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.renderer.autoplays = false
                host.present(try ColorFrames(Self.colors).image())
                host.pass(0)
                XCTAssertEqual(host.renderer.player?.state, .stopped)
                XCTAssertNil(host.pass(1_000))
                XCTAssertEqual(host.renderer.player?.frameIndex, 0)
                host.renderer.player?.play()
                XCTAssertEqual(host.renderer.player?.state, .playing)
                host.renderer.autoplays = true
                host.present(try ColorFrames(Self.colors).image())
                XCTAssertEqual(host.renderer.player?.state, .playing)
            }
        }

        func testShowsThePosterFrameIfAnimationsAreDisabled() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.renderer.animates = false
                host.present(try ColorFrames(Self.colors).image())
                host.pass(0)
                XCTAssertNil(host.pass(150))
                assertColor(try host.drawn().middle, [200, 0, 0])
            }
        }

        func testGrowingAnimationContinues() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.present(try ColorFrames(Array(Self.colors.prefix(2))).image(), .preview)
                let player = host.renderer.player
                host.pass(0)
                host.pass(100)
                Self.wait(host, for: 1)
                host.present(try ColorFrames(Self.colors).image(), .image)
                XCTAssertTrue(host.renderer.player === player)
                assertColor(try host.drawn().middle, [0, 200, 0], "the same frame as before")
                host.pass(100)
                Self.wait(host, for: 2)
                assertColor(try host.drawn().middle, [0, 0, 200])
            }
        }

        func testStillImagesHaveNoPlayer() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.present(try ColorFrames(Self.colors).image())
                XCTAssertNotNil(host.renderer.player)
                host.present(try Sources.image([1, 2, 3]))
                XCTAssertNil(host.renderer.player)
                XCTAssertNil(host.pass(16))
            }
        }
    }
#endif
