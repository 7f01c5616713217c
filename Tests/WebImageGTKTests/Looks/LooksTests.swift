// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageManagerTestSupport
    import WebImageTestSupport
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Tests that compare a window in every state of a view with the images of the documentation. `make screenshots`
    /// writes these images again.
    final class LooksTests: XCTestCase {
        static let dusk = Result {
            try Data(
                contentsOf: Fixtures.directory.deletingLastPathComponent().deletingLastPathComponent()
                    .appending(path: "Sources/webimage/Album/dusk.jpg"))
        }

        /// The hash is computed once, because that takes a second without optimization.
        private static let hash = try? BlurHash(
            encoding: ImageCoderRegistry.standard.decode(
                dusk.get(), options: ImageDecodingOptions(), context: ImageProcessingContext()
            ).pixels
        ).string

        /// A view in a window whose image arrives in two halves, each of which waits for a gate.
        @MainActor
        private struct Scene {
            let window: TestWindow
            let view: WebImageView
            let first = TestGate()
            let rest = TestGate()

            init(error: ImageError? = nil) throws {
                let data = try LooksTests.dusk.get()
                let loader = StubLoader()
                loader.respond(
                    to: Sources.url("a"),
                    with: StubLoader.Response(
                        chunks: [data.prefix(data.count / 2), data.dropFirst(data.count / 2)], error: error,
                        responseGate: first, bodyGate: rest))
                let picture = try XCTUnwrap(gtk_picture_new())
                window = try TestWindow(picture)
                view = try XCTUnwrap(WebImageView(for: picture, manager: Sources.manager(loader)))
                view.contentFit = .cover
            }

            @MainActor
            func load(_ transition: ImageTransition = .none, preview: PreviewPolicy = .disabled) {
                var request = ImageRequest(url: Sources.url("a"))
                request.previews = preview
                var options = ImageViewOptions(
                    placeholder: .blurHash(LooksTests.hash ?? "", aspectRatio: 1.5), transition: transition)
                options.failurePlaceholder = .color(PixelColor(red: 150, green: 40, blue: 40))
                view.load(request, options: options)
                window.show()
            }

            func finish() {
                first.open()
                rest.open()
            }
        }

        func testPlaceholder() throws {
            try Stand.run {
                let scene = try Scene()
                scene.load()
                scene.window.frame()
                try assertLooks(try scene.window.screenshot(), as: "placeholder")
                scene.window.close()
            }
        }

        func testProgress() throws {
            try Stand.run {
                WidgetController.manualTime = 1_000_000_000
                let scene = try Scene()
                scene.view.indicator = .ring
                scene.load()
                scene.first.open()
                Stand.pump("half of the progress") { scene.view.snapshot().progress?.fraction ?? 0 > 0.4 }
                scene.window.frame()
                WidgetController.manualTime = 2_000_000_000
                scene.view.controller.requestTick()
                scene.window.frame()
                try assertLooks(try scene.window.screenshot(), as: "progress")
                scene.finish()
                scene.window.close()
            }
        }

        func testPreview() throws {
            try Stand.run {
                let scene = try Scene()
                scene.load(preview: .progressive(interval: .zero))
                scene.first.open()
                Stand.pump("the upper rows") { scene.view.snapshot().content == .preview }
                scene.window.frame()
                try assertLooks(try scene.window.screenshot(), as: "preview")
                scene.finish()
                scene.window.close()
            }
        }

        func testLoadedImage() throws {
            try Stand.run {
                let scene = try Scene()
                scene.load()
                scene.finish()
                Stand.pump("the image") { scene.view.snapshot().state == .showing }
                scene.window.frame()
                try assertLooks(try scene.window.screenshot(), as: "picture")
                scene.window.close()
            }
        }

        func testFailure() throws {
            try Stand.run {
                let scene = try Scene(
                    error: .network(
                        ImageError.NetworkFailure(.offline, url: URL(filePath: "/u"), phase: .receivingBody)))
                scene.load()
                scene.finish()
                Stand.pump("the failure") { scene.view.snapshot().content == .failurePlaceholder }
                scene.window.frame()
                try assertLooks(try scene.window.screenshot(), as: "failure")
                scene.window.close()
            }
        }

        func testCrossFadeAtHalfTime() throws {
            try Stand.run {
                WidgetController.manualTime = 1_000_000_000
                let scene = try Scene()
                scene.load(ImageTransition(.crossFade, duration: .seconds(1), curve: .linear))
                scene.window.frame()
                scene.finish()
                Stand.pump("the image") { scene.view.snapshot().state == .showing }
                scene.window.frame()
                WidgetController.manualTime = 1_500_000_000
                scene.window.frame()
                try assertLooks(try scene.window.screenshot(), as: "cross-fade")
                WidgetController.manualTime = 2_000_000_000
                scene.window.frame()
                XCTAssertNil(scene.view.controller.renderers[.image]?.transition)
                XCTAssertEqual(scene.view.controller.frames.tick, 0)
                scene.window.close()
            }
        }

        func testDarkDesktop() throws {
            try Stand.run {
                try Desktop.set("gtk-application-prefer-dark-theme", true)
                defer { try? Desktop.set("gtk-application-prefer-dark-theme", false) }
                WidgetController.manualTime = 1_000_000_000
                let scene = try Scene()
                scene.view.indicator = .ring
                scene.view.load(Sources.url("a"))
                scene.window.show()
                scene.first.open()
                Stand.pump("half of the progress") { scene.view.snapshot().progress?.fraction ?? 0 > 0.4 }
                scene.window.frame()
                WidgetController.manualTime = 2_000_000_000
                scene.view.controller.requestTick()
                scene.window.frame()
                let drawn = try scene.window.screenshot()
                XCTAssertLessThan(drawn.color(2, 2).max() ?? 255, 100, "the window is dark")
                try assertLooks(drawn, as: "dark")
                scene.finish()
                scene.window.close()
            }
        }

        func testTwoPixelsPerPointShowEveryPixel() throws {
            try Stand.run {
                let host = TestRendererHost()
                host.renderer.scaleFactor = 2
                host.renderer.cornerRadius = 12
                host.present(DecodedImage(pixels: try TestImages.pixels(5, width: 160, height: 120)))
                let drawn = try host.drawn(width: 80, height: 60, scale: 2)
                XCTAssertEqual(drawn.width, 160)
                try assertLooks(drawn, as: "scale-2")
            }
        }
    }
#endif
