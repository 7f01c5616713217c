// SPDX-License-Identifier: MIT

import CPixelKernels

/// A transformer that draws another image on an image, for example a watermark, a badge, or a frame.
package struct OverlayTransformer: ImageTransformer, Hashable {
    /// The position of the overlay.
    package enum Placement: Sendable, Hashable {
        /// The position of its top-left corner in the unit of the transformer, which may be outside the image.
        case at(x: Double, y: Double)
        /// At an edge, at a corner, or in the center, with a margin to the edges.
        case anchored(StandardTransformer.Anchor, margin: Double = 0)
        /// Stretched to a rectangle in pixels, which may be partly outside the image.
        case rect(PixelRect)
        /// Stretched over the whole image, without preserving the size and the aspect ratio of the overlay.
        case stretched
    }

    /// The image to draw.
    package let overlay: PixelBuffer
    /// The position of the overlay.
    package let placement: Placement
    /// The opacity, from 0 (invisible) to 1.
    package let opacity: Double
    /// The blend mode.
    package let mode: ImageBlendMode
    /// The unit of the lengths.
    package let unit: TargetSize.Unit
    private let digest: String

    /// Creates a transformer. By default, the overlay is opaque, the mode is normal, and lengths are in pixels. This
    /// initializer reads all pixels of the overlay to compute its identity.
    package init(
        _ overlay: PixelBuffer, at placement: Placement, opacity: Double = 1, mode: ImageBlendMode = .normal,
        unit: TargetSize.Unit = .pixels
    ) {
        self.overlay = overlay
        self.placement = placement
        self.opacity = opacity
        self.mode = mode
        self.unit = unit
        digest = "\(overlay.size):\(overlay.digest)"
    }

    /// The name and all parameters of the transformer. A digest of the pixels identifies the overlay.
    package var identifier: String {
        let place =
            switch placement {
            case .at(let x, let y): "at:\(x):\(y)"
            case .anchored(let anchor, let margin): "anchored:\(anchor.rawValue):\(margin)"
            case .rect(let rect): "rect:\(rect.x):\(rect.y):\(rect.width):\(rect.height)"
            case .stretched: "stretched:\(ResamplingFilter.lanczos3.identity)"
            }
        return "overlay(\(digest),\(place),\(opacity),\(mode.rawValue),\(unit))"
    }

    /// Returns whether two transformers have the same effect.
    package static func == (a: OverlayTransformer, b: OverlayTransformer) -> Bool { a.identifier == b.identifier }

    /// Hashes the components that ``==(_:_:)`` compares.
    package func hash(into hasher: inout Hasher) { hasher.combine(identifier) }

    /// Draws the overlay. Opaque images remain opaque except with ``ImageBlendMode/sourceIn``. Parts of the overlay
    /// outside the image are cropped.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if a position is NaN
    ///   or infinite or the opacity isn't within 0...1, or an ``ImageError/LimitFailure`` if the image is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let opacity = Float(try ParameterValidator(transformer: "overlay").number(opacity, "opacity", in: 0...1))
        let origin = try origin(in: pixels.size, factor: unit == .points ? context.scale : 1)
        var front = try overlay.converted(to: pixels.format, context: context)
        if let size = try stretchedSize(in: pixels.size) {
            try context.limits.check(result: size, format: front.format)
            front = try Resampler.resample(front, window: SampleRect(front.size), to: size, context: context)
        }
        let place = PixelRect(x: origin.x, y: origin.y, width: front.width, height: front.height)
        let seen = place.clamped(to: pixels.size)
        // Outside the overlay, this mode also clears the backdrop.
        let clears = mode == .sourceIn
        if seen == nil, !clears { return pixels }
        let blend = RowBlender(
            format: pixels.format, opacity: opacity, mode: mode.kernel, compositingOperator: mode.compositingOperator)
        let coverage = [Float](repeating: 1, count: seen?.width ?? 0)
        let bytesPerPixel = pixels.format.bytesPerPixel
        let rowBytes = pixels.width * bytesPerPixel
        return try pixels.mapRows(isOpaque: pixels.isOpaque && !clears, context: context) { row, from, to in
            if clears {
                to.initializeMemory(as: UInt8.self, repeating: 0, count: rowBytes)
            } else {
                to.copyMemory(from: from, byteCount: rowBytes)
            }
            guard let seen, row >= seen.y, row < seen.y + seen.height else { return }
            let offset = seen.x * bytesPerPixel
            front.withRow(row - place.y) { over in
                blend.draw(
                    over + (seen.x - place.x) * bytesPerPixel, on: from + offset, to: to + offset,
                    coverage: coverage, count: seen.width)
            }
        }
    }

    /// Returns the size to which the overlay is stretched, or `nil` if it keeps its size.
    private func stretchedSize(in size: PixelSize) throws(ImageError) -> PixelSize? {
        switch placement {
        case .at, .anchored: return nil
        case .stretched: return size
        case .rect(let rect):
            guard !rect.size.isEmpty else {
                throw ParameterValidator(transformer: "overlay").invalid("rect", "\(rect.size)")
            }
            return rect.size
        }
    }

    private func origin(in size: PixelSize, factor: Double) throws(ImageError) -> (x: Int, y: Int) {
        let check = ParameterValidator(transformer: "overlay")
        switch placement {
        case .stretched: return (0, 0)
        case .rect(let rect): return (rect.x, rect.y)
        case .at(let x, let y):
            let left = try check.position(x, "x", times: factor)
            let top = try check.position(y, "y", times: factor)
            return (Int(left.rounded()), Int(top.rounded()))
        case .anchored(let anchor, let margin):
            let margin = Int(try check.length(margin, "margin", times: factor, allowsZero: true).rounded())
            return anchor.origin(of: overlay.size, in: size, margin: margin)
        }
    }
}

