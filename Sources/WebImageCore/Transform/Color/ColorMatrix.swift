// SPDX-License-Identifier: MIT

import CPixelKernels

/// Makes each channel out of all four and a constant. Works on straight sRGB values, 0...1; results are clamped.
public struct ColorMatrix: Sendable, Hashable, Codable {
    /// What one channel of the result is made of.
    public struct Row: Sendable, Hashable, Codable {
        /// Factor of red.
        public var red: Double
        /// Factor of green.
        public var green: Double
        /// Factor of blue.
        public var blue: Double
        /// Factor of alpha.
        public var alpha: Double
        /// What is added, 1 being the whole range.
        public var constant: Double

        /// Creates a row; what is left out is zero.
        public init(red: Double = 0, green: Double = 0, blue: Double = 0, alpha: Double = 0, constant: Double = 0) {
            self.red = red
            self.green = green
            self.blue = blue
            self.alpha = alpha
            self.constant = constant
        }

        var values: [Double] { [red, green, blue, alpha, constant] }
    }

    /// How red is made.
    public var red: Row
    /// How green is made.
    public var green: Row
    /// How blue is made.
    public var blue: Row
    /// How alpha is made.
    public var alpha: Row

    /// Creates a matrix; rows left out keep their channel.
    public init(
        red: Row = Row(red: 1), green: Row = Row(green: 1), blue: Row = Row(blue: 1), alpha: Row = Row(alpha: 1)
    ) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Changes nothing.
    public static let identity = ColorMatrix()

    /// Row after row, twenty numbers.
    var values: [Double] { red.values + green.values + blue.values + alpha.values }

    /// Runs every pixel through the matrix, whose values are finite.
    func apply(to pixels: PixelBuffer, context: CodingContext) throws(ImageError) -> PixelBuffer {
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
