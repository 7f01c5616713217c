// SPDX-License-Identifier: MIT

/// A 3 × 3 matrix in row-major order.
struct Matrix3: Hashable {
    var rows: [[Double]]

    init(_ rows: [[Double]]) { self.rows = rows }

    /// Creates a matrix from nine numbers in row-major order.
    init(flat: [Double]) { rows = (0..<3).map { Array(flat[$0 * 3..<$0 * 3 + 3]) } }

    static let identity = Matrix3([[1, 0, 0], [0, 1, 0], [0, 0, 1]])

    /// The nine numbers in row-major order.
    var flat: [Double] { rows.flatMap { $0 } }

    static func diagonal(_ values: [Double]) -> Matrix3 {
        Matrix3((0..<3).map { row in (0..<3).map { $0 == row ? values[row] : 0 } })
    }

    static func * (left: Matrix3, right: Matrix3) -> Matrix3 {
        var product = [[Double]](repeating: [0, 0, 0], count: 3)
        for row in 0..<3 {
            for column in 0..<3 {
                for index in 0..<3 { product[row][column] += left.rows[row][index] * right.rows[index][column] }
            }
        }
        return Matrix3(product)
    }

    static func * (left: Matrix3, right: [Double]) -> [Double] {
        left.rows.map { row in zip(row, right).reduce(0) { $0 + $1.0 * $1.1 } }
    }

    /// The inverse matrix, or `nil` if it doesn't exist or its elements are too large.
    var inverse: Matrix3? {
        let m = rows
        func minor(_ a: Int, _ b: Int, _ c: Int, _ d: Int) -> Double { m[a][c] * m[b][d] - m[a][d] * m[b][c] }
        let cofactors = [
            [minor(1, 2, 1, 2), -minor(0, 2, 1, 2), minor(0, 1, 1, 2)],
            [-minor(1, 2, 0, 2), minor(0, 2, 0, 2), -minor(0, 1, 0, 2)],
            [minor(1, 2, 0, 1), -minor(0, 2, 0, 1), minor(0, 1, 0, 1)],
        ]
        let determinant = m[0][0] * cofactors[0][0] + m[0][1] * cofactors[1][0] + m[0][2] * cofactors[2][0]
        guard determinant.isFinite, abs(determinant) > 1e-9 else { return nil }
        return Matrix3(cofactors.map { $0.map { $0 / determinant } })
    }
}
