// SPDX-License-Identifier: MIT

import CPixelKernels

/// Draws another picture on each picture: a watermark, a badge, a frame.
public struct OverlayTransformer: ImageTransformer, Hashable {
    /// Where the other picture lies.
    public enum Placement: Sendable, Hashable {
        /// Its top left corner, in the transformer's unit; may lie outside.
        case at(x: Double, y: Double)
        /// At an edge, a corner or the middle, so far from the edges.
        case anchored(CropTransformer.Anchor, margin: Double = 0)
        /// Over the whole picture, its own size and aspect ratio not kept.
        case stretched
    }

    /// The other picture.
    public let overlay: PixelBuffer
    /// Where it lies.
    public let placement: Placement
    /// 0 (not seen) ... 1.
    public let opacity: Double
    /// How it is drawn.
    public let mode: BlendMode
    /// What lengths mean.
    public let unit: TargetSize.Unit
    private let digest: String

    /// Creates a transformer: opaque, normal, pixels by default. Reads all of the overlay's pixels once to name it.
    public init(
        _ overlay: PixelBuffer, at placement: Placement, opacity: Double = 1, mode: BlendMode = .normal,
        unit: TargetSize.Unit = .pixels
    ) {
        self.overlay = overlay
        self.placement = placement
        self.opacity = opacity
        self.mode = mode
        self.unit = unit
        digest = "\(overlay.size):\(overlay.digest)"
    }

    /// Name and all parameters; the overlay by its content.
    public var identity: String {
        let place =
            switch placement {
            case .at(let x, let y): "at:\(x):\(y)"
            case .anchored(let anchor, let margin): "anchored:\(anchor.rawValue):\(margin)"
            case .stretched: "stretched"
            }
        return "overlay(\(digest),\(place),\(opacity),\(mode.rawValue),\(unit))"
    }

    /// Transformers that do the same are equal.
    public static func == (a: OverlayTransformer, b: OverlayTransformer) -> Bool { a.identity == b.identity }

    /// Hashes what ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }

    /// Draws. Opaque pictures stay opaque, but for ``BlendMode/sourceIn``. What lies outside the picture is not seen.
    ///
    /// - Throws: ``TransformError/invalidParameter(transformer:parameter:value:)`` for places that are NaN or
    ///   infinite and an opacity outside 0...1, a ``LimitError`` for a picture that is too large.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        let opacity = Float(try ParameterCheck(transformer: "overlay").number(opacity, "opacity", in: 0...1))
        let origin = try origin(in: pixels.size, factor: unit == .points ? context.scale : 1)
        var front = try overlay.converted(to: pixels.format, context: context.coding)
        if placement == .stretched {
            front = try Resampler.resample(
                front, window: SampleRect(front.size), to: pixels.size, context: context.coding)
        }
        let place = PixelRect(x: origin.x, y: origin.y, width: front.width, height: front.height)
        let seen = place.clamped(to: pixels.size)
        // Where the front is not, nothing is left of the back either.
        let clears = mode == .sourceIn
        if seen == nil, !clears { return pixels }
        let blend = RowBlend(format: pixels.format, opacity: opacity, mode: mode.kernel, place: mode.place)
        let coverage = [Float](repeating: 1, count: seen?.width ?? 0)
        let bytesPerPixel = pixels.format.bytesPerPixel
        let rowBytes = pixels.width * bytesPerPixel
        return try pixels.mapRows(isOpaque: pixels.isOpaque && !clears, context: context.coding) { row, from, to in
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

    /// Where the overlay's first pixel lies.
    private func origin(in size: PixelSize, factor: Double) throws(ImageError) -> (x: Int, y: Int) {
        let check = ParameterCheck(transformer: "overlay")
        switch placement {
        case .stretched: return (0, 0)
        case .at(let x, let y):
            let left = try check.place(x, "x", times: factor)
            let top = try check.place(y, "y", times: factor)
            return (Int(left.rounded()), Int(top.rounded()))
        case .anchored(let anchor, let margin):
            let margin = Int(try check.length(margin, "margin", times: factor, allowsZero: true).rounded())
            return anchor.origin(of: overlay.size, in: size, margin: margin)
        }
    }
}

extension CropTransformer.Anchor {
    /// The top left corner of something of `inner` size at the anchor, `margin` pixels from the edges it lies at.
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

extension ImageTransformer where Self == OverlayTransformer {
    /// Draws `overlay` on the picture.
    ///
    /// - Parameters:
    ///   - placement: where. Default the middle.
    ///   - opacity: 0...1. Default 1.
    ///   - mode: how. Default normal.
    ///   - unit: what lengths mean. Default pixels.
    public static func overlay(
        _ overlay: PixelBuffer, at placement: OverlayTransformer.Placement = .anchored(.center), opacity: Double = 1,
        mode: BlendMode = .normal, unit: TargetSize.Unit = .pixels
    ) -> Self {
        OverlayTransformer(overlay, at: placement, opacity: opacity, mode: mode, unit: unit)
    }
}
