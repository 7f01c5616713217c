// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Tests of views while windows are hidden and shown, and while the network and memory conditions change.
    final class ConditionsTests: XCTestCase {
        @MainActor
        private static func makeView(
            _ stub: StubImageManager, _ url: URL, hidden: Bool = false
        ) throws -> (TestWindow, WebImageView) {
            let picture = try XCTUnwrap(gtk_picture_new())
            let window = try TestWindow(picture)
            let view = try XCTUnwrap(WebImageView(for: picture, manager: stub.manager))
            view.load(url)
            if !hidden { window.show() }
            return (window, view)
        }

        private static let offline = ImageError.network(
            ImageError.NetworkFailure(.offline, url: URL(filePath: "/u"), phase: .connecting))

        func testHiddenWindowLoadsNothing() throws {
            try Stand.run {
                let stub = StubImageManager()
                stub.respond(
                    to: Sources.url("a"), with: .color(PixelColor(red: 1, green: 2, blue: 3), width: 4, height: 4))
                let (window, view) = try Self.makeView(stub, Sources.url("a"), hidden: true)
                Stand.settle()
                XCTAssertEqual(view.snapshot().state, .waiting)
                XCTAssertEqual(stub.requests.count, 0)
                window.show()
                Stand.pump("the image") { view.snapshot().state == .showing }
                window.close()
            }
        }

        func testHidingAWindowCancelsItsLoadsAndShowingItRestartsThem() throws {
            try Stand.run {
                let stub = StubImageManager()
                let gate = TestGate()
                stub.respond(
                    to: Sources.url("a"),
                    with: .color(PixelColor(red: 1, green: 2, blue: 3), width: 4, height: 4, gate: gate))
                let (window, view) = try Self.makeView(stub, Sources.url("a"))
                try Stand.wait { await stub.waitForRequests(count: 1) }
                window.hide()
                XCTAssertEqual(view.snapshot().state, .waiting)
                Stand.pump("rest") { stub.manager.runningJobs == 0 }
                gate.open()
                window.show()
                Stand.pump("the image") { view.snapshot().state == .showing }
                window.close()
            }
        }

        func testAnimationInAHiddenWindowNeitherDecodesNorWakesTheLoop() throws {
            try Stand.run {
                let stub = StubImageManager()
                let frames = CountedFrames(count: 50)
                stub.respond(to: Sources.url("a"), with: .image(try frames.image()))
                let (window, view) = try Self.makeView(stub, Sources.url("a"))
                Stand.pump("the first frames") { (view.player()?.frameIndex ?? 0) >= 3 }
                window.hide()
                Stand.pump("rest") { view.controller.frames.tick == 0 && view.controller.frames.timer == 0 }
                let index = view.player()?.frameIndex
                let decoded = frames.decoded
                let end = g_get_monotonic_time() + 200_000
                Stand.pump("a delay") { g_get_monotonic_time() > end }
                XCTAssertEqual(view.player()?.frameIndex, index)
                XCTAssertLessThanOrEqual(frames.decoded - decoded, 1, "at most one frame was in progress")
                window.show()
                Stand.pump("more frames") { view.player()?.frameIndex != index }
                window.close()
            }
        }

        func testClickRetries() throws {
            try Stand.run {
                let stub = StubImageManager()
                stub.respond(
                    to: Sources.url("a"),
                    with: .failure(.request(.rejected(reason: "no"))),
                    .color(PixelColor(red: 0, green: 200, blue: 0), width: 4, height: 4))
                let (window, view) = try Self.makeView(stub, Sources.url("a"))
                Stand.pump("the failure") { if case .failed = view.snapshot().state { true } else { false } }
                view.retriesOnClick = false
                XCTAssertFalse(view.controller.clicked())
                view.retriesOnClick = true
                XCTAssertTrue(view.controller.clicked())
                Stand.pump("the image") { view.snapshot().state == .showing }
                XCTAssertFalse(view.controller.clicked(), "no failure remains")
                window.close()
            }
        }

        func testNetworkFailureIsRetriedWhenTheNetworkReturns() throws {
            try Stand.run {
                let monitors = SystemMonitors.shared
                monitors.retrySpread = 0
                let stub = StubImageManager()
                stub.respond(
                    to: Sources.url("a"),
                    with: .failure(Self.offline), .color(PixelColor(red: 0, green: 200, blue: 0), width: 4, height: 4))
                let (window, view) = try Self.makeView(stub, Sources.url("a"))
                Stand.pump("the failure") { if case .failed = view.snapshot().state { true } else { false } }
                monitors.network(isAvailable: true)
                XCTAssertEqual(stub.requests.count, 1, "the network was never unavailable")
                monitors.network(isAvailable: false)
                monitors.network(isAvailable: true)
                Stand.pump("the image") { view.snapshot().state == .showing }
                window.close()
            }
        }

        func testMemoryPressureReachesTheManagersOfTheViews() throws {
            try Stand.run {
                let stub = StubImageManager()
                stub.respond(
                    to: Sources.url("a"), with: .color(PixelColor(red: 1, green: 2, blue: 3), width: 4, height: 4))
                let (window, _) = try Self.makeView(stub, Sources.url("a"))
                SystemMonitors.shared.memoryWarning(100)
                XCTAssertEqual(stub.manager.configuration.memoryPressureMonitor.level, .medium)
                window.close()
            }
        }

        func testWidgetWithoutBoundsStillLoads() throws {
            try Stand.run {
                let stub = StubImageManager()
                stub.respond(
                    to: Sources.url("a"), with: .color(PixelColor(red: 0, green: 200, blue: 0), width: 40, height: 30))
                let picture = try XCTUnwrap(gtk_picture_new())
                // A centered GtkPicture without content has no size.
                gtk_widget_set_halign(picture, GTK_ALIGN_CENTER)
                gtk_widget_set_valign(picture, GTK_ALIGN_CENTER)
                let window = try TestWindow(picture)
                let view = try XCTUnwrap(WebImageView(for: picture, manager: stub.manager))
                view.load(Sources.url("a"))
                window.show()
                Stand.pump("the image") { view.snapshot().state == .showing }
                window.frame()
                assertColor(try window.screenshot().middle, [0, 200, 0])
                XCTAssertEqual(gtk_widget_get_width(picture), 40)
                window.close()
            }
        }

        func testDisablingAnimationsShowsThePosterFrame() throws {
            try Stand.run {
                let stub = StubImageManager()
                stub.respond(to: Sources.url("a"), with: .image(try CountedFrames(count: 50).image()))
                let (window, view) = try Self.makeView(stub, Sources.url("a"))
                Stand.pump("the first frames") { (view.player()?.frameIndex ?? 0) >= 2 }
                try Desktop.set("gtk-enable-animations", false)
                XCTAssertEqual(view.player()?.frameIndex, 0)
                XCTAssertEqual(view.player()?.options.reducesMotion, true)
                Stand.pump("rest") { view.controller.frames.tick == 0 && view.controller.frames.timer == 0 }
                try Desktop.set("gtk-enable-animations", true)
                Stand.pump("the first frames") { (view.player()?.frameIndex ?? 0) >= 2 }
                window.close()
            }
        }

        func testStateSlotsAreNamedAfterTheirSlot() {
            XCTAssertEqual(ImageSlot.image(.normal), .image)
            XCTAssertEqual(ImageSlot.image(.hover).normalSlot, .image)
            XCTAssertEqual(ImageSlot.background(.disabled).normalSlot, .background)
            XCTAssertEqual(ImageSlot("anything").normalSlot, "anything")
            XCTAssertEqual(ImageSlot.highlighted.normalSlot, .image)
            XCTAssertEqual(Set(ButtonState.allCases.map { ImageSlot.image($0) } + [.highlighted]).count, 5)
            XCTAssertEqual(ImageSlot.background.candidates(in: .hover), [.background(.hover), .background])
        }
    }
#endif
