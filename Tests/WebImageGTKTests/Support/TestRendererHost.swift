// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import XCTest

    @testable import WebImage
    @testable import WebImageCore
    @testable import WebImageGTK

    /// The host of a renderer without a widget, which draws at times that the test sets.
    @MainActor
    final class TestRendererHost: SlotRendererDelegate {
        let renderer: SlotRenderer
        var frameTime = 1_000_000_000
        var foreground = PixelColor.black
        var style = DrawingStyle()
        private(set) var changes = 0
        private(set) var sizeChanges = 0
        private(set) var requestedTicks = 0
        private(set) var goals: [WebImageView.CompletionPoint] = []
        private(set) var bounds: [[Double]] = []
        private static var canvas: TestWindow?
        private static var last: OpaquePointer?

        init() {
            renderer = SlotRenderer(slot: .image, manager: .shared)
            renderer.host = self
            renderer.isVisible = true
        }

        func rendererChanged(_ renderer: SlotRenderer, size: Bool) {
            changes += 1
            if size { sizeChanges += 1 }
        }

        func rendererNeedsTick(_ renderer: SlotRenderer) { requestedTicks += 1 }

        func rendererReached(_ renderer: SlotRenderer) { goals.append(renderer.reached) }

        func renderer(_ renderer: SlotRenderer, hasBounds width: Double, _ height: Double) {
            bounds.append([width, height])
        }

        /// Advances the time, and returns the result of ``SlotRenderer/advance(to:)`` in milliseconds from the new
        /// time.
        @discardableResult
        func pass(_ milliseconds: Int) -> Int? {
            frameTime += milliseconds * 1_000_000
            return renderer.advance(to: frameTime).map { max(0, $0 - frameTime) / 1_000_000 }
        }

        func present(
            _ image: DecodedImage?, _ kind: ImageBinder.Presentation.Kind = .image,
            _ transition: ImageTransition = .none, generation: Int = 1
        ) {
            renderer.present(
                ImageBinder.Presentation(kind, image: image, transition: transition, bindingID: generation))
        }

        /// Returns the current contents of the renderer.
        func drawn(width: Double = 40, height: Double = 30, scale: Double = 1) throws -> Screenshot {
            if Self.canvas == nil {
                let canvas = try TestWindow(try XCTUnwrap(gtk_picture_new()))
                gtk_widget_realize(canvas.widget)
                Self.canvas = canvas
            }
            let window = try XCTUnwrap(Self.canvas?.widget)
            let snapshot = try XCTUnwrap(gtk_snapshot_new())
            gtk_snapshot_scale(snapshot, Float(scale), Float(scale))
            renderer.draw(RenderSnapshot(pointer: snapshot), width: width, height: height)
            var viewport = graphene_rect_t(LayoutRect(x: 0, y: 0, width: width * scale, height: height * scale))
            // A snapshot without contents has no node.
            var clear = GdkRGBA(PixelColor.clear)
            gtk_snapshot_append_color(snapshot, &clear, &viewport)
            let node = try XCTUnwrap(gtk_snapshot_free_to_node(snapshot))
            // GTK's GL renderer caches uploads by the address of a node. Retain the previous node, so that this one has
            // another address.
            defer {
                if let last = Self.last { gsk_render_node_unref(last) }
                Self.last = node
            }
            let gskRenderer = gtk_native_get_renderer(OpaquePointer(window))
            let texture = try XCTUnwrap(gsk_renderer_render_texture(gskRenderer, node, &viewport))
            defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
            return Screenshot(texture)
        }
    }
#endif
