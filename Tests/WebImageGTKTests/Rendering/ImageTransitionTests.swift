// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import XCTest

    @testable import WebImage
    @testable import WebImageCore
    @testable import WebImageGTK

    /// Tests of the transitions from one image to the next.
    final class ImageTransitionTests: XCTestCase {
        /// Returns the host of a renderer that shows red and starts a linear transition of 100 ms to blue.
        @MainActor
        private static func host(_ effect: ImageTransition.Effect, animates: Bool = true) throws -> TestRendererHost {
            let host = TestRendererHost()
            host.renderer.animates = animates
            host.present(try Sources.image([200, 0, 0]))
            _ = try host.drawn()
            host.present(
                try Sources.image([0, 0, 200]), .image,
                ImageTransition(effect, duration: .milliseconds(100), curve: .linear))
            return host
        }

        func testCrossFadeBlendsBothImagesEquallyAtHalfTime() throws {
            try Stand.run {
                let host = try Self.host(.crossFade)
                assertColor(try host.drawn().middle, [200, 0, 0], "at the beginning")
                XCTAssertEqual(host.pass(50), 0, "a running transition requests every frame")
                assertColor(try host.drawn().middle, [100, 0, 100])
                XCTAssertNil(host.pass(50), "a finished transition requests no frames")
                assertColor(try host.drawn().middle, [0, 0, 200])
                XCTAssertNil(host.renderer.outgoing)
            }
        }

        func testC13TransitionBeginsWithTheFirstFrame() throws {
            try Stand.run {
                let host = try Self.host(.crossFade)
                host.pass(500)
                assertColor(try host.drawn().middle, [200, 0, 0])
            }
        }

        func testC13TransitionThatIsNotDrawnNeedsNoFrames() throws {
            try Stand.run {
                let host = try Self.host(.crossFade)
                let ticks = host.requestedTicks
                XCTAssertNil(host.pass(16), "The slot isn't drawn, so nothing moves.")
                _ = try host.drawn()
                XCTAssertEqual(host.requestedTicks, ticks + 1, "The first frame starts the transition.")
                XCTAssertEqual(host.pass(16), 0)
            }
        }

        func testSlideBeginsAtTheEdge() throws {
            try Stand.run {
                let fromLeft = try Self.host(.slide(.left))
                _ = try fromLeft.drawn()
                fromLeft.pass(50)
                let drawn = try fromLeft.drawn()
                assertColor(drawn.color(5, 15), [0, 0, 200])
                assertColor(drawn.color(35, 15), [200, 0, 0])
                let fromBottom = try Self.host(.slide(.bottom))
                _ = try fromBottom.drawn()
                fromBottom.pass(50)
                let other = try fromBottom.drawn()
                assertColor(other.color(20, 5), [200, 0, 0])
                assertColor(other.color(20, 25), [0, 0, 200])
            }
        }

        func testFlipTurnsTheOldImageAwayAndTheNewOneTowardTheViewer() throws {
            try Stand.run {
                let host = try Self.host(.flip(.left))
                _ = try host.drawn()
                host.pass(25)
                let first = try host.drawn()
                assertColor(first.middle, [200, 0, 0])
                XCTAssertEqual(first.color(2, 15), [0, 0, 0], "half as wide")
                host.pass(50)
                assertColor(try host.drawn().middle, [0, 0, 200])
            }
        }

        func testZoomGrowsFromTheCenter() throws {
            try Stand.run {
                let host = try Self.host(.zoom)
                _ = try host.drawn()
                host.pass(50)
                let drawn = try host.drawn()
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
                let host = try Self.host(.custom("test"))
                _ = try host.drawn()
                host.pass(50)
                assertColor(try host.drawn().middle, [200, 0, 0])
                XCTAssertEqual(parts, [0, 0.5])
                let unknown = try Self.host(.custom("unregistered"))
                _ = try unknown.drawn()
                unknown.pass(50)
                assertColor(try unknown.drawn().middle, [100, 0, 100], "cross-fades")
            }
        }

        func testImageAppearsImmediatelyIfAnimationsAreDisabled() throws {
            try Stand.run {
                let host = try Self.host(.crossFade, animates: false)
                assertColor(try host.drawn().middle, [0, 0, 200])
                let running = try Self.host(.crossFade)
                _ = try running.drawn()
                running.renderer.animates = false
                assertColor(try running.drawn().middle, [0, 0, 200], "also if the setting changes meanwhile")
            }
        }

        func testFirstImageFadesIn() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.present(
                    try Sources.image([0, 0, 200]), .image,
                    ImageTransition(.crossFade, duration: .milliseconds(100), curve: .linear))
                _ = try host.drawn()
                host.pass(50)
                assertColor(try host.drawn().middle, [0, 0, 100])
            }
        }

        func testSupersededImageNeverReappears() throws {
            try Stand.run {
                let host = try Self.host(.crossFade)
                _ = try host.drawn()
                host.pass(50)
                host.present(try Sources.image([0, 200, 0]))
                assertColor(try host.drawn().middle, [0, 200, 0])
                XCTAssertNil(host.pass(16))
            }
        }
    }
#endif
