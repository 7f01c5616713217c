// SPDX-License-Identifier: MIT

import CPixelKernels
import Glibc

/// Turns a picture clockwise. Multiples of 90° move pixels and change none; other angles interpolate (Catmull-Rom) and
/// smooth the edges.
public struct RotateTransformer: ImageTransformer, Hashable {
    /// What becomes of the size.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// The result is as large as the turned picture needs.
        case fit
        /// The size stays; corners that stick out are lost.
        case clip
    }

    /// The angle in degrees, clockwise.
    public let degrees: Double
    /// What becomes of the size.
    public let mode: Mode
    /// What is seen where the picture is not.
    public let background: PixelColor

    /// Creates a transformer: growing to fit, on nothing by default.
    public init(degrees: Double, mode: Mode = .fit, background: PixelColor = .clear) {
        self.degrees = degrees
        self.mode = mode
        self.background = background
    }

    /// Name and all parameters.
    public var identity: String { "rotate(\(degrees),\(mode.rawValue),\(background.hexadecimal))" }

    /// Turns. The result is opaque where the picture was and the background is, or the angle is a multiple of 90°
    /// and the mode ``Mode/fit``.
    ///
    /// - Throws: ``TransformError/invalidParameter(transformer:parameter:value:)`` for an angle that is NaN or
    ///   infinite, a ``LimitError`` for a result that is too large.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        guard degrees.isFinite else {
            throw ParameterCheck(transformer: "rotate").invalid("degrees", "\(degrees)")
        }
        let rest = degrees.truncatingRemainder(dividingBy: 360)
        let angle = rest < 0 ? rest + 360 : rest
        guard angle.truncatingRemainder(dividingBy: 90) != 0 else {
            return try turned(pixels, quarters: Int(angle / 90) % 4, context: context.coding)
        }
        return try RotationPass(pixels, angle: angle * .pi / 180, mode: mode, background: background)
            .run(context: context.coding)
    }

    private func turned(_ pixels: PixelBuffer, quarters: Int, context: CodingContext) throws(ImageError) -> PixelBuffer
    {
        let orientations: [Orientation] = [.up, .right, .down, .left]
        let result = try PixelOrienting.upright(pixels, orientations[quarters], context: context)
        guard mode == .clip, result.size != pixels.size else { return result }
        let frame = PixelRect(
            x: (result.width - pixels.width) / 2, y: (result.height - pixels.height) / 2, width: pixels.width,
            height: pixels.height)
        return try PixelFraming.framed(result, by: frame, color: background, name: "rotate", context: context)
    }
}

/// One turn by an angle that is no multiple of 90°.
private struct RotationPass {
    private let pixels: PixelBuffer
    private let cosine: Double
    private let sine: Double
    private let size: PixelSize
    private let background: PixelColor

    init(_ pixels: PixelBuffer, angle: Double, mode: RotateTransformer.Mode, background: PixelColor) {
        self.pixels = pixels
        self.background = background
        (cosine, sine) = (cos(angle), sin(angle))
        let (width, height) = (Double(pixels.width), Double(pixels.height))
        let (across, down) = (abs(cosine), abs(sine))
        // A millionth of a pixel too much is rounding, not picture.
        size =
            mode == .clip
            ? pixels.size
            : PixelSize(
                width: max(1, Int((width * across + height * down - 1e-6).rounded(.up))),
                height: max(1, Int((width * down + height * across - 1e-6).rounded(.up))))
    }

    func run(context: CodingContext) throws(ImageError) -> PixelBuffer {
        try context.limits.check(result: size, format: pixels.format)
        try context.checkpoint()
        let canvas = try PixelCanvas(size: size, format: pixels.format, zeroed: false)
        let color = background.premultiplied(maximum: pixels.format.maximum)
        var checkpoints = Checkpoints(context)
        for row in 0..<size.height {
            try checkpoints.count(pixels: size.width * 8)
            let x = 0.5 - Double(size.width) / 2
            let y = Double(row) + 0.5 - Double(size.height) / 2
            let start = (
                x: Double(pixels.width) / 2 + x * cosine + y * sine,
                y: Double(pixels.height) / 2 - x * sine + y * cosine
            )
            let to = canvas.baseAddress + row * canvas.bytesPerRow
            pixels.withRow(0) { from in
                switch pixels.format {
                case .rgba8:
                    wi_rotate_row_rgba8(
                        from.samples8, pixels.bytesPerRow, pixels.width, pixels.height, start.x, start.y, cosine, -sine,
                        color, to.samples8, size.width)
                case .rgba16:
                    wi_rotate_row_rgba16(
                        from.samples16, pixels.bytesPerRow, pixels.width, pixels.height, start.x, start.y, cosine,
                        -sine, color, to.samples16, size.width)
                }
            }
        }
        canvas.clearPadding()
        return canvas.finish(isOpaque: pixels.isOpaque && background.alpha == 255)
    }
}

extension ImageTransformer where Self == RotateTransformer {
    /// Turns clockwise.
    ///
    /// - Parameters:
    ///   - degrees: the angle.
    ///   - mode: whether the result grows to fit (the default) or keeps its size.
    ///   - background: what is seen where the picture is not. Default nothing.
    public static func rotate(
        degrees: Double, mode: RotateTransformer.Mode = .fit, background: PixelColor = .clear
    ) -> Self {
        RotateTransformer(degrees: degrees, mode: mode, background: background)
    }
}
