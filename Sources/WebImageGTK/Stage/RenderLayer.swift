// SPDX-License-Identifier: MIT

#if GTK
    import WebImage
    import WebImageCore
    import WebImageUI

    /// An element that a stage shows: an image, an animation frame, or a color.
    @MainActor
    final class RenderLayer {
        let kind: ImageBinder.Presentation.Kind
        let generation: Int
        let image: DecodedImage?
        let color: PixelColor?
        /// The pixels to draw.
        var pixels: PixelBuffer?
        /// The texture that was drawn most recently. It's drawn again while the next frame waits for its upload.
        private var texture: GTKTexture?

        init?(_ presentation: ImageBinder.Presentation) {
            guard presentation.image != nil || presentation.color != nil else { return nil }
            kind = presentation.kind
            generation = presentation.bindingID
            image = presentation.image
            color = presentation.color
            pixels = image?.pixels
        }

        /// Returns the size in points if a point has `scale` pixels, or `nil` for a color. The scale of the image takes
        /// precedence if it's larger than 1.
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

        /// A Boolean value that indicates whether the layer can be drawn.
        var isDrawable: Bool { image == nil || texture != nil }

        func draw(
            _ snapshot: RenderSnapshot, in box: (width: Double, height: Double), fit: ContentFit, radius: Double,
            scale: Double
        ) {
            let place = LayoutRect(x: 0, y: 0, width: box.width, height: box.height)
            guard let texture, let size = size(scale: scale) else {
                if let color { snapshot.rounded(place, radius) { snapshot.color(color, in: place) } }
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

    extension RenderSnapshot {
        /// Clips `body` as ``clipped(to:radius:_:)`` does if the radius is positive. Otherwise, nothing is clipped.
        func rounded(_ rect: LayoutRect, _ radius: Double, _ body: () -> Void) {
            if radius > 0 { clipped(to: rect, radius: radius, body) } else { body() }
        }
    }
#endif