extension StandardTransformer.Anchor {
    /// Returns the top-left corner of a rectangle of the size `inner` at the anchor. The margin in pixels applies to
    /// the edges that the rectangle adjoins.
    fileprivate func origin(of inner: PixelSize, in outer: PixelSize, margin: Int) -> (x: Int, y: Int) {
        let right = outer.width - inner.width
        let down = outer.height - inner.height
        let x =
            switch self {
            case .topLeading, .leading, .bottomLeading: margin
            case .top, .center, .bottom: right / 2
            case .topTrailing, .trailing, .bottomTrailing: right - margin
            }
        let y =
            switch self {
            case .topLeading, .top, .topTrailing: margin
            case .leading, .center, .trailing: down / 2
            case .bottomLeading, .bottom, .bottomTrailing: down - margin
            }
        return (x, y)
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that draws another image at an anchor. This function reads all pixels of the other image.
    ///
    /// - Parameters:
    ///   - image: The image to draw.
    ///   - anchor: The position of the image. The default is the center.
    ///   - margin: The distance to the edges. The default is 0.
    ///   - opacity: The opacity, from 0 to 1. The default is 1.
    ///   - blendMode: The blend mode. The default is normal.
    ///   - unit: The unit of the margin. The default is pixels.
    public static func overlay(
        _ image: PixelBuffer, at anchor: StandardTransformer.Anchor = .center, margin: Double = 0, opacity: Double = 1,
        blendMode: ImageBlendMode = .normal, unit: TargetSize.Unit = .pixels
    ) -> StandardTransformer {
        StandardTransformer(
            OverlayTransformer(
                image, at: .anchored(anchor, margin: margin), opacity: opacity, mode: blendMode, unit: unit))
    }

    /// Returns a transformer that draws another image in a rectangle. This function reads all pixels of the other
    /// image.
    ///
    /// - Parameters:
    ///   - image: The image to draw.
    ///   - rect: The rectangle in pixels, which may be partly outside the transformed image. `nil` stretches the image
    ///     over the whole transformed image.
    ///   - opacity: The opacity, from 0 to 1. The default is 1.
    ///   - blendMode: The blend mode. The default is normal.
    public static func overlay(
        _ image: PixelBuffer, in rect: PixelRect?, opacity: Double = 1, blendMode: ImageBlendMode = .normal
    ) -> StandardTransformer {
        StandardTransformer(
            OverlayTransformer(
                image, at: rect.map { .rect($0) } ?? .stretched, opacity: opacity, mode: blendMode))
    }
}
