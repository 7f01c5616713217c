// SPDX-License-Identifier: MIT

#if GTK
    import WebImage
    import WebImageCore
    import WebImageUI

    /// An element that a renderer shows: an image, an animation frame, a color, an icon, or a paintable.
    @MainActor
    final class RenderLayer {
        let kind: ImageBinder.Presentation.Kind
        let generation: Int
        let image: DecodedImage?
        let color: PixelColor?
        private let icon: String?
        private let paintable: PaintablePlaceholder?
        var pixels: PixelBuffer?
        /// The texture that was drawn most recently. It's drawn again while the next frame waits for its upload.
        private var texture: GTKTexture?

        init?(_ presentation: ImageBinder.Presentation) {
            paintable = presentation.custom as? PaintablePlaceholder
            icon = presentation.icon
            guard presentation.image != nil || presentation.color != nil || icon != nil || paintable != nil else {
                return nil
            }
            kind = presentation.kind
            generation = presentation.bindingID
            image = presentation.image
            color = presentation.color
            pixels = image?.pixels
        }

        /// Returns the size in points if a point has `scale` pixels, or `nil` for content other than images. The scale of the
        /// image takes precedence if it's larger than 1.
        func size(scale: Double) -> (width: Double, height: Double)? {
            guard let image, let pixels else { return nil }
            let scale = image.scale > 1 ? image.scale : max(1, scale)
            return (Double(pixels.width) / scale, Double(pixels.height) / scale)
        }

        /// Prepares the texture. Returns `false` if its upload must wait for a later frame.
        func prepare(at now: Int, _ budget: UploadBudget) -> Bool {
            guard let pixels else { return true }
            // Frames of animations are other pixels than those of the image.
            let isPoster = image.map { $0.pixels === pixels } ?? false
            let next = image.flatMap { isPoster ? GTKTexture.texture(for: $0) : nil } ?? GTKTexture.texture(for: pixels)
            guard next !== texture else { return true }
            guard budget.admits(next, at: now) else { return false }
            texture = next
            return true
        }

        var isDrawable: Bool { image == nil || texture != nil }

        func draw(
            _ snapshot: RenderSnapshot, in box: (width: Double, height: Double), fit: ContentFit, radius: Double,
            scale: Double, foreground: @autoclosure () -> PixelColor, isRightToLeft: @autoclosure () -> Bool
        ) {
            let place = LayoutRect(x: 0, y: 0, width: box.width, height: box.height)
            guard let texture, let size = size(scale: scale) else {
                if let color { snapshot.rounded(place, radius) { snapshot.color(color, in: place) } }
                if let paintable {
                    snapshot.rounded(place, radius) { snapshot.paintable(paintable.pointer, in: place) }
                }
                if let icon {
                    snapshot.icon(
                        icon, in: Self.iconBounds(in: box), color: foreground().with(opacity: 0.55), scale: scale,
                        isRightToLeft: isRightToLeft())
                }
                return
            }
            // A placeholder has only about 30 pixels a side but represents an image that fills the bounds, so enlarge
            // it.
            let rect = (kind == .placeholder && fit == .scaleDown ? .contain : fit).rect(of: size, in: box)
            let visible = rect.intersection(place)
            if radius > 0 || visible != rect {
                snapshot.clipped(to: visible, radius: radius) { snapshot.texture(texture, in: rect) }
            } else {
                snapshot.texture(texture, in: rect)
            }
        }
    }

    extension RenderLayer {
        /// Returns the bounds of an icon in the center of a box. The sides are a third of the shorter side of the box, and
        /// from 16 to 64 points if the box is that large.
        private static func iconBounds(in box: (width: Double, height: Double)) -> LayoutRect {
            let shorter = min(box.width, box.height)
            let side = min(shorter, max(16, min(64, shorter / 3))).rounded()
            return LayoutRect(
                x: ((box.width - side) / 2).rounded(), y: ((box.height - side) / 2).rounded(), width: side, height: side
            )
        }
    }

    extension RenderSnapshot {
        /// Clips `body` as ``clipped(to:radius:_:)`` does if the radius is positive. Otherwise, nothing is clipped.
        func rounded(_ rect: LayoutRect, _ radius: Double, _ body: () -> Void) {
            if radius > 0 { clipped(to: rect, radius: radius, body) } else { body() }
        }
    }
#endif
