// SPDX-License-Identifier: MIT

/// Changes colours, each pixel by itself.
public struct ColorMatrixTransformer: ImageTransformer, Hashable {
    /// What is changed.
    public enum Adjustment: Sendable, Hashable {
        /// Anything.
        case matrix(ColorMatrix)
        /// ``ColorMatrix/saturation(_:)``, −1,000...1,000.
        case saturation(Double)
        /// ``ColorMatrix/brightness(_:)``, 0...1,000.
        case brightness(Double)
        /// ``ColorMatrix/contrast(_:)``, 0...1,000.
        case contrast(Double)
        /// ``ColorMatrix/grayscale(_:)``, 0...1.
        case grayscale(Double)
        /// ``ColorMatrix/sepia(_:)``, 0...1.
        case sepia(Double)
        /// ``ColorMatrix/invert(_:)``, 0...1.
        case invert(Double)
        /// ``ColorMatrix/hueRotation(degrees:)``, any finite number of degrees.
        case hueRotation(Double)
    }

    /// What is changed.
    public let adjustment: Adjustment

    /// Creates a transformer.
    public init(_ adjustment: Adjustment) { self.adjustment = adjustment }

    /// Name and all parameters.
    public var identity: String {
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

    /// Changes the colours. Opaque pictures stay opaque, but for matrices that make alpha out of something else.
    ///
    /// - Throws: ``TransformError/invalidParameter(transformer:parameter:value:)`` for numbers that are NaN,
    ///   infinite or outside their range, a ``LimitError`` for a picture that is too large.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        let matrix = try checkedMatrix()
        if matrix == .identity { return pixels }
        return try matrix.apply(to: pixels, context: context.coding)
    }

    private func checkedMatrix() throws(ImageError) -> ColorMatrix {
        func amount(_ value: Double, of name: String, in range: ClosedRange<Double>) throws(ImageError) -> Double {
            try ParameterCheck(transformer: name).number(value, "amount", in: range)
        }
        switch adjustment {
        case .matrix(let matrix):
            let check = ParameterCheck(transformer: "colorMatrix")
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
                degrees: try ParameterCheck(transformer: "hueRotation").number(degrees, "degrees", in: -1e9...1e9))
        }
    }
}

extension ImageTransformer where Self == ColorMatrixTransformer {
    /// Makes each channel out of all four and a constant.
    public static func colorMatrix(_ matrix: ColorMatrix) -> Self { ColorMatrixTransformer(.matrix(matrix)) }

    /// 0 is grey, 1 unchanged, above 1 more colourful.
    public static func saturation(_ amount: Double) -> Self { ColorMatrixTransformer(.saturation(amount)) }

    /// 0 is black, 1 unchanged, 2 twice as bright.
    public static func brightness(_ amount: Double) -> Self { ColorMatrixTransformer(.brightness(amount)) }

    /// 0 is a flat middle grey, 1 unchanged, above 1 more contrast.
    public static func contrast(_ amount: Double) -> Self { ColorMatrixTransformer(.contrast(amount)) }

    /// Without colour; less than 1 leaves some.
    public static func grayscale(_ amount: Double = 1) -> Self { ColorMatrixTransformer(.grayscale(amount)) }

    /// Brown as an old photograph; less than 1 leaves some colour.
    public static func sepia(_ amount: Double = 1) -> Self { ColorMatrixTransformer(.sepia(amount)) }

    /// The opposite colours.
    public static func invert(_ amount: Double = 1) -> Self { ColorMatrixTransformer(.invert(amount)) }

    /// Turns hues by `degrees`.
    public static func hueRotation(degrees: Double) -> Self { ColorMatrixTransformer(.hueRotation(degrees)) }
}
