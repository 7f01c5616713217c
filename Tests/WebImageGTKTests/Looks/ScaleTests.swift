// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Tests on a display with two pixels per point. `make test` runs them with GDK_SCALE=2.
    final class ScaleTests: XCTestCase {
        func testImagesAreDecodedAtTheDeviceResolution() throws {
            try Stand.run {
                let picture = try XCTUnwrap(gtk_picture_new())
                guard gtk_widget_get_scale_factor(picture) == 2 else { throw XCTSkip("needs GDK_SCALE=2") }
                let stub = StubImageManager()
                stub.respond(to: Sources.url("a"), with: .data(try Sources.png([0, 200, 0], width: 640, height: 480)))
                let window = try TestWindow(picture)
                let view = try XCTUnwrap(WebImageView(for: picture, manager: stub.manager))
                var sizes: [PixelSize] = []
                view.load(Sources.url("a")) { result in
                    if case .success(let response) = result { sizes.append(response.image.size) }
                }
                window.show()
                Stand.pump("the image") { sizes.count == 1 }
                XCTAssertEqual(sizes, [PixelSize(width: 320, height: 240)])
                window.frame()
                XCTAssertEqual(view.controller.renderers[.image]?.intrinsicSize?.width, 160)
                assertColor(try window.screenshot(scale: 2).middle, [0, 200, 0])
                window.close()
            }
        }
    }
#endif
