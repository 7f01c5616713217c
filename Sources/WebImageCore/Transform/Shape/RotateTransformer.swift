// SPDX-License-Identifier: MIT

import CPixelKernels
import Glibc

/// A transformer that rotates an image clockwise.
///
/// Rotations by multiples of 90° only move pixels. Other angles require interpolation (Catmull-Rom), and their edges
/// are anti-aliased.
package struct RotateTransformer: ImageTransformer, Hashable {
    /// The effect of the rotation on the size.
    package enum Mode: String, Sendable, Hashable, CaseIterable {
        /// The size increases to contain the whole rotated image.
        case fit
        /// The size doesn't change, and protruding corners are cropped.
        case clip
    }

    /// The clockwise angle, in degrees.
    package let degrees: Double
    /// The effect of the rotation on the size.
    package let mode: Mode
    /// The color of pixels that the rotated image doesn't cover.
    package let background: PixelColor
    /// The values that are interpolated.
    package let light: ResamplingFilter.Light

    /// Creates a transformer. By default, the size increases to fit, the background is transparent, and the
    /// interpolation uses linear light.
    package init(
        degrees: Double, mode: Mode = .fit, background: PixelColor = .clear, light: ResamplingFilter.Light = .linear
    ) {
        self.degrees = degrees
        self.mode = mode
        self.background = background
        self.light = light
    }

    /// The name and all parameters of the transformer.
    package var identifier: String { "rotate(\(degrees),\(mode.rawValue),\(background.hexadecimal),\(light.rawValue))" }

    /// Rotates an image. The result is opaque if the image is opaque and either the background is opaque or the angle
    /// is a multiple of 90° with the mode ``Mode/fit``.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if the angle is NaN or
    ///   infinite, or an ``ImageError/LimitFailure`` if the result is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        guard degrees.isFinite else {
            throw ParameterValidator(transformer: "rotate").invalid("degrees", "\(degrees)")
        }
        let rest = degrees.truncatingRemainder(dividingBy: 360)
        let angle = rest < 0 ? rest + 360 : rest
        guard angle.truncatingRemainder(dividingBy: 90) != 0 else {
            return try turned(pixels, quarters: Int(angle / 90) % 4, context: context)
        }
        return try RotationPass(pixels, angle: angle * .pi / 180, rotation: self)
            .run(context: context)
    }

    private func turned(
        _ pixels: PixelBuffer, quarters: Int, context: ImageProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        let orientations: [ImageOrientation] = [.up, .right, .down, .left]
        let result = try OrientationTransform.upright(pixels, orientations[quarters], context: context)
        guard mode == .clip, result.size != pixels.size else { return result }
        let frame = PixelRect(
            x: (result.width - pixels.width) / 2, y: (result.height - pixels.height) / 2, width: pixels.width,
            height: pixels.height)
        return try PadAndCrop.framed(result, by: frame, color: background, name: "rotate", context: context)
    }
}

/// A rotation by an angle that isn't a multiple of 90°.
private struct RotationPass {
    private let pixels: PixelBuffer
    private let cosine: Double
    private let sine: Double
    private let size: PixelSize
    private let rotation: RotateTransformer

    init(_ pixels: PixelBuffer, angle: Double, rotation: RotateTransformer) {
        self.pixels = pixels
        self.rotation = rotation
        (cosine, sine) = (cos(angle), sin(angle))
        let (width, height) = (Double(pixels.width), Double(pixels.height))
        let (across, down) = (abs(cosine), abs(sine))
        // Ignore a millionth of a pixel, because it's a rounding error.
        size =
            rotation.mode == .clip
            ? pixels.size
            : PixelSize(
                width: max(1, Int((width * across + height * down - 1e-6).rounded(.up))),
                height: max(1, Int((width * down + height * across - 1e-6).rounded(.up))))
    }

    func run(context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        try context.limits.check(result: size, format: pixels.format)
        try context.checkCancellation()
        let canvas = try PixelCanvas(size: size, format: pixels.format, cleared: false)
        let background = rotation.background.row(count: 1, format: pixels.format)
        let kernels = pixels.format.kernels
        let light = rotation.light == .linear ? LightTables.of(context.lightCurve, isOpaque: false) : nil
        var kernel = light?.kernel ?? wi_resample_tables()
        var checkpoints = CancellationChecker(context)
        for row in 0..<size.height {
            try checkpoints.count(pixels: size.width * 8)
            let x = 0.5 - Double(size.width) / 2
            let y = Double(row) + 0.5 - Double(size.height) / 2
            let start = (
                x: Double(pixels.width) / 2 + x * cosine + y * sine,
                y: Double(pixels.height) / 2 - x * sine + y * cosine
            )
            let to = canvas.baseAddress + row * canvas.bytesPerRow
            withUnsafePointer(to: &kernel) { kernel in
                let tables = light == nil ? nil : kernel
                pixels.withRow(0) { from in
                    kernels.rotate_row(
                        from, pixels.bytesPerRow, pixels.width, pixels.height, start.x, start.y, cosine, -sine,
                        background, tables, to, size.width)
                }
            }
        }
        canvas.clearPadding()
        return canvas.finish(isOpaque: pixels.isOpaque && rotation.background.alpha == 255)
    }
}

extension RotateTransformer: GeometricTransformer {
    func transform(
        gainMap: GainMap, of size: PixelSize, context: ImageProcessingContext
    ) throws(ImageError) -> GainMap? {
        if mode == .fit, degrees.truncatingRemainder(dividingBy: 90) == 0 {
            return gainMap.with(pixels: try transform(gainMap.pixels, context: context))
        }
        // The samples of a map are logarithms and not light.
        let rotation = RotateTransformer(
            degrees: degrees, mode: mode, background: gainMap.neutralColor, light: .encoded)
        return try gainMap.transformed(by: rotation, atSizeOf: size, context: context)
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that rotates clockwise.
    ///
    /// - Parameters:
    ///   - degrees: The angle, in degrees.
    ///   - keepsSize: Whether the size doesn't change and protruding corners are cropped. The default is `false`, which
    ///     increases the size to contain the whole rotated image.
    ///   - background: The color of pixels that the rotated image doesn't cover. The default is transparent.
    ///   - light: The values that are interpolated if the angle isn't a multiple of 90°. The default is linear light.
    public static func rotate(
        degrees: Double, keepsSize: Bool = false, background: PixelColor = .clear,
        light: ResamplingFilter.Light = .linear
    ) -> StandardTransformer {
        StandardTransformer(
            RotateTransformer(
                degrees: degrees, mode: keepsSize ? .clip : .fit, background: background, light: light))
    }
}
