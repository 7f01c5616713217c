// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Dispatch
    import XCTest

    @testable import WebImage
    @testable import WebImageCore
    @testable import WebImageGTK

    /// Tests of the contents that a renderer draws at times that the tests set.
    final class SlotRendererTests: XCTestCase {
        func testImageIsDrawnInItsBounds() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.present(try Sources.image([200, 0, 0], width: 40, height: 20))
                let drawn = try host.drawn(width: 40, height: 40)
                assertColor(drawn.middle, [200, 0, 0])
                XCTAssertEqual(drawn.color(20, 2), [0, 0, 0], "above the image")
                XCTAssertEqual(host.bounds, [[40, 40]])
            }
        }

        func testCornersAreRounded() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.renderer.cornerRadius = 10
                host.present(try Sources.image([200, 0, 0]))
                let drawn = try host.drawn()
                XCTAssertEqual(drawn.color(0, 0), [0, 0, 0])
                assertColor(drawn.color(10, 0), [200, 0, 0], within: 40)
                assertColor(drawn.middle, [200, 0, 0])
            }
        }

        func testColorFillsTheBounds() throws {
            try Stand.run {
                let host = TestRendererHost()
                let color = PixelColor(red: 1, green: 99, blue: 3)
                host.renderer.present(ImageBinder.Presentation(.placeholder, color: color, bindingID: 1))
                assertColor(try host.drawn().color(0, 29), [1, 99, 3])
                XCTAssertNil(host.renderer.intrinsicSize)
            }
        }

        func testEmptyContentClearsTheStage() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.present(try Sources.image([200, 0, 0]))
                _ = try host.drawn()
                host.present(nil, .nothing)
                XCTAssertEqual(try host.drawn().middle, [0, 0, 0])
            }
        }

        func testSizeIsInPoints() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.renderer.scaleFactor = 2
                host.present(try Sources.image([1, 2, 3], width: 40, height: 30))
                XCTAssertEqual(host.renderer.intrinsicSize?.width, 20)
                XCTAssertEqual(host.renderer.intrinsicSize?.height, 15)
                XCTAssertEqual(host.sizeChanges, 1)
                host.present(try Sources.image([9, 2, 3], width: 40, height: 30))
                XCTAssertEqual(host.sizeChanges, 1, "another image of the same size")
            }
        }

        func testDeferredUploadKeepsTheOldImageUntilTheNextFrame() throws {
            try Stand.run {
                let old = TestRendererHost()
                old.present(try Sources.image([0, 200, 0]))
                _ = try old.drawn()
                let first = TestRendererHost()
                let bytes = UploadBudget.shared.bytesPerFrame
                defer { UploadBudget.shared.bytesPerFrame = bytes }
                UploadBudget.shared.bytesPerFrame = 1_000
                old.frameTime += 1_000_000
                first.frameTime = old.frameTime
                first.present(try Sources.image([200, 0, 0]))
                old.present(try Sources.image([0, 0, 200]))
                assertColor(try first.drawn().middle, [200, 0, 0], "the first upload of a frame")
                assertColor(try old.drawn().middle, [0, 200, 0], "the deferred upload")
                XCTAssertEqual(old.pass(16), 0, "requests the next frame")
                assertColor(try old.drawn().middle, [0, 0, 200], "the next frame")
                XCTAssertNil(old.pass(16))
            }
        }

        func testViewsOfAnImageShareOneTextureThatIsReleasedWithIt() throws {
            try Stand.run {
                let before = GTKTexture.livingCount
                try { @MainActor in
                    let image = try Sources.image([1, 2, 3])
                    XCTAssertTrue(GTKTexture.texture(for: image) === GTKTexture.texture(for: image.pixels))
                    XCTAssertEqual(GTKTexture.livingCount, before + 1)
                }()
                XCTAssertEqual(GTKTexture.livingCount, before)
            }
        }

        func testTextureOutlivesItsImage() throws {
            try Stand.run {
                var image: DecodedImage? = try Sources.image([1, 2, 3], width: 300, height: 300)
                let texture = GTKTexture.texture(for: try XCTUnwrap(image))
                image = nil
                // The pixel pool would reuse released pixels for this image.
                let other = try Sources.image([250, 250, 250], width: 300, height: 300)
                var pixels = [UInt8](repeating: 0, count: 300 * 300 * 4)
                gdk_texture_download(texture.pointer, &pixels, 300 * 4)
                XCTAssertEqual(pixels[0..<3], [3, 2, 1])
                _ = other
            }
        }

        func testTexturesAreCreatedOnAnyThread() throws {
            try Stand.run {
                let image = try Sources.image([1, 2, 3])
                DispatchQueue.concurrentPerform(iterations: 32) { _ in
                    var pixels = [UInt8](repeating: 0, count: 40 * 30 * 4)
                    gdk_texture_download(GTKTexture.texture(for: image).pointer, &pixels, 40 * 4)
                }
                XCTAssertTrue(GTKTexture.texture(for: image) === GTKTexture.texture(for: image))
            }
        }
    }
#endif
