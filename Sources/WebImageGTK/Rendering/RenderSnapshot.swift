// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK
    import WebImageCore

    /// A wrapper for GtkSnapshot with Swift types.
    @MainActor
    struct RenderSnapshot {
        let pointer: OpaquePointer

        func texture(_ texture: GTKTexture, in rect: LayoutRect) {
            withUnsafePointer(to: graphene_rect_t(rect)) { gtk_snapshot_append_texture(pointer, texture.pointer, $0) }
        }

        func color(_ color: PixelColor, in rect: LayoutRect) {
            var rgba = GdkRGBA(color)
            withUnsafePointer(to: graphene_rect_t(rect)) { gtk_snapshot_append_color(pointer, &rgba, $0) }
        }

        func paintable(_ paintable: OpaquePointer, in rect: LayoutRect) {
            moved(x: rect.x, y: rect.y) { gdk_paintable_snapshot(paintable, pointer, rect.width, rect.height) }
        }

        /// Draws an icon of the icon theme, in a color if it's symbolic. An icon that the theme doesn't contain is replaced
        /// with the icon for missing images.
        func icon(_ name: String, in rect: LayoutRect, color: PixelColor, scale: Double, isRightToLeft: Bool) {
            guard rect.width >= 1 else { return }
            let rgba = GdkRGBA(color)
            moved(x: rect.x, y: rect.y) {
                let components = [rgba.red, rgba.green, rgba.blue, rgba.alpha]
                wi_gtk_snapshot_icon(
                    UnsafeMutableRawPointer(pointer), name, rect.width, Int32(max(1, scale.rounded(.up))),
                    isRightToLeft, components)
            }
        }

        /// Draws `body` clipped to a rectangle whose corners have a radius of `radius` points.
        func clipped(to rect: LayoutRect, radius: Double = 0, _ body: () -> Void) {
            var bounds = graphene_rect_t(rect)
            if radius > 0 {
                var rounded = GskRoundedRect()
                gsk_rounded_rect_init_from_rect(&rounded, &bounds, Float(min(radius, rect.width / 2, rect.height / 2)))
                gtk_snapshot_push_rounded_clip(pointer, &rounded)
            } else {
                gtk_snapshot_push_clip(pointer, &bounds)
            }
            body()
            gtk_snapshot_pop(pointer)
        }

        func faded(to opacity: Double, _ body: () -> Void) {
            if opacity >= 1 { return body() }
            gtk_snapshot_push_opacity(pointer, max(0, opacity))
            body()
            gtk_snapshot_pop(pointer)
        }

        func crossFade(_ progress: Double, from: () -> Void, to: () -> Void) {
            gtk_snapshot_push_cross_fade(pointer, progress)
            from()
            gtk_snapshot_pop(pointer)
            to()
            gtk_snapshot_pop(pointer)
        }

        func moved(x: Double, y: Double, _ body: () -> Void) {
            gtk_snapshot_save(pointer)
            var point = graphene_point_t(x: Float(x), y: Float(y))
            gtk_snapshot_translate(pointer, &point)
            body()
            gtk_snapshot_restore(pointer)
        }

        /// Scales `body` around the center of a box. Draws nothing if either scale is close to 0.
        func scaled(x: Double, y: Double, in box: (width: Double, height: Double), _ body: () -> Void) {
            guard x > 0.001, y > 0.001 else { return }
            gtk_snapshot_save(pointer)
            var point = graphene_point_t(x: Float(box.width / 2 * (1 - x)), y: Float(box.height / 2 * (1 - y)))
            gtk_snapshot_translate(pointer, &point)
            gtk_snapshot_scale(pointer, Float(x), Float(y))
            body()
            gtk_snapshot_restore(pointer)
        }

        func cairo(in rect: LayoutRect, _ body: (OpaquePointer) -> Void) {
            let context = withUnsafePointer(to: graphene_rect_t(rect)) { gtk_snapshot_append_cairo(pointer, $0) }
            guard let context else { return }
            body(context)
            cairo_destroy(context)
        }
    }

    extension graphene_rect_t {
        init(_ rect: LayoutRect) {
            self.init(
                origin: graphene_point_t(x: Float(rect.x), y: Float(rect.y)),
                size: graphene_size_t(width: Float(rect.width), height: Float(rect.height)))
        }
    }

    extension GdkRGBA {
        init(_ color: PixelColor) {
            self.init(
                red: Float(color.red) / 255, green: Float(color.green) / 255, blue: Float(color.blue) / 255,
                alpha: Float(color.alpha) / 255)
        }
    }
#endif
