// SPDX-License-Identifier: MIT

#if GTK
    import AdwaitaForSwift
    import Foundation
    import Gtk
    import ImageFormats
    import SwiftAdwaita
    import SwiftCrossUI
    import WebImage
    import WebImageAdwaitaForSwift
    import WebImageGTK
    import WebImageSwiftAdwaita
    import WebImageSwiftCrossUI
    import WebImageSwiftGtk
    import XCTest

    /// The adapters, with modules that stand in for the frameworks.
    final class AdapterTests: XCTestCase {
        func testTheViewOfSwiftCrossUIShowsTheImage() throws {
            try MainActor.assumeIsolated {
                try Stage.run { origin in
                    let view = AsyncImage(origin.server.url("/photo.png"))
                    XCTAssertNil(Renderer.render(view, .appear))
                    Stage.wait { Renderer.render(view, .update) != nil }
                    let image = try XCTUnwrap(Renderer.render(view, .update))
                    XCTAssertEqual([image.width, image.height], [40, 20])
                    XCTAssertEqual(Array(image.bytes.prefix(4)), [255, 0, 0, 255])
                    XCTAssertEqual(Array(image.bytes.suffix(4)), [0, 0, 255, 255])
                    _ = Renderer.render(view, .disappear)
                    XCTAssertNil(Renderer.render(view, .update))
                }
            }
        }

        func testTheWidgetOfAdwaitaForSwiftLoadsAndUpdates() throws {
            try MainActor.assumeIsolated {
                try Stage.run { origin in
                    let first = WebImageWidget(origin.server.url("/a.png"), alternativeText: "A square")
                    let storage = first.container(data: WidgetData(), type: AdwaitaMainView.self)
                    let picture = try XCTUnwrap(storage.fields["picture"] as? WebPicture)
                    XCTAssertEqual(storage.opaquePointer, OpaquePointer(picture.widget))
                    Stage.show(picture.widget) {
                        Stage.wait { picture.view.displayedImage()?.size.width == 8 }
                        let second = WebImageWidget(origin.server.url("/b.png"))
                        second.update(
                            storage, data: WidgetData(), updateProperties: true, type: AdwaitaMainView.self)
                        Stage.wait { picture.view.displayedImage()?.size.width == 10 }
                        XCTAssertNil(picture.alternativeText)
                    }
                    XCTAssertEqual(origin.count("/a.png"), 1)
                }
            }
        }

        func testWidgetsOfSwiftAdwaitaLoadImages() throws {
            try MainActor.assumeIsolated {
                try Stage.run { origin in
                    let picture = Picture()
                    let view = try XCTUnwrap(picture.load(origin.server.url("/a.png")))
                    Stage.show(picture.widgetPointer) { Stage.wait { view.displayedImage()?.size.width == 8 } }
                }
            }
        }

        func testWidgetsOfSwiftGtkLoadImages() throws {
            try MainActor.assumeIsolated {
                try Stage.run { origin in
                    let image = Gtk.Image()
                    let view = try XCTUnwrap(image.load(origin.server.url("/a.png")))
                    XCTAssertEqual(WebImageView(for: image)?.widget, view.widget)
                    XCTAssertEqual(WebImageView(for: WidgetRef(raw: image.ptr))?.widget, view.widget)
                    Stage.show(view.widget) { Stage.wait { view.displayedImage()?.size.width == 8 } }
                }
            }
        }
    }
#endif
