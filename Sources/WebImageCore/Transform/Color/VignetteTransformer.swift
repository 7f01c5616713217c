// SPDX-License-Identifier: MIT

import CPixelKernels
import Glibc

/// Lets a picture fade to a colour towards its corners.
public struct VignetteTransformer: ImageTransformer, Hashable {
    /// How much of the colour the corners get, 0...1.
    public let strength: Double
    /// Where fading begins: 0 in the middle, just below 1 at the corners.
    public let start: Double
    /// The colour.
    public let color: PixelColor

    /// Creates a transformer.
    public init(strength: Double = 0.6, start: Double = 0.4, color: PixelColor = .black) {
        self.strength = strength
        self.start = start
        self.color = color
    }

    /// Name and all parameters.
    public var identity: String { "vignette(\(strength),\(start),\(color.hexadecimal))" }

    /// Fades, within the picture's shape. Opaque pictures stay opaque.
    ///
    /// - Throws: ``TransformError/invalidParameter(transformer:parameter:value:)`` for a strength outside 0...1 or a
    ///   start outside 0...0.999, a ``LimitError`` for a picture that is too large.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        let check = ParameterCheck(transformer: "vignette")
        let strength = Float(try check.number(strength, "strength", in: 0...1))
        let start = try check.number(start, "start", in: 0...0.999)
        if strength == 0 || color.alpha == 0 { return pixels }
        let front = color.row(count: pixels.width, format: pixels.format)
        let blend = RowBlend(format: pixels.format, opacity: 1, mode: wi_blend_normal, place: wi_blend_atop)
        var coverage = [Float](repeating: 0, count: pixels.width)
        let half = hypot(Double(pixels.width), Double(pixels.height)) / 2
        let left = (0.5 - Double(pixels.width) / 2) / half
        return try pixels.mapRows(isOpaque: pixels.isOpaque, context: context.coding) { row, from, to in
            let y = (Double(row) + 0.5 - Double(pixels.height) / 2) / half
            wi_vignette(
                &coverage, Float(left), Float(1 / half), Float(y), Float(start), Float(1 / (1 - start)), strength,
                pixels.width)
            front.withUnsafeBytes { front in
                guard let front = front.baseAddress else { return }
                blend.draw(front, on: from, to: to, coverage: coverage, count: pixels.width)
            }
        }
    }
}

extension ImageTransformer where Self == VignetteTransformer {
    /// Lets the picture fade to `color` towards its corners.
    ///
    /// - Parameters:
    ///   - strength: how much of the colour the corners get, 0...1. Default 0.6.
    ///   - start: where fading begins, 0 in the middle. Default 0.4.
    ///   - color: default black.
    public static func vignette(strength: Double = 0.6, start: Double = 0.4, color: PixelColor = .black) -> Self {
        VignetteTransformer(strength: strength, start: start, color: color)
    }
}
