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
        private static func wait(_ stage: TestStage, for index: Int) {
            Stand.pump("frame \(index)") {
                stage.pass(0)
                return stage.stage.player?.frameIndex == index
            }
        }

        func testFrameForTheCurrentTimeIsDrawn() throws {
            try Stand.run {
                let stage = TestStage()
                stage.present(try ColorFrames(Self.colors).image())
                stage.pass(0)
                assertColor(try stage.drawn().middle, [200, 0, 0])
                for (index, color) in [(1, [0, 200, 0]), (2, [0, 0, 200]), (3, [200, 200, 0]), (0, [200, 0, 0])] {
                    stage.pass(100)
                    Self.wait(stage, for: index)
                    assertColor(try stage.drawn().middle, color, "frame \(index)")
                }
            }
        }

        func testNextFrameIsScheduledOnTime() throws {
            try Stand.run {
                let stage = TestStage()
                stage.present(try ColorFrames(Self.colors).image())
                stage.pass(0)
                XCTAssertEqual(stage.pass(30), 70)
            }
        }

        func testHiddenStagesPause() throws {
            try Stand.run {
                let stage = TestStage()
                stage.present(try ColorFrames(Self.colors).image())
                stage.pass(0)
                stage.stage.isVisible = false
                XCTAssertNil(stage.pass(1_000))
                XCTAssertEqual(stage.stage.player?.frameIndex, 0)
            }
        }

        func testAnimationsStartOnlyWithAutoplay() throws {
            try Stand.run {
                let stage = TestStage()
                stage.stage.autoplays = false
                stage.present(try ColorFrames(Self.colors).image())
                stage.pass(0)
                XCTAssertEqual(stage.stage.player?.state, .stopped)
                XCTAssertNil(stage.pass(1_000))
                XCTAssertEqual(stage.stage.player?.frameIndex, 0)
                stage.stage.player?.play()
                XCTAssertEqual(stage.stage.player?.state, .playing)
                stage.stage.autoplays = true
                stage.present(try ColorFrames(Self.colors).image())
                XCTAssertEqual(stage.stage.player?.state, .playing)
            }
        }

        func testShowsThePosterFrameIfAnimationsAreDisabled() throws {
            try Stand.run {
                let stage = TestStage()
                stage.stage.animates = false
                stage.present(try ColorFrames(Self.colors).image())
                stage.pass(0)
                XCTAssertNil(stage.pass(150))
                assertColor(try stage.drawn().middle, [200, 0, 0])
            }
        }

        func testGrowingAnimationContinues() throws {
            try Stand.run {
                let stage = TestStage()
                stage.present(try ColorFrames(Array(Self.colors.prefix(2))).image(), .preview)
                let player = stage.stage.player
                stage.pass(0)
                stage.pass(100)
                Self.wait(stage, for: 1)
                stage.present(try ColorFrames(Self.colors).image(), .image)
                XCTAssertTrue(stage.stage.player === player)
                assertColor(try stage.drawn().middle, [0, 200, 0], "the same frame as before")
                stage.pass(100)
                Self.wait(stage, for: 2)
                assertColor(try stage.drawn().middle, [0, 0, 200])
            }
        }

        func testStillImagesHaveNoPlayer() throws {
            try Stand.run {
                let stage = TestStage()
                stage.present(try ColorFrames(Self.colors).image())
                XCTAssertNotNil(stage.stage.player)
                stage.present(try Sources.image([1, 2, 3]))
                XCTAssertNil(stage.stage.player)
                XCTAssertNil(stage.pass(16))
            }
        }
    }
#endif
