// SPDX-License-Identifier: MIT

#if PDF
    /// An affine transform of PDF coordinates.
    struct PDFMatrix: Sendable, Equatable {
        static let identity = PDFMatrix([1, 0, 0, 1, 0, 0])

        private let a, b, c, d, e, f: Double

        /// Creates a matrix from the first six of the values. Missing values are those of the identity.
        init(_ values: [Double]) {
            func value(_ place: Int, _ standard: Double) -> Double {
                // The bound keeps products finite.
                place < values.count ? max(-1e12, min(1e12, values[place])) : standard
            }
            (a, b, c) = (value(0, 1), value(1, 0), value(2, 0))
            (d, e, f) = (value(3, 1), value(4, 0), value(5, 0))
        }

        /// Returns the matrix that applies this matrix and then another one.
        func followed(by next: PDFMatrix) -> PDFMatrix {
            PDFMatrix([
                a * next.a + b * next.c, a * next.b + b * next.d, c * next.a + d * next.c, c * next.b + d * next.d,
                e * next.a + f * next.c + next.e, e * next.b + f * next.d + next.f,
            ])
        }

        func apply(_ x: Double, _ y: Double) -> (x: Double, y: Double) { (a * x + c * y + e, b * x + d * y + f) }

        var areaFactor: Double { abs(a * d - b * c) }

        /// Returns the sizes of a box in the coordinates from which the matrix maps, or `nil` if there's no inverse.
        func inverseSize(of box: PDFBox) -> (width: Double, height: Double)? {
            let factor = areaFactor
            guard factor > 0, factor.isFinite else { return nil }
            return (
                (abs(d) * box.width + abs(c) * box.height) / factor, (abs(b) * box.width + abs(a) * box.height) / factor
            )
        }

        func apply(_ box: PDFBox) -> PDFBox {
            guard !box.isEmpty else { return box }
            var result = PDFBox.empty
            for x in [box.left, box.right] { for y in [box.bottom, box.top] { result.add(apply(x, y)) } }
            return result
        }
    }

    /// A rectangle that is parallel to the axes.
    struct PDFBox: Sendable, Equatable {
        static let empty = PDFBox(left: 1e12, bottom: 1e12, right: -1e12, top: -1e12)
        static let everything = PDFBox(left: -1e12, bottom: -1e12, right: 1e12, top: 1e12)

        private(set) var left, bottom, right, top: Double

        private init(left: Double, bottom: Double, right: Double, top: Double) {
            (self.left, self.bottom, self.right, self.top) = (left, bottom, right, top)
        }

        /// Creates a box from two opposite corners, or returns `nil` if there are fewer than four numbers.
        init?(_ values: [Double]) {
            guard values.count >= 4 else { return nil }
            self = .empty
            add((values[0], values[1]))
            add((values[2], values[3]))
        }

        var isEmpty: Bool { right < left || top < bottom }
        var width: Double { max(0, right - left) }
        var height: Double { max(0, top - bottom) }
        var area: Double { width * height }

        mutating func add(_ point: (x: Double, y: Double)) {
            let (x, y) = (max(-1e12, min(1e12, point.x)), max(-1e12, min(1e12, point.y)))
            (left, right) = (min(left, x), max(right, x))
            (bottom, top) = (min(bottom, y), max(top, y))
        }

        func intersection(_ other: PDFBox) -> PDFBox {
            PDFBox(
                left: max(left, other.left), bottom: max(bottom, other.bottom), right: min(right, other.right),
                top: min(top, other.top))
        }

        func expanded(by length: Double) -> PDFBox {
            guard !isEmpty else { return self }
            return PDFBox(left: left - length, bottom: bottom - length, right: right + length, top: top + length)
        }
    }
#endif
