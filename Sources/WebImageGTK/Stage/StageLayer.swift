// SPDX-License-Identifier: MIT

#if GTK
    import WebImage
    import WebImageCore

    /// One thing that a stage shows: a picture, a frame of one, or a colour.
    @MainActor
    final class StageLayer {
        let kind: Presentation.Kind
        let generation: Int
        let image: Image?
        let color: PixelColor?
        /// What is to be drawn.
        var pixels: PixelBuffer?
        /// What was drawn last; it is drawn again where the next frame has to wait for its upload.
        private var texture: GTKTexture?

        init?(_ presentation: Presentation) {
            guard presentation.image != nil || presentation.color != nil else { return nil }
            kind = presentation.kind
            generation = presentation.generation
            image = presentation.image
            color = presentation.color
            pixels = image?.pixels
        }

        /// Width and height in points where one point has `scale` pixels; nil for a colour.
        func size(scale: Double) -> (width: Double, height: Double)? {
            guard let image, let pixels else { return nil }
            let scale = image.scale > 1 ? image.scale : max(1, scale)
            return (Double(pixels.width) / scale, Double(pixels.height) / scale)
        }

        /// Makes ready what is to be drawn; false where it has to wait for a later frame.
        func prepare(at now: Int, _ budget: UploadBudget) -> Bool {
            guard let pixels else { return true }
            let next = GTKTexture.of(pixels)
            guard next !== texture else { return true }
            guard budget.admits(next, at: now) else { return false }
            texture = next
            return true
        }

        /// Whether there is something to draw.
        var isDrawable: Bool { image == nil || texture != nil }

        func draw(
            _ snapshot: Snapshot, in box: (width: Double, height: Double), fit: ContentFit, radius: Double,
            scale: Double
        ) {
            let place = StageRect(x: 0, y: 0, width: box.width, height: box.height)
            guard let texture, let size = size(scale: scale) else {
                if let color { snapshot.rounded(place, radius) { snapshot.color(color, in: place) } }
                return
            }
            // A placeholder is drawn some thirty pixels large, and stands for what fills the place.
            let rect = (kind == .placeholder && fit == .scaleDown ? .contain : fit).rect(of: size, in: box)
            let visible = rect.intersection(place)
            if radius > 0 || visible != rect {
                snapshot.clipped(to: visible, radius: radius) { snapshot.texture(texture, in: rect) }
            } else {
                snapshot.texture(texture, in: rect)
            }
        }
    }

    extension Snapshot {
        /// As ``clipped(to:radius:_:)``; without a radius nothing is clipped.
        func rounded(_ rect: StageRect, _ radius: Double, _ body: () -> Void) {
            if radius > 0 { clipped(to: rect, radius: radius, body) } else { body() }
        }
    }
#endif
