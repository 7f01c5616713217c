// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// The widget class of another GTK binding.
    @MainActor
    final class Widget {
        let widgetPointer: UnsafeMutablePointer<GtkWidget>

        init(_ widgetPointer: UnsafeMutablePointer<GtkWidget>) { self.widgetPointer = widgetPointer }
    }

    extension Widget: GTKWidgetRepresentable {
        /// The GtkWidget.
        public var gtkWidgetPointer: UnsafeMutableRawPointer { UnsafeMutableRawPointer(widgetPointer) }
    }

    /// Tests of the code examples in the article “GTK”.
    final class GTKArticleTests: XCTestCase {
        /// A window with the widget of a code example, and a manager that returns an image for every name.
        @MainActor
        private struct Scene {
            let widget: UnsafeMutablePointer<GtkWidget>
            let window: TestWindow
            let view: WebImageView
            let url = Sources.url("1")

            init(_ make: () -> UnsafeMutablePointer<GtkWidget>?) throws {
                widget = try XCTUnwrap(make())
                window = try TestWindow(widget)
                view = try XCTUnwrap(
                    WebImageView(for: widget, manager: Sources.manager(Sources.numbered(width: 160, height: 120))))
                window.show()
            }

            func waitForImage(_ slot: ImageSlot = .image) {
                Stand.pump("the image") { view.snapshot(of: slot).state == .showing }
            }
        }

        func testAnyWidget() throws {
            try Stand.run {
                let (first, second, third) = (
                    try Scene(gtk_picture_new), try Scene(gtk_image_new), try Scene(gtk_button_new)
                )
                let (picture, image, url) = (first.widget, second.widget, first.url)
                let button = UnsafeMutableRawPointer(third.widget).assumingMemoryBound(to: GtkButton.self)
                // libadwaita isn't available, so this function replaces its avatar.
                let inner: UnsafeMutablePointer<GtkWidget> = gtk_picture_new()
                let (avatar, avatarPointer) = (inner, OpaquePointer(inner))
                func adw_avatar_set_custom_image(_ avatar: OpaquePointer, _ paintable: OpaquePointer) {
                    gtk_picture_set_paintable(avatar, paintable)
                }
                let fourth = try TestWindow(avatar)

                WebImageView(for: picture)?.load(url)  // GtkPicture
                WebImageView(for: image)?.load(url)  // GtkImage: in its icon's place
                WebImageView(for: button)?.load(url)  // GtkButton, GtkMenuButton: next to their content
                // Any widget that accepts a GdkPaintable, such as an avatar of libadwaita:
                WebImageView(for: avatar) { adw_avatar_set_custom_image(avatarPointer, $0) }.load(url)

                for scene in [first, second, third] { scene.waitForImage() }
                XCTAssertNotNil(gtk_picture_get_paintable(avatarPointer))
                for window in [first.window, second.window, third.window, fourth] { window.close() }
            }
        }

        func testWidgetsOfOtherBindings() throws {
            try Stand.run {
                let scene = try Scene(gtk_picture_new)
                let (someWidget, url) = (Widget(scene.widget), scene.url)

                WebImageView(for: someWidget)?.load(url)

                scene.waitForImage()
                scene.window.close()
            }
        }

        func testLoading() throws {
            try Stand.run {
                let scene = try Scene(gtk_picture_new)
                let (view, url) = (scene.view, scene.url)

                view.load(url, placeholder: .blurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj"), transition: .crossFade()) {
                    result in
                    if case .failure(let error) = result { print(error) }
                }
                view.onChange { snapshot in print(snapshot.state) }  // state, progress, what is shown
                view.retry()
                view.clear()

                XCTAssertEqual(view.snapshot().state, .idle)
                let (request, next, last) = (
                    ImageRequest(url: Sources.url("2")), ImageRequest(url: Sources.url("3")),
                    ImageRequest(url: Sources.url("4"))
                )
                let fading = ImageViewOptions(placeholder: .empty, transition: .crossFade(duration: .milliseconds(50)))
                try Stand.wait {
                    let response = try await view.loadAndWait(request)
                    try await view.loadAndWait(next, options: fading, until: .transitionFinished)
                    view.load(last, options: fading, until: .transitionFinished) { _ in
                        print("\(response.url) and two more")
                    }
                }
                scene.waitForImage()
                scene.window.close()
            }
        }

        func testButtons() throws {
            try Stand.run {
                let scene = try Scene { gtk_button_new_with_label("Send") }
                let view = scene.view
                let (icon, iconHover, banner) = (Sources.url("1"), Sources.url("2"), Sources.url("3"))

                view.load(icon)  // Next to the label, if there is one
                view.load(iconHover, slot: .image(.hover))  // Also .active and .disabled. Others use the normal image
                view.load(banner, slot: .background)  // behind everything, beyond the padding

                for slot in [ImageSlot.image, .image(.hover), .background] { scene.waitForImage(slot) }
                scene.window.close()
            }
        }

        func testSlotsWithCustomNames() throws {
            try Stand.run {
                let row: UnsafeMutablePointer<GtkWidget> = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0)
                let cover: UnsafeMutablePointer<GtkWidget> = gtk_picture_new()
                let badge: UnsafeMutablePointer<GtkWidget> = gtk_picture_new()
                for picture in [cover, badge] {
                    gtk_widget_set_size_request(picture, 40, 30)
                    gtk_box_append(gtkCast(row), picture)
                }
                let manager = Sources.manager(Sources.numbered(width: 160, height: 120))
                let window = try TestWindow(row)
                window.show()

                let view = WebImageView(for: row, manager: manager) {
                    gtk_picture_set_paintable(OpaquePointer(cover), $0)
                }
                gtk_picture_set_paintable(OpaquePointer(badge), view.paintable(for: "badge"))
                view.load(Sources.url("1"))
                view.load(Sources.url("2"), slot: "badge")

                for slot: ImageSlot in [.image, "badge"] {
                    Stand.pump("the image in \(slot)") { view.snapshot(of: slot).state == .showing }
                }
                XCTAssertEqual(gtk_picture_get_paintable(OpaquePointer(badge)), view.paintable(for: "badge"))
                XCTAssertNotEqual(view.paintable(), view.paintable(for: "badge"))

                view.clear("badge")
                XCTAssertEqual(view.snapshot(of: "badge").state, .idle)
                XCTAssertEqual(view.snapshot().state, .showing)
                window.close()
            }
        }

        @MainActor
        private final class Row: ImageListCell {
            init() {
                let picture: UnsafeMutablePointer<GtkWidget> = gtk_picture_new()
                super.init(root: picture, view: WebImageView(for: picture) { _ in })
            }
        }

        func testLists() throws {
            try Stand.run {
                let scene = try Scene(gtk_picture_new)
                let (cell, position) = (scene.widget, 7)
                let grey = PixelColor(red: 128, green: 128, blue: 128)
                func url(at position: Int) -> URL { Sources.url("\(position)") }
                let gridView = OpaquePointer(try XCTUnwrap(gtk_grid_view_new(nil, nil)))
                let window = try TestWindow(UnsafeMutableRawPointer(gridView).assumingMemoryBound(to: GtkWidget.self))

                // "bind" of a GtkSignalListItemFactory
                WebImageView(for: cell)?.load(url(at: position), placeholder: .color(grey))
                // "unbind"
                WebImageView(for: cell)?.clear()

                XCTAssertEqual(scene.view.snapshot().state, .idle)

                let factory = ImageListFactory(
                    makeCell: { Row() },  // an ImageListCell: a widget with a view in it
                    content: { position in
                        ImageListContent(
                            ImageRequest(url: url(at: position), size: .fill(width: 96, height: 96)),
                            options: ImageViewOptions(placeholder: .color(grey)))
                    })
                factory.install(on: gridView)  // a GtkGridView or a GtkListView

                XCTAssertNotNil(gtk_grid_view_get_factory(gridView))
                scene.window.close()
                window.close()
            }
        }

        func testTransitionsAndIndicators() throws {
            try Stand.run {
                let scene = try Scene(gtk_picture_new)
                let (view, url) = (scene.view, scene.url)
                var parts: [Double] = []
                func drawHourglass(_ snapshot: OpaquePointer, _ width: Double, _ height: Double, _ part: Double) {
                    parts.append(part)
                }

                view.indicator = .ring  // appears after 0.1 s of loading
                view.indicator = .bar.delayed(by: .milliseconds(500))
                view.indicator = .custom { frame in
                    drawHourglass(frame.snapshot, frame.width, frame.height, frame.fraction ?? 0)
                }

                ImageTransition.register("blinds") { frame in
                    frame.drawOld()
                    var part = graphene_rect_t(
                        origin: .init(x: 0, y: 0),
                        size: .init(width: Float(frame.width * frame.progress), height: Float(frame.height)))
                    gtk_snapshot_push_clip(frame.snapshot, &part)
                    frame.drawNew()
                    gtk_snapshot_pop(frame.snapshot)
                }
                view.load(url, transition: .custom("blinds", duration: .milliseconds(300)))

                scene.waitForImage()
                Stand.pump("the end of the transition") {
                    view.controller.renderers[.image]?.reached == .transitionFinished
                }
                scene.window.close()
            }
        }
    }
#endif
