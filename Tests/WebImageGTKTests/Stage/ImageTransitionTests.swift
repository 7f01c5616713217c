// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import XCTest

    @testable import WebImage
    @testable import WebImageCore
    @testable import WebImageGTK

    /// Tests of the transitions from one image to the next.
    final class ImageTransitionTests: XCTestCase {
        /// Returns a stage that shows red and starts a linear transition of 100 ms to blue.
        @MainActor
        private static func stage(_ effect: ImageTransition.Effect, animates: Bool = true) throws -> TestStage {
            let stage = TestStage()
            stage.stage.animates = animates
            stage.present(try Sources.image([200, 0, 0]))
            _ = try stage.drawn()
            stage.present(
                try Sources.image([0, 0, 200]), .image,
                ImageTransition(effect, duration: .milliseconds(100), curve: .linear))
            return stage
        }

        func testCrossFadeBlendsBothImagesEquallyAtHalfTime() throws {
            try Stand.run {
                let stage = try Self.stage(.crossFade)
                assertColor(try stage.drawn().middle, [200, 0, 0], "at the beginning")
                XCTAssertEqual(stage.pass(50), 0, "a running transition requests every frame")
                assertColor(try stage.drawn().middle, [100, 0, 100])
                XCTAssertNil(stage.pass(50), "a finished transition requests no frames")
                assertColor(try stage.drawn().middle, [0, 0, 200])
                XCTAssertNil(stage.stage.outgoing)
            }
        }

        func testC13TransitionBeginsWithTheFirstFrame() throws {
            try Stand.run {
                let stage = try Self.stage(.crossFade)
                stage.pass(500)
                assertColor(try stage.drawn().middle, [200, 0, 0])
            }
        }

        func testC13TransitionThatIsNotDrawnNeedsNoFrames() throws {
            try Stand.run {
                let stage = try Self.stage(.crossFade)
                let ticks = stage.requestedTicks
                XCTAssertNil(stage.pass(16), "The slot isn't drawn, so nothing moves.")
                _ = try stage.drawn()
                XCTAssertEqual(stage.requestedTicks, ticks + 1, "The first frame starts the transition.")
                XCTAssertEqual(stage.pass(16), 0)
            }
        }

        func testSlideBeginsAtTheEdge() throws {
            try Stand.run {
                let fromLeft = try Self.stage(.slide(.left))
                _ = try fromLeft.drawn()
                fromLeft.pass(50)
                let drawn = try fromLeft.drawn()
                assertColor(drawn.color(5, 15), [0, 0, 200])
                assertColor(drawn.color(35, 15), [200, 0, 0])
                let fromBottom = try Self.stage(.slide(.bottom))
                _ = try fromBottom.drawn()
                fromBottom.pass(50)
                let other = try fromBottom.drawn()
                assertColor(other.color(20, 5), [200, 0, 0])
                assertColor(other.color(20, 25), [0, 0, 200])
            }
        }

        func testFlipTurnsTheOldImageAwayAndTheNewOneTowardTheViewer() throws {
            try Stand.run {
                let stage = try Self.stage(.flip(.left))
                _ = try stage.drawn()
                stage.pass(25)
                let first = try stage.drawn()
                assertColor(first.middle, [200, 0, 0])
                XCTAssertEqual(first.color(2, 15), [0, 0, 0], "half as wide")
                stage.pass(50)
                assertColor(try stage.drawn().middle, [0, 0, 200])
            }
        }

        func testZoomGrowsFromTheCenter() throws {
            try Stand.run {
                let stage = try Self.stage(.zoom)
                _ = try stage.drawn()
                stage.pass(50)
                let drawn = try stage.drawn()
                XCTAssertGreaterThan(drawn.middle[2], 60)
                XCTAssertEqual(drawn.color(1, 15)[2], 0, "the image doesn't cover the edge yet")
            }
        }

        func testCustomEffectIsFoundByItsName() throws {
            try Stand.run {
                var parts: [Double] = []
                ImageTransition.register("test") { frame in
                    parts.append(frame.progress)
                    frame.drawOld()
                }
                let stage = try Self.stage(.custom("test"))
                _ = try stage.drawn()
                stage.pass(50)
                assertColor(try stage.drawn().middle, [200, 0, 0])
                XCTAssertEqual(parts, [0, 0.5])
                let unknown = try Self.stage(.custom("unregistered"))
                _ = try unknown.drawn()
                unknown.pass(50)
                assertColor(try unknown.drawn().middle, [100, 0, 100], "cross-fades")
            }
        }

        func testImageAppearsImmediatelyIfAnimationsAreDisabled() throws {
            try Stand.run {
                let stage = try Self.stage(.crossFade, animates: false)
                assertColor(try stage.drawn().middle, [0, 0, 200])
                let running = try Self.stage(.crossFade)
                _ = try running.drawn()
                running.stage.animates = false
                assertColor(try running.drawn().middle, [0, 0, 200], "also if the setting changes meanwhile")
            }
        }

        func testFirstImageFadesIn() throws {
            try Stand.run {
                let stage = TestStage()
                stage.present(
                    try Sources.image([0, 0, 200]), .image,
                    ImageTransition(.crossFade, duration: .milliseconds(100), curve: .linear))
                _ = try stage.drawn()
                stage.pass(50)
                assertColor(try stage.drawn().middle, [0, 0, 100])
            }
        }

        func testSupersededImageNeverReappears() throws {
            try Stand.run {
                let stage = try Self.stage(.crossFade)
                _ = try stage.drawn()
                stage.pass(50)
                stage.present(try Sources.image([0, 200, 0]))
                assertColor(try stage.drawn().middle, [0, 200, 0])
                XCTAssertNil(stage.pass(16))
            }
        }
    }
#endif
