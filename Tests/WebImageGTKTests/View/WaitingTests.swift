// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Tests of loads that finish when their image is displayed.
    final class WaitingTests: XCTestCase {
        @MainActor
        private final class Ends {
            var names: [String] = []
        }

        /// A view in a window, and the results of its loads.
        @MainActor
        private final class Scene {
            let stub = StubImageManager()
            let window: TestWindow
            let view: WebImageView
            var ends: [String] = []
            /// The goal that the image had reached when the last load ended.
            var reached: WebImageView.CompletionPoint?

            init(shows: Bool = true) throws {
                let picture = try XCTUnwrap(gtk_picture_new())
                window = try TestWindow(picture)
                view = try XCTUnwrap(WebImageView(for: picture, manager: stub.manager))
                stub.respond(
                    to: Sources.url("red"),
                    with: .color(PixelColor(red: 200, green: 0, blue: 0), width: 160, height: 120))
                stub.respond(
                    to: Sources.url("green"),
                    with: .color(PixelColor(red: 0, green: 200, blue: 0), width: 160, height: 120))
                if shows { window.show() }
            }

            @discardableResult
            func wait(
                _ name: String, _ options: ImageViewOptions = ImageViewOptions(),
                until goal: WebImageView.CompletionPoint = .displayed
            ) -> Task<Void, Never> {
                Task { @MainActor in
                    do throws(ImageError) {
                        try await view.loadAndWait(ImageRequest(url: Sources.url(name)), options: options, until: goal)
                        ends.append(name)
                    } catch {
                        ends.append("\(name) \(error.code)")
                    }
                    reached = view.controller.renderers[.image]?.reached
                }
            }

            /// Starts a load of an image that arrives when the returned gate opens.
            func waitForSlow() throws -> (Task<Void, Never>, TestGate) {
                let gate = TestGate()
                stub.respond(
                    to: Sources.url("slow"),
                    with: .color(PixelColor(red: 1, green: 2, blue: 3), width: 4, height: 4, gate: gate))
                let task = wait("slow")
                try Stand.wait { [stub] in await stub.waitForRequests(count: 1) }
                return (task, gate)
            }

            /// Starts a load that waits for the end of its transition. When this method returns, the transition has
            /// started.
            @discardableResult
            func comesIn(_ name: String, _ options: ImageViewOptions = WaitingTests.fading) -> Task<Void, Never> {
                let before = view.snapshot().generation
                let task = wait(name, options, until: .transitionFinished)
                Stand.pump("the image") {
                    let snapshot = view.snapshot()
                    return snapshot.generation > before && snapshot.state == .showing
                        && view.controller.renderers[.image]?.reached == .displayed
                }
                return task
            }

            func pump(ends count: Int, file: StaticString = #filePath, line: UInt = #line) {
                Stand.pump("\(count) completions", file: file, line: line) { ends.count == count }
            }
        }

        private static let cancelled = "\(ImageError.cancelled.code)"

        fileprivate static let fading: ImageViewOptions = {
            var options = ImageViewOptions()
            options.transition = ImageTransition(.crossFade, duration: .seconds(1), curve: .linear).forced()
            return options
        }()

        func testReturnsAfterTheImageIsDrawn() throws {
            try Stand.run {
                let scene = try Scene()
                scene.wait("red")
                scene.pump(ends: 1)
                XCTAssertEqual(scene.ends, ["red"])
                XCTAssertEqual(scene.reached, .transitionFinished)
                // The view already shows this image.
                scene.wait("red")
                scene.pump(ends: 2)
                assertColor(try scene.window.screenshot().middle, [200, 0, 0])
                scene.window.close()
            }
        }

        func testReturnsAfterAnImageInMemoryIsDrawn() throws {
            try Stand.run {
                let scene = try Scene()
                for name in ["red", "green", "red"] {
                    scene.wait(name)
                    scene.pump(ends: scene.ends.count + 1)
                    XCTAssertEqual(scene.reached, .transitionFinished)
                }
                XCTAssertEqual(scene.ends, ["red", "green", "red"])
                scene.window.close()
            }
        }

        func testReturnsAtTheBeginningOrTheEndOfATransition() throws {
            try Stand.run {
                WidgetController.manualTime = 1_000_000_000
                let scene = try Scene()
                scene.wait("red", Self.fading, until: .displayed)
                scene.pump(ends: 1)
                XCTAssertEqual(scene.reached, .displayed)
                scene.comesIn("green")
                WidgetController.manualTime = 1_900_000_000
                scene.window.frame()
                XCTAssertEqual(scene.ends, ["red"])
                WidgetController.manualTime = 2_000_000_000
                scene.pump(ends: 2)
                XCTAssertEqual(scene.reached, .transitionFinished)
                assertColor(try scene.window.screenshot().middle, [0, 200, 0])
                scene.window.close()
            }
        }

        func testCompletionsAlsoWait() throws {
            try Stand.run {
                WidgetController.manualTime = 1_000_000_000
                let scene = try Scene()
                var goals: [WebImageView.CompletionPoint] = []
                scene.view.load(ImageRequest(url: Sources.url("red")), options: Self.fading, until: .transitionFinished)
                { _ in
                    goals.append(scene.view.controller.renderers[.image]?.reached ?? .loaded)
                }
                Stand.pump("the image") { scene.view.controller.renderers[.image]?.reached == .displayed }
                XCTAssertEqual(goals, [])
                WidgetController.manualTime = 2_000_000_000
                Stand.pump("the first completion") { goals == [.transitionFinished] }
                scene.view.load(ImageRequest(url: Sources.url("green")), options: Self.fading) { _ in
                    goals.append(.loaded)
                }
                Stand.pump("the second completion") { goals.count == 2 }
                scene.window.close()
            }
        }

        /// Completions and change handlers can modify widgets, and GTK wouldn't draw changes that are made during a
        /// frame.
        func testNothingIsReportedWhileAFrameIsDrawn() throws {
            try Stand.run {
                let manager = Sources.manager(Sources.numbered(width: 160, height: 120))
                var reported: [String] = []
                for round in 1...2 {
                    let picture = try XCTUnwrap(gtk_picture_new())
                    let window = try TestWindow(picture)
                    let view = try XCTUnwrap(WebImageView(for: picture, manager: manager))
                    // In the second round, the image is in memory, and the view finds it when the first frame sets its
                    // bounds.
                    @MainActor func tell(_ what: String) {
                        let isDrawing = view.controller.renderers[.image]?.isDrawing == true
                        reported.append("\(round) \(what)\(isDrawing ? " while drawing" : "")")
                    }
                    view.onChange { if $0.state == .showing { tell("change") } }
                    view.load(Sources.url("5")) { result in
                        tell("completion")
                        if round == 2 { XCTAssertEqual(try? result.get().source, .memoryCache) }
                    }
                    window.show()
                    Stand.pump("both") { reported.count == 2 * round }
                    window.close()
                }
                XCTAssertEqual(reported.sorted(), ["1 change", "1 completion", "2 change", "2 completion"])
            }
        }

        func testThrowsTheErrorOfTheLoad() throws {
            try Stand.run {
                let scene = try Scene()
                let error = ImageError.network(ImageError.NetworkFailure(.offline, url: Sources.url("broken")))
                scene.stub.respond(to: Sources.url("broken"), with: .failure(error))
                scene.wait("broken")
                scene.pump(ends: 1)
                XCTAssertEqual(scene.ends, ["broken \(error.code)"])
                scene.window.close()
            }
        }

        func testTaskCancellationClearsTheSlot() throws {
            try Stand.run {
                let scene = try Scene()
                let (task, gate) = try scene.waitForSlow()
                task.cancel()
                scene.pump(ends: 1)
                XCTAssertEqual(scene.ends, ["slow \(Self.cancelled)"])
                XCTAssertEqual(scene.view.snapshot().state, .idle)
                Stand.pump("rest") { scene.stub.manager.runningJobs == 0 }
                // The task is canceled before it starts.
                scene.wait("red").cancel()
                scene.pump(ends: 2)
                XCTAssertEqual(scene.stub.requests.count, 1)
                scene.window.close()
                gate.open()
            }
        }

        func testCancellationOfASupersededLoadChangesNothing() throws {
            try Stand.run {
                let scene = try Scene()
                let (task, gate) = try scene.waitForSlow()
                scene.wait("red")
                scene.pump(ends: 2)
                task.cancel()
                Stand.settle()
                XCTAssertEqual(scene.ends, ["slow \(Self.cancelled)", "red"])
                XCTAssertEqual(scene.view.snapshot().state, .showing)
                scene.window.close()
                gate.open()
            }
        }

        func testLoadSupersededDuringItsTransitionFails() throws {
            try Stand.run {
                WidgetController.manualTime = 1_000_000_000
                let scene = try Scene()
                let task = scene.comesIn("red")
                scene.wait("green")
                scene.pump(ends: 2)
                XCTAssertEqual(scene.ends, ["red \(Self.cancelled)", "green"])
                task.cancel()
                let last = scene.comesIn("red")
                last.cancel()
                scene.pump(ends: 3)
                XCTAssertEqual(scene.ends.last, "red \(Self.cancelled)")
                XCTAssertEqual(scene.view.snapshot().state, .idle, "cancellation during the transition clears the slot")
                scene.window.close()
            }
        }

        func testClearingAndDestroyingEndTheWait() throws {
            try Stand.run {
                WidgetController.manualTime = 1_000_000_000
                let scene = try Scene()
                scene.comesIn("red")
                scene.view.clear()
                scene.pump(ends: 1)
                scene.comesIn("green")
                scene.window.close()
                scene.pump(ends: 2)
                XCTAssertEqual(scene.ends, ["red \(Self.cancelled)", "green \(Self.cancelled)"])
            }
        }

        func testDoesNotWaitForInvisibleViews() throws {
            try Stand.run {
                WidgetController.manualTime = 1_000_000_000
                let scene = try Scene()
                scene.comesIn("red")
                scene.window.hide()
                scene.pump(ends: 1)
                var options = Self.fading
                options.offscreenBehavior = .continue
                scene.wait("green", options, until: .transitionFinished)
                scene.pump(ends: 2)
                XCTAssertEqual(scene.ends, ["red", "green"])
                scene.window.close()
                // The widget is on screen but is never drawn.
                let clear = try Scene(shows: false)
                gtk_widget_set_opacity(clear.view.widget, 0)
                clear.window.show()
                var unsized = ImageViewOptions()
                unsized.sizing = .originalSize
                clear.wait("red", unsized)
                clear.pump(ends: 1)
                XCTAssertEqual(clear.ends, ["red"])
                clear.window.close()
            }
        }

        func testCompletionThatStartsALoadOfTheSameSlotLosesNoCompletion() throws {
            try Stand.run {
                let response = ImageResponse(image: try Sources.image([9, 9, 9]), url: Sources.url("a"))
                let waits = CompletionWaits()
                let ends = Ends()
                func wait(_ name: String, then action: @escaping @MainActor () -> Void = {}) -> CompletionWaiter {
                    CompletionWaiter(completionPoint: .displayed, response: response) { _ in
                        ends.names.append(name)
                        action()
                    }
                }
                waits.add(wait("first") { waits.add(wait("nested"), for: .image) }, for: .image)
                waits.add(wait("second"), for: .image)
                waits.cancelAll()
                XCTAssertEqual(ends.names.sorted(), ["first", "nested", "second"])
            }
        }
    }
#endif
