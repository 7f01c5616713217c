// SPDX-License-Identifier: MIT

/// A transformer that adjusts the color of each pixel.
package struct ColorMatrixTransformer: ImageTransformer, Hashable {
    /// A color adjustment.
    package enum Adjustment: Sendable, Hashable {
        /// An arbitrary matrix, with coefficients from −1,000,000 to 1,000,000.
        case matrix(ColorMatrix)
        /// The adjustment ``ColorMatrix/saturation(_:)``, from −1,000 to 1,000.
        case saturation(Double)
        /// The adjustment ``ColorMatrix/brightness(_:)``, from 0 to 1,000.
        case brightness(Double)
        /// The adjustment ``ColorMatrix/contrast(_:)``, from 0 to 1,000.
        case contrast(Double)
        /// The adjustment ``ColorMatrix/grayscale(_:)``, from 0 to 1.
        case grayscale(Double)
        /// The adjustment ``ColorMatrix/sepia(_:)``, from 0 to 1.
        case sepia(Double)
        /// The adjustment ``ColorMatrix/invert(_:)``, from 0 to 1.
        case invert(Double)
        /// The adjustment ``ColorMatrix/hueRotation(degrees:)``, from −10^9 to 10^9 degrees.
        case hueRotation(Double)
    }

    /// The color adjustment.
    package let adjustment: Adjustment

    /// Creates a transformer.
    package init(_ adjustment: Adjustment) { self.adjustment = adjustment }

    /// The name and all parameters of the transformer.
    package var identifier: String {
        switch adjustment {
        case .matrix(let matrix): "colorMatrix(\(matrix.values.map { "\($0)" }.joined(separator: ":")))"
        case .saturation(let amount): "saturation(\(amount))"
        case .brightness(let amount): "brightness(\(amount))"
        case .contrast(let amount): "contrast(\(amount))"
        case .grayscale(let amount): "grayscale(\(amount))"
        case .sepia(let amount): "sepia(\(amount))"
        case .invert(let amount): "invert(\(amount))"
        case .hueRotation(let degrees): "hueRotation(\(degrees))"
        }
    }

    /// Adjusts the colors of an image. Opaque images remain opaque unless a matrix changes the alpha channel.
    ///
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if a number is NaN or
    ///   out of range, or an ``ImageError/LimitFailure`` if the image is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let matrix = try checkedMatrix()
        if matrix == .identity { return pixels }
        return try matrix.apply(to: pixels, context: context)
    }

    private func checkedMatrix() throws(ImageError) -> ColorMatrix {
        func amount(_ value: Double, of name: String, in range: ClosedRange<Double>) throws(ImageError) -> Double {
            try ParameterValidator(transformer: name).number(value, "amount", in: range)
        }
        switch adjustment {
        case .matrix(let matrix):
            let check = ParameterValidator(transformer: "colorMatrix")
            for value in matrix.values { _ = try check.number(value, "matrix", in: -1e6...1e6) }
            return matrix
        case .saturation(let value): return .saturation(try amount(value, of: "saturation", in: -1_000...1_000))
        case .brightness(let value): return .brightness(try amount(value, of: "brightness", in: 0...1_000))
        case .contrast(let value): return .contrast(try amount(value, of: "contrast", in: 0...1_000))
        case .grayscale(let value): return .grayscale(try amount(value, of: "grayscale", in: 0...1))
        case .sepia(let value): return .sepia(try amount(value, of: "sepia", in: 0...1))
        case .invert(let value): return .invert(try amount(value, of: "invert", in: 0...1))
        case .hueRotation(let degrees):
            return .hueRotation(
                degrees: try ParameterValidator(transformer: "hueRotation").number(degrees, "degrees", in: -1e9...1e9))
        }
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that computes each channel from all four channels and a constant.
    public static func colorMatrix(_ matrix: ColorMatrix) -> StandardTransformer {
        StandardTransformer(ColorMatrixTransformer(.matrix(matrix)))
    }

    /// Returns a saturation transformer, where 0 is grayscale, 1 changes nothing, and larger values increase the
    /// saturation.
    public static func saturation(_ amount: Double) -> StandardTransformer {
        StandardTransformer(ColorMatrixTransformer(.saturation(amount)))
    }

    /// Returns a brightness transformer, where 0 is black, 1 changes nothing, and 2 is twice as bright.
    public static func brightness(_ amount: Double) -> StandardTransformer {
        StandardTransformer(ColorMatrixTransformer(.brightness(amount)))
    }

    /// Returns a contrast transformer, where 0 is uniform middle gray, 1 changes nothing, and larger values increase
    /// the contrast.
    public static func contrast(_ amount: Double) -> StandardTransformer {
        StandardTransformer(ColorMatrixTransformer(.contrast(amount)))
    }

    /// A transformer that removes all color.
    public static var grayscale: StandardTransformer { .grayscale(1) }

    /// Returns a grayscale transformer. With values below 1, some color remains.
    public static func grayscale(_ amount: Double) -> StandardTransformer {
        StandardTransformer(ColorMatrixTransformer(.grayscale(amount)))
    }

    /// A transformer that replaces all colors with shades of brown.
    public static var sepia: StandardTransformer { .sepia(1) }

    /// Returns a sepia transformer. With values below 1, some of the original color remains.
    public static func sepia(_ amount: Double) -> StandardTransformer {
        StandardTransformer(ColorMatrixTransformer(.sepia(amount)))
    }

    /// A transformer that inverts all colors.
    public static var invert: StandardTransformer { .invert(1) }

    /// Returns a transformer that inverts colors. With values below 1, the effect is weaker.
    public static func invert(_ amount: Double) -> StandardTransformer {
        StandardTransformer(ColorMatrixTransformer(.invert(amount)))
    }

    /// Returns a transformer that rotates hues by `degrees`.
    public static func hueRotation(degrees: Double) -> StandardTransformer {
        StandardTransformer(ColorMatrixTransformer(.hueRotation(degrees)))
    }
}
