// SPDX-License-Identifier: MIT

import CPixelKernels

/// A matrix that computes each channel from all four channels and a constant.
///
/// It applies to straight sRGB values from 0 to 1, and the results are clamped.
public struct ColorMatrix: Sendable, Hashable, Codable {
    /// The coefficients for one channel of the result.
    package struct Row: Sendable, Hashable, Codable {
        /// The coefficient of red.
        package var red: Double
        /// The coefficient of green.
        package var green: Double
        /// The coefficient of blue.
        package var blue: Double
        /// The coefficient of alpha.
        package var alpha: Double
        /// The constant to add, where 1 is the full range.
        package var constant: Double

        /// Creates a row. Omitted coefficients are zero.
        package init(red: Double = 0, green: Double = 0, blue: Double = 0, alpha: Double = 0, constant: Double = 0) {
            self.red = red
            self.green = green
            self.blue = blue
            self.alpha = alpha
            self.constant = constant
        }

        var values: [Double] { [red, green, blue, alpha, constant] }
    }

    /// The coefficients for red.
    package var red: Row
    /// The coefficients for green.
    package var green: Row
    /// The coefficients for blue.
    package var blue: Row
    /// The coefficients for alpha.
    package var alpha: Row

    /// Creates a matrix from its rows.
    ///
    /// - Parameter rows: Four rows, for red, green, blue, and alpha of the result. Each row has five values: the
    ///   factors of red, green, blue, and alpha, and a constant, where 1 is the full range. Missing rows preserve their
    ///   channel, missing values are zero, and additional ones are ignored.
    public init(rows: [[Double]]) {
        func row(_ index: Int, _ unchanged: Row) -> Row {
            guard rows.indices.contains(index) else { return unchanged }
            let values = rows[index] + [0, 0, 0, 0, 0]
            return Row(red: values[0], green: values[1], blue: values[2], alpha: values[3], constant: values[4])
        }
        self.init(
            red: row(0, Row(red: 1)), green: row(1, Row(green: 1)), blue: row(2, Row(blue: 1)),
            alpha: row(3, Row(alpha: 1)))
    }

    /// Creates a matrix. Omitted rows preserve their channel.
    package init(
        red: Row = Row(red: 1), green: Row = Row(green: 1), blue: Row = Row(blue: 1), alpha: Row = Row(alpha: 1)
    ) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// The matrix that changes nothing.
    package static let identity = ColorMatrix()

    /// The twenty coefficients, row by row.
    var values: [Double] { red.values + green.values + blue.values + alpha.values }

    /// Applies the matrix to every pixel. The coefficients must be finite.
    func apply(to pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let matrix = values.map { Float($0) }
        let isOpaque = pixels.isOpaque && alpha == Row(alpha: 1)
        return try pixels.mapRows(isOpaque: isOpaque, context: context) { _, from, to in
            pixels.format.kernels.color_matrix(from, to, matrix, pixels.width)
        }
    }
}
