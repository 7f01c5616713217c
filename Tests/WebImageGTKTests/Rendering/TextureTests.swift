// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Tests that check that decoding threads create the textures instead of the main thread.
    final class TextureTests: XCTestCase {
        /// Loads into a window until `isDone` returns `true`, and returns the number of textures that the main thread
        /// created.
        @MainActor
        private static func made(
            _ loader: StubLoader, _ request: ImageRequest, _ options: ImageViewOptions = ImageViewOptions(),
            until isDone: (WebImageView) -> Bool = { $0.snapshot().state == .showing }
        ) throws -> Int {
            let picture = try XCTUnwrap(gtk_picture_new())
            let window = try TestWindow(picture)
            let view = try XCTUnwrap(WebImageView(for: picture, manager: Sources.manager(loader)))
            let before = GTKTexture.madeOnMainThread
            view.load(request, options: options)
            window.show()
            Stand.pump("the image") { isDone(view) }
            Stand.pump("the first frame of the image") {
                view.controller.renderers[.image]?.reached == .transitionFinished
            }
            let made = GTKTexture.madeOnMainThread - before
            window.close()
            return made
        }

        @MainActor
        private static func loader(_ data: Data, _ first: TestGate? = nil, _ rest: TestGate? = nil) -> StubLoader {
            let loader = StubLoader()
            let half = data.count / 2
            loader.respond(
                to: Sources.url("a"),
                with: StubLoader.Response(
                    chunks: [data.prefix(half), data.dropFirst(half)], responseGate: first, bodyGate: rest))
            return loader
        }

        func testLoadedImageHasATexture() throws {
            try Stand.run {
                let data = try Sources.png([200, 0, 0], width: 320, height: 240)
                XCTAssertEqual(try Self.made(Self.loader(data), ImageRequest(url: Sources.url("a"))), 0)
            }
        }

        func testTransformedImageHasATexture() throws {
            try Stand.run {
                let data = try Sources.png([200, 0, 0], width: 320, height: 240)
                let before = GTKTexture.livingCount
                let request = ImageRequest(
                    url: Sources.url("a"), transformers: [.roundedCorners(radius: 8), .blur(radius: 2)])
                XCTAssertEqual(try Self.made(Self.loader(data), request), 0)
                XCTAssertLessThanOrEqual(GTKTexture.livingCount, before + 1, "only the last step creates a texture")
            }
        }

        func testPreviewsHaveTextures() throws {
            try Stand.run {
                let data = try LooksTests.dusk.get()
                let (first, rest) = (TestGate(), TestGate())
                var request = ImageRequest(url: Sources.url("a"))
                request.previews = .progressive(interval: .zero)
                var hasPreview = false
                let made = try Self.made(Self.loader(data, first, rest), request) { view in
                    if view.snapshot().state == .loading { first.open() }
                    if view.snapshot().content == .preview, !hasPreview {
                        hasPreview = true
                        rest.open()
                    }
                    return view.snapshot().state == .showing
                }
                XCTAssertTrue(hasPreview)
                XCTAssertEqual(made, 0)
            }
        }

        func testAnimationFramesHaveTextures() throws {
            try Stand.run {
                let data = try NumberedImages.gif(frames: 3, milliseconds: 20)
                let made = try Self.made(Self.loader(data), ImageRequest(url: Sources.url("a"))) { view in
                    view.player()?.frameIndex == 2
                }
                XCTAssertEqual(made, 0)
            }
        }

        func testImagesFromInterceptorsHaveTextures() throws {
            try Stand.run {
                let stub = StubImageManager()
                stub.respond(
                    to: Sources.url("a"), with: .color(PixelColor(red: 1, green: 2, blue: 3), width: 40, height: 30))
                let picture = try XCTUnwrap(gtk_picture_new())
                let window = try TestWindow(picture)
                let view = try XCTUnwrap(WebImageView(for: picture, manager: stub.manager))
                let before = GTKTexture.madeOnMainThread
                view.load(Sources.url("a"))
                window.show()
                Stand.pump("the image") { view.controller.renderers[.image]?.reached == .transitionFinished }
                XCTAssertEqual(GTKTexture.madeOnMainThread, before)
                window.close()
            }
        }

        func testUndisplayedImageInMemoryGetsItsTextureWhenDrawn() throws {
            try Stand.run {
                let loader = Self.loader(try Sources.png([200, 0, 0]))
                let manager = Sources.manager(loader)
                var image: DecodedImage?
                try Stand.wait { image = try await manager.image(for: Sources.url("a")) }
                let pixels = try XCTUnwrap(image).pixels
                let picture = try XCTUnwrap(gtk_picture_new())
                let window = try TestWindow(picture)
                let view = try XCTUnwrap(WebImageView(for: picture, manager: manager))
                var options = ImageViewOptions()
                options.sizing = .originalSize
                let before = GTKTexture.madeOnMainThread
                view.load(ImageRequest(url: Sources.url("a")), options: options)
                window.show()
                Stand.pump("the image") { view.controller.renderers[.image]?.reached == .transitionFinished }
                XCTAssertTrue(view.controller.renderers[.image]?.current?.image?.pixels === pixels)
                XCTAssertEqual(GTKTexture.madeOnMainThread, before + 1)
                window.close()
            }
        }
    }
#endif
