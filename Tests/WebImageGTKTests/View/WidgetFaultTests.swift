// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Scenarios in which widgets of other libraries failed. The name of a test begins with the ID of its scenario.
    final class WidgetFaultTests: XCTestCase {
        func testS24DestroyedHiddenAndMinimizedWidgetsHaveNoTickAndNoTimer() throws {
            try Stand.run {
                for isDestroyed in [false, true] {
                    let stub = StubImageManager()
                    stub.respond(to: Sources.url("a"), with: .image(try CountedFrames(count: 50).image()))
                    let picture = try XCTUnwrap(gtk_picture_new())
                    let window = try TestWindow(picture)
                    let view = try XCTUnwrap(WebImageView(for: picture, manager: stub.manager))
                    view.load(Sources.url("a"), transition: .crossFade(duration: .seconds(5)))
                    window.show()
                    Stand.pump("the first frames") {
                        view.controller.frames.tick != 0 || view.controller.frames.timer != 0
                    }
                    let controller = view.controller
                    if isDestroyed { window.close() } else { window.hide() }
                    Stand.pump("rest") { controller.frames.tick == 0 && controller.frames.timer == 0 }
                    XCTAssertEqual(controller.frames.tick, 0)
                    XCTAssertEqual(controller.frames.timer, 0)
                    if !isDestroyed { window.close() }
                }
            }
        }

        func testC11ViewThatIsNeverMappedLoadsNothingAndCompletes() throws {
            try Stand.run {
                let before = ControllerRegistry.shared.count
                let stub = StubImageManager()
                stub.respond(
                    to: Sources.url("a"), with: .color(PixelColor(red: 1, green: 2, blue: 3), width: 4, height: 4))
                var codes: [Int] = []
                for _ in 0..<5 {
                    let picture = try XCTUnwrap(gtk_picture_new())
                    g_object_ref_sink(picture)
                    WebImageView(for: picture, manager: stub.manager)?.load(Sources.url("a")) { result in
                        if case .failure(let error) = result { codes.append(error.code) }
                    }
                    Stand.settle()
                    g_object_unref(picture)
                }
                Stand.pump("the completions") { codes.count == 5 }
                XCTAssertEqual(codes, Array(repeating: ImageError.cancelled.code, count: 5))
                XCTAssertEqual(ControllerRegistry.shared.count, before)
                XCTAssertEqual(stub.requests.count, 0)
                XCTAssertEqual(stub.manager.runningJobs, 0)
            }
        }

        func testC12ImagesOfDifferentShapesKeepTheirProportionsDuringACrossFade() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.present(try Sources.image([200, 0, 0], width: 40, height: 10))
                _ = try host.drawn()
                let changes = host.sizeChanges
                host.present(
                    try Sources.image([0, 0, 200], width: 10, height: 40), .image,
                    ImageTransition(.crossFade, duration: .milliseconds(100), curve: .linear))
                for step in 0..<5 {
                    let drawn = try host.drawn(width: 40, height: 40)
                    // The landscape image covers the left edge of the middle row, and the portrait image the top of the
                    // middle column. Neither covers the corner.
                    XCTAssertEqual(drawn.color(1, 1).prefix(3), [0, 0, 0], "step \(step)")
                    if step == 2 {
                        XCTAssertGreaterThan(drawn.color(2, 20)[0], 50)
                        XCTAssertLessThan(drawn.color(2, 20)[2], 20)
                        XCTAssertGreaterThan(drawn.color(20, 2)[2], 50)
                        XCTAssertLessThan(drawn.color(20, 2)[0], 20)
                    }
                    host.pass(25)
                }
                XCTAssertEqual(host.sizeChanges, changes + 1)
            }
        }

        func testG14CompletionsThatBindUnbindOrDestroyTheWidgetTakeEffect() throws {
            try Stand.run {
                let manager = Sources.manager(Sources.numbered())
                for change in 0..<3 {
                    let picture = try XCTUnwrap(gtk_picture_new())
                    let window = try TestWindow(picture)
                    let view = try XCTUnwrap(WebImageView(for: picture, manager: manager))
                    var completions = [0, 0]
                    var isClosed = false
                    window.show()
                    view.load(Sources.url("\(change)")) { _ in
                        completions[0] += 1
                        switch change {
                        case 0: view.load(Sources.url("9")) { _ in completions[1] += 1 }
                        case 1: view.clear()
                        default:
                            gtk_window_destroy(
                                UnsafeMutableRawPointer(window.widget).assumingMemoryBound(to: GtkWindow.self))
                            isClosed = true
                        }
                    }
                    Stand.pump("the completions") { completions[0] == 1 && (change != 0 || completions[1] == 1) }
                    Stand.settle()
                    XCTAssertEqual(completions, [1, change == 0 ? 1 : 0])
                    if change == 0 {
                        assertColor(try window.screenshot().middle, Sources.color(of: 9).map(Int.init))
                    }
                    if !isClosed { window.close() }
                }
            }
        }
    }
#endif
