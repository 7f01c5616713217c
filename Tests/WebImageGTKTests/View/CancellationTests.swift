// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Tests of loads that end before their image is displayed, and of the request that a view displays.
    final class CancellationTests: XCTestCase {
        /// A view in a window, with the images `red` and `green` and an image `slow` that waits for a gate.
        @MainActor
        private final class Scene {
            let stub = StubImageManager()
            let gate = TestGate()
            let window: TestWindow
            let view: WebImageView
            var ends: [String] = []

            /// Creates a view, which has no size before it has an image if `hasSize` is `false`.
            init(shows: Bool = true, hasSize: Bool = true) throws {
                let picture = try XCTUnwrap(gtk_picture_new())
                if !hasSize {
                    gtk_widget_set_halign(picture, GTK_ALIGN_CENTER)
                    gtk_widget_set_valign(picture, GTK_ALIGN_CENTER)
                }
                window = try TestWindow(picture)
                view = try XCTUnwrap(WebImageView(for: picture, manager: stub.manager))
                for (name, color, gate) in [
                    ("red", PixelColor(red: 200, green: 0, blue: 0), nil),
                    ("green", PixelColor(red: 0, green: 200, blue: 0), nil),
                    ("slow", PixelColor(red: 0, green: 0, blue: 200), gate),
                ] {
                    stub.respond(to: Sources.url(name), with: .color(color, width: 160, height: 120, gate: gate))
                }
                if shows { window.show() }
            }

            /// Retries the load, and waits until the view shows the image with the given color.
            func retry(_ color: [Int], file: StaticString = #filePath, line: UInt = #line) throws {
                view.retry()
                Stand.pump("the image", file: file, line: line) { view.snapshot().state == .showing }
                window.frame()
                assertColor(try window.screenshot().middle, color)
            }

            func load(
                _ name: String, slot: ImageSlot = .image, until point: WebImageView.CompletionPoint = .loaded,
                _ change: (inout ImageViewOptions) -> Void = { _ in }
            ) {
                var options = ImageViewOptions()
                change(&options)
                view.load(ImageRequest(url: Sources.url(name)), options: options, slot: slot, until: point) { result in
                    switch result {
                    case .success: self.ends.append(name)
                    case .failure(let error): self.ends.append("\(name) \(error.code)")
                    }
                }
            }
        }

        private static let cancelled = ImageError.cancelled.code

        func testCancelingKeepsTheImageOnScreen() throws {
            try Stand.run {
                let scene = try Scene()
                let view = scene.view
                scene.load("red", until: .displayed)
                Stand.pump("the first image") { scene.ends == ["red"] }
                XCTAssertEqual(view.request()?.url, Sources.url("red"))
                XCTAssertEqual(view.displayedRequest(), view.request())
                scene.load("slow") { $0.keepsCurrentImage = true }
                try Stand.wait { await scene.stub.waitForRequests(count: 2) }
                view.cancel()
                XCTAssertEqual(scene.ends, ["red", "slow \(Self.cancelled)"])
                XCTAssertEqual(view.snapshot().state, .cancelled)
                XCTAssertEqual(view.request()?.url, Sources.url("slow"))
                XCTAssertEqual(view.displayedRequest()?.url, Sources.url("red"))
                XCTAssertEqual(view.displayedImage()?.size, PixelSize(width: 160, height: 120))
                assertColor(try scene.window.screenshot().middle, [200, 0, 0])
                Stand.pump("rest") { scene.stub.manager.runningJobs == 0 }
                scene.window.hide()
                scene.window.show()
                XCTAssertEqual(view.snapshot().state, .cancelled, "the visibility doesn't restart the load")
                XCTAssertFalse(view.controller.clicked(), "a canceled load isn't a failure")
                scene.gate.open()
                view.retry()
                Stand.pump("the second image") { view.snapshot().state == .showing }
                XCTAssertEqual(view.displayedRequest()?.url, Sources.url("slow"))
                assertColor(try scene.window.screenshot().middle, [0, 0, 200])
                XCTAssertEqual(scene.ends.count, 2)
                view.clear()
                XCTAssertNil(view.request())
                XCTAssertNil(view.displayedRequest())
                XCTAssertNil(view.displayedImage())
                scene.window.close()
            }
        }

        func testCancelingDuringATransitionEndsTheWaitAndKeepsTheImage() throws {
            try Stand.run {
                WidgetController.manualTime = 1_000_000_000
                let scene = try Scene()
                scene.load("red", until: .transitionFinished) {
                    $0.transition = ImageTransition(.crossFade, duration: .seconds(1), curve: .linear).forced()
                }
                Stand.pump("the image") { scene.view.controller.renderers[.image]?.reached == .displayed }
                XCTAssertEqual(scene.ends, [])
                scene.view.cancel()
                XCTAssertEqual(scene.ends, ["red \(Self.cancelled)"])
                XCTAssertEqual(scene.view.snapshot().state, .showing)
                WidgetController.manualTime = 3_000_000_000
                Stand.pump("the end of the transition") {
                    scene.view.controller.renderers[.image]?.reached == .transitionFinished
                }
                assertColor(try scene.window.screenshot().middle, [200, 0, 0])
                XCTAssertEqual(scene.ends.count, 1)
                scene.window.close()
            }
        }

        func testRetryAfterCancelingWithoutASize() throws {
            try Stand.run {
                for isVisible in [false, true] {
                    let scene = try Scene(shows: isVisible, hasSize: false)
                    scene.load("red")
                    XCTAssertEqual(scene.view.snapshot().state, .waiting)
                    scene.view.cancel()
                    XCTAssertEqual(scene.ends, ["red \(Self.cancelled)"])
                    // Nothing waits for a size anymore when the load is retried.
                    if isVisible { scene.window.frame() } else { scene.window.show() }
                    XCTAssertEqual(scene.view.snapshot().state, .cancelled)
                    try scene.retry([200, 0, 0])
                    XCTAssertEqual(scene.ends.count, 1)
                    scene.window.close()
                }
            }
        }

        func testRetryAfterCancelingWhileUnmapped() throws {
            try Stand.run {
                let scene = try Scene(shows: false)
                scene.load("red")
                scene.view.cancel()
                scene.view.retry()
                XCTAssertEqual(scene.view.snapshot().state, .waiting)
                scene.window.show()
                Stand.pump("the image") { scene.view.snapshot().state == .showing }
                scene.window.hide()
                scene.load("slow")
                scene.view.cancel()
                scene.window.show()
                XCTAssertEqual(scene.view.snapshot().state, .cancelled)
                scene.gate.open()
                try scene.retry([0, 0, 200])
                scene.window.close()
            }
        }

        func testRetryAfterCancelingAFailureOrAnImage() throws {
            try Stand.run {
                let scene = try Scene()
                let error = ImageError.network(ImageError.NetworkFailure(.offline, url: Sources.url("late")))
                scene.stub.respond(
                    to: Sources.url("late"),
                    with: .failure(error), .color(PixelColor(red: 200, green: 0, blue: 200), width: 160, height: 120))
                scene.load("late") { $0.retriesWhenNetworkReturns = false }
                Stand.pump("the failure") { scene.ends.count == 1 }
                let failure = scene.view.snapshot().state
                guard case .failed = failure else { return XCTFail("\(failure)") }
                scene.view.cancel()
                XCTAssertEqual(scene.view.snapshot().state, failure)
                try scene.retry([200, 0, 200])
                let count = scene.stub.requests.count
                scene.view.cancel()
                scene.view.retry()
                XCTAssertEqual(scene.view.snapshot().state, .showing)
                Stand.settle()
                XCTAssertEqual(scene.stub.requests.count, count, "an image that is shown isn't loaded again")
                XCTAssertEqual(scene.ends.count, 1)
                scene.window.close()
            }
        }

        func testRetryAfterCancelingTheWaitForATransition() throws {
            try Stand.run {
                WidgetController.manualTime = 1_000_000_000
                let scene = try Scene()
                scene.load("red", until: .transitionFinished) {
                    $0.transition = ImageTransition(.crossFade, duration: .seconds(1), curve: .linear).forced()
                }
                Stand.pump("the image") { scene.view.controller.renderers[.image]?.reached == .displayed }
                scene.view.cancel()
                scene.view.retry()
                XCTAssertEqual(scene.view.snapshot().state, .showing, "the image is loaded, and the view shows it")
                WidgetController.manualTime = 3_000_000_000
                Stand.pump("the end of the transition") {
                    scene.view.controller.renderers[.image]?.reached == .transitionFinished
                }
                assertColor(try scene.window.screenshot().middle, [200, 0, 0])
                XCTAssertEqual(scene.ends, ["red \(Self.cancelled)"])
                scene.window.close()
            }
        }

        func testCancelingShowsADelayedPlaceholder() throws {
            try Stand.run {
                let scene = try Scene()
                scene.load("red", until: .displayed)
                Stand.pump("the first image") { scene.ends == ["red"] }
                scene.load("slow") {
                    $0.placeholder = .color(PixelColor(red: 0, green: 200, blue: 0))
                    $0.delaysPlaceholder = true
                }
                try Stand.wait { await scene.stub.waitForRequests(count: 2) }
                scene.window.frame()
                assertColor(try scene.window.screenshot().middle, [200, 0, 0], "the previous image remains")
                scene.view.cancel()
                XCTAssertNil(scene.view.displayedRequest())
                scene.window.frame()
                assertColor(try scene.window.screenshot().middle, [0, 200, 0])
                scene.gate.open()
                try scene.retry([0, 0, 200])
                scene.window.close()
            }
        }

        func testProgressObjectFollowsTheLoadsOfASlot() throws {
            try Stand.run {
                let scene = try Scene()
                let (main, badge) = (Progress(totalUnitCount: 1), Progress(totalUnitCount: 1))
                scene.view.setProgress(main)
                scene.view.setProgress(badge, for: "badge")
                XCTAssertTrue(scene.view.progress() === main)
                scene.load("red")
                Stand.pump("the image") { scene.ends == ["red"] }
                XCTAssertTrue(main.isFinished)
                XCTAssertEqual(badge.completedUnitCount, 0)
                let stub = StubImageManager()
                stub.respond(
                    to: Sources.url("a"), with: .color(PixelColor(red: 9, green: 9, blue: 9), width: 9, height: 9))
                let view = try XCTUnwrap(WebImageView(for: scene.view.widget, manager: stub.manager))
                XCTAssertTrue(view.progress(for: "badge") === badge, "progress objects remain with another manager")
                var options = ImageViewOptions()
                options.sizing = .originalSize
                view.load(ImageRequest(url: Sources.url("a")), options: options, slot: "badge")
                Stand.pump("the badge") { badge.isFinished }
                view.setProgress(nil, for: "badge")
                view.load(nil as ImageRequest?, slot: "badge")
                XCTAssertNil(view.progress(for: "badge"))
                XCTAssertTrue(badge.isFinished)
                scene.window.close()
            }
        }

        func testSlotsAreCanceledIndependently() throws {
            try Stand.run {
                let scene = try Scene()
                scene.load("slow") { $0.sizing = .originalSize }
                scene.load("slow", slot: "badge") { $0.sizing = .originalSize }
                try Stand.wait { await scene.stub.waitForRequests(count: 1) }
                scene.view.cancel("badge")
                XCTAssertEqual(scene.ends, ["slow \(Self.cancelled)"])
                XCTAssertEqual(scene.view.snapshot(of: "badge").state, .cancelled)
                XCTAssertEqual(scene.view.request(of: "badge")?.url, Sources.url("slow"))
                XCTAssertEqual(scene.view.snapshot().state, .loading)
                scene.gate.open()
                Stand.pump("the image") { scene.view.snapshot().state == .showing }
                XCTAssertEqual(scene.ends.last, "slow")
                XCTAssertNil(scene.view.displayedRequest(of: "badge"))
                scene.window.close()
            }
        }

        func testReplacingAndClearingChangeTheRequest() throws {
            try Stand.run {
                let scene = try Scene()
                let view = scene.view
                scene.load("slow")
                XCTAssertEqual(view.request()?.url, Sources.url("slow"))
                XCTAssertNil(view.displayedRequest())
                scene.load("green")
                Stand.pump("the image") { scene.ends.contains("green") }
                XCTAssertEqual(view.request()?.url, Sources.url("green"))
                XCTAssertEqual(view.displayedRequest()?.url, Sources.url("green"))
                _ = WebImageView(for: view.widget, manager: Sources.manager(Sources.numbered()))
                XCTAssertNil(view.request(), "another manager unbinds all slots")
                XCTAssertNil(view.displayedImage())
                scene.window.close()
            }
        }

        /// The handler may change widgets, and GTK wouldn't draw changes that are made during a frame.
        func testHandlerReceivesTheContentOutsideOfDrawing() throws {
            try Stand.run {
                let manager = Sources.manager(Sources.numbered(width: 160, height: 120))
                for round in 1...2 {
                    let picture = try XCTUnwrap(gtk_picture_new())
                    let window = try TestWindow(picture)
                    let view = try XCTUnwrap(WebImageView(for: picture, manager: manager))
                    var reported: [String] = []
                    var source: ImageResponse.Source?
                    @MainActor func tell(_ what: String) {
                        let isDrawing = view.controller.renderers[.image]?.isDrawing == true
                        reported.append("\(what)\(isDrawing ? " while drawing" : "")")
                    }
                    var options = ImageViewOptions(placeholder: .color(.black))
                    options.setsImageAutomatically = false
                    options.onPresentation = { presentation in
                        tell(presentation.kind.rawValue)
                        source = presentation.source
                    }
                    // In the second round, the image is in memory, and the view finds it when the first frame sets its
                    // bounds.
                    view.load(ImageRequest(url: Sources.url("5")), options: options) { _ in tell("end") }
                    window.show()
                    Stand.pump("the end") { reported.contains { $0.hasPrefix("end") } }
                    XCTAssertEqual(reported, ["placeholder", "image", "end"], "round \(round)")
                    XCTAssertEqual(source == .memoryCache, round == 2)
                    XCTAssertNil(view.displayedImage())
                    XCTAssertNil(view.controller.renderers[.image]?.current, "the view sets no images")
                    if round == 2 {
                        view.clear()
                        XCTAssertEqual(reported.last, "nothing")
                    }
                    window.close()
                    XCTAssertEqual(reported.count, 2 + round, "destroying the widget doesn't call the handler")
                }
            }
        }
    }
#endif
