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

            init() throws {
                let picture = try XCTUnwrap(gtk_picture_new())
                window = try TestWindow(picture)
                view = try XCTUnwrap(WebImageView(for: picture, manager: stub.manager))
                for (name, color, gate) in [
                    ("red", PixelColor(red: 200, green: 0, blue: 0), nil),
                    ("green", PixelColor(red: 0, green: 200, blue: 0), nil),
                    ("slow", PixelColor(red: 0, green: 0, blue: 200), gate),
                ] {
                    stub.respond(to: Sources.url(name), with: .color(color, width: 160, height: 120, gate: gate))
                }
                window.show()
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
                    var told: [String] = []
                    var source: ImageResponse.Source?
                    @MainActor func tell(_ what: String) {
                        let isDrawing = view.controller.renderers[.image]?.isDrawing == true
                        told.append("\(what)\(isDrawing ? " while drawing" : "")")
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
                    Stand.pump("the end") { told.contains { $0.hasPrefix("end") } }
                    XCTAssertEqual(told, ["placeholder", "image", "end"], "round \(round)")
                    XCTAssertEqual(source == .memoryCache, round == 2)
                    XCTAssertNil(view.displayedImage())
                    XCTAssertNil(view.controller.renderers[.image]?.current, "the view sets no images")
                    if round == 2 {
                        view.clear()
                        XCTAssertEqual(told.last, "nothing")
                    }
                    window.close()
                    XCTAssertEqual(told.count, 2 + round, "destroying the widget doesn't call the handler")
                }
            }
        }
    }
#endif
