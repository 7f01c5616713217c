// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Tests of the path from a URL to the pixels of a window.
    final class LoadingTests: XCTestCase {
        func testLoadedImageReachesTheScreen() throws {
            try Stand.run {
                let stub = StubImageManager()
                let gate = TestGate()
                stub.respond(
                    to: Sources.url("a"),
                    with: .color(PixelColor(red: 200, green: 10, blue: 30), width: 40, height: 30, gate: gate))
                let picture = try XCTUnwrap(gtk_picture_new())
                let window = try TestWindow(picture)
                let view = try XCTUnwrap(WebImageView(for: picture, manager: stub.manager))
                view.load(Sources.url("a"), placeholder: .color(PixelColor(red: 0, green: 0, blue: 250)))
                window.show()
                assertColor(try window.screenshot().middle, [0, 0, 250], "while it loads")
                gate.open()
                Stand.pump("the image") { view.snapshot().state == .showing }
                assertColor(try window.screenshot().middle, [200, 10, 30])
                window.close()
            }
        }

        func testViewIsReleasedWithItsWidget() throws {
            try Stand.run {
                let before = ControllerRegistry.shared.count
                let stub = StubImageManager()
                stub.respond(
                    to: Sources.url("a"), with: .color(PixelColor(red: 1, green: 2, blue: 3), width: 4, height: 4))
                let picture = try XCTUnwrap(gtk_picture_new())
                let window = try TestWindow(picture)
                var results: [Result<ImageResponse, ImageError>] = []
                WebImageView(for: picture, manager: stub.manager)?.load(Sources.url("a")) { results.append($0) }
                window.show()
                Stand.pump("the image") { results.count == 1 }
                XCTAssertEqual(ControllerRegistry.shared.count, before + 1)
                window.close()
                XCTAssertEqual(ControllerRegistry.shared.count, before)
            }
        }

        func testDestroyingTheWidgetCancelsItsLoads() throws {
            try Stand.run {
                let stub = StubImageManager()
                let gate = TestGate()
                stub.respond(
                    to: Sources.url("a"),
                    with: .color(PixelColor(red: 1, green: 2, blue: 3), width: 4, height: 4, gate: gate))
                let picture = try XCTUnwrap(gtk_picture_new())
                let window = try TestWindow(picture)
                var errors: [Int] = []
                WebImageView(for: picture, manager: stub.manager)?.load(Sources.url("a")) { result in
                    if case .failure(let error) = result { errors.append(error.code) }
                }
                window.show()
                try Stand.wait { await stub.waitForRequests(count: 1) }
                window.close()
                XCTAssertEqual(errors, [ImageError.cancelled.code])
                Stand.pump("rest") { stub.manager.runningJobs == 0 }
                gate.open()
            }
        }

        func testImageInMemoryIsDrawnInTheFrameOfItsRequest() throws {
            try Stand.run {
                let manager = Sources.manager(Sources.numbered(width: 160, height: 120))
                let picture = try XCTUnwrap(gtk_picture_new())
                let window = try TestWindow(picture)
                let view = try XCTUnwrap(WebImageView(for: picture, manager: manager))
                view.load(Sources.url("5"))
                window.show()
                Stand.pump("the first image") { view.snapshot().state == .showing }
                view.load(Sources.url("9"))
                Stand.pump("the second image") { view.snapshot().state == .showing }
                view.load(Sources.url("5"), placeholder: .color(.black), transition: .crossFade())
                XCTAssertEqual(view.snapshot().content, .image)
                assertColor(try window.screenshot().middle, Sources.color(of: 5).map(Int.init))
                window.close()
            }
        }
    }
#endif
