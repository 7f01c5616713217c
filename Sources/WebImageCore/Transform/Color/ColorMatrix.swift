// SPDX-License-Identifier: MIT

import CPixelKernels

/// A matrix that computes each channel from all four channels and a constant.
///
/// It applies to straight sRGB values from 0 to 1, and the results are clamped.
public struct ColorMatrix: Sendable, Hashable, Codable {
    /// The coefficients for one channel of the result.
    public struct Row: Sendable, Hashable, Codable {
        /// The coefficient of red.
        public var red: Double
        /// The coefficient of green.
        public var green: Double
        /// The coefficient of blue.
        public var blue: Double
        /// The coefficient of alpha.
        public var alpha: Double
        /// The constant to add, where 1 is the full range.
        public var constant: Double

        /// Creates a row. Omitted coefficients are zero.
        public init(red: Double = 0, green: Double = 0, blue: Double = 0, alpha: Double = 0, constant: Double = 0) {
            self.red = red
            self.green = green
            self.blue = blue
            self.alpha = alpha
            self.constant = constant
        }

        var values: [Double] { [red, green, blue, alpha, constant] }
    }

    /// The coefficients for red.
    public var red: Row
    /// The coefficients for green.
    public var green: Row
    /// The coefficients for blue.
    public var blue: Row
    /// The coefficients for alpha.
    public var alpha: Row

    /// Creates a matrix. Omitted rows preserve their channel.
    public init(
        red: Row = Row(red: 1), green: Row = Row(green: 1), blue: Row = Row(blue: 1), alpha: Row = Row(alpha: 1)
    ) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// The matrix that changes nothing.
    public static let identity = ColorMatrix()

    /// The twenty coefficients, row by row.
    var values: [Double] { red.values + green.values + blue.values + alpha.values }

    /// Applies the matrix to every pixel. The coefficients must be finite.
    func apply(to pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let matrix = values.map { Float($0) }
        let isOpaque = pixels.isOpaque && alpha == Row(alpha: 1)
        return try pixels.mapRows(isOpaque: isOpaque, context: context) { _, from, to in
            switch pixels.format {
            case .rgba8: wi_color_matrix_rgba8(from.samples8, to.samples8, matrix, pixels.width)
            case .rgba16: wi_color_matrix_rgba16(from.samples16, to.samples16, matrix, pixels.width)
            }
        }
    }
}
