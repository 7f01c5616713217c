// SPDX-License-Identifier: MIT

import Glibc

/// A rectangle with circular corners, which computes how much of each pixel is inside. The areas are exact integrals
/// instead of samples.
struct RoundedShape {
    private let left: Double
    private let top: Double
    private let right: Double
    private let bottom: Double
    /// The radii of the top leading, top trailing, bottom leading, and bottom trailing corners.
    private let radii: (Double, Double, Double, Double)
    private let width: Int

    /// Creates a shape that's inset by `inset` pixels in an image whose corners have the radius `radius`. Both edges
    /// of a border have the same center.
    init(size: PixelSize, inset: Double, radius: Double, corners: StandardTransformer.Corners) {
        width = size.width
        (left, top) = (inset, inset)
        (right, bottom) = (max(inset, Double(size.width) - inset), max(inset, Double(size.height) - inset))
        func own(_ corner: StandardTransformer.Corners) -> Double {
            corners.contains(corner) ? max(0, radius - inset) : 0
        }
        radii = (own(.topLeading), own(.topTrailing), own(.bottomLeading), own(.bottomTrailing))
    }

    /// Returns whether all pixels of a row are completely inside the shape.
    func covers(row: Int) -> Bool {
        left == 0 && Double(row) >= top + max(radii.0, radii.1)
            && Double(row + 1) <= bottom - max(radii.2, radii.3)
    }

    /// Computes the fraction of each pixel of a row that's inside the shape, from 0 to 1.
    func coverage(ofRow row: Int, into coverage: inout [Float]) {
        let rowTop = max(top, Double(row))
        let rowBottom = min(bottom, Double(row + 1))
        guard rowBottom > rowTop, right > left else {
            for x in coverage.indices { coverage[x] = 0 }
            return
        }
        let band = rowBottom - rowTop
        for x in coverage.indices { coverage[x] = Float(band) }
        // Compute the straight edges first, and then subtract the corners.
        let whole = Int(left.rounded(.up))..<max(Int(left.rounded(.up)), Int(right))
        for x in coverage.indices where !whole.contains(x) {
            coverage[x] = Float(max(0, min(right, Double(x + 1)) - max(left, Double(x))) * band)
        }
        cutCorner(radii.0, from: rowTop, to: rowBottom, isTop: true, isLeading: true, &coverage)
        cutCorner(radii.1, from: rowTop, to: rowBottom, isTop: true, isLeading: false, &coverage)
        cutCorner(radii.2, from: rowTop, to: rowBottom, isTop: false, isLeading: true, &coverage)
        cutCorner(radii.3, from: rowTop, to: rowBottom, isTop: false, isLeading: false, &coverage)
    }

    private func cutCorner(
        _ radius: Double, from rowTop: Double, to rowBottom: Double, isTop: Bool, isLeading: Bool,
        _ coverage: inout [Float]
    ) {
        // v and u increase from the center of the circle toward the corner.
        let centerY = isTop ? top + radius : bottom - radius
        let near = max(0, isTop ? centerY - rowBottom : rowTop - centerY)
        let far = isTop ? centerY - rowTop : rowBottom - centerY
        guard radius > 0, far > near else { return }
        let centerX = isLeading ? left + radius : right - radius
        let begin = isLeading ? left : centerX
        let end = isLeading ? centerX : right
        // The arc doesn't touch pixels that are closer to the center than this.
        let safe = (max(0, radius * radius - far * far)).squareRoot()
        for x in Int(begin)..<min(width, Int(end.rounded(.up))) {
            let pixelLeft = max(begin, Double(x))
            let pixelRight = min(end, Double(x + 1))
            let uNear = max(0, isLeading ? centerX - pixelRight : pixelLeft - centerX)
            let uFar = isLeading ? centerX - pixelLeft : pixelRight - centerX
            guard uFar > safe, uFar > uNear else { continue }
            let missing =
                (uFar - uNear) * (far - near) - Self.discArea(radius, u: uNear..<uFar, v: near..<far)
            // Snap areas within the rounding error of empty and full, so that transparent pixels become zero and inner
            // pixels don't change.
            let rest = Double(coverage[x]) - missing
            coverage[x] = missing < 1e-6 ? coverage[x] : Float(rest < 1e-6 ? 0 : rest)
        }
    }

    /// Returns the area of the intersection of `u` × `v` with a disc around zero. Both ranges must be nonnegative.
    private static func discArea(_ radius: Double, u: Range<Double>, v: Range<Double>) -> Double {
        func reach(_ height: Double) -> Double { max(0, radius * radius - height * height).squareRoot() }
        // Below `full`, the disc covers the whole height of the cell. Beyond `none`, it covers nothing.
        let full = min(max(reach(v.upperBound), u.lowerBound), u.upperBound)
        let none = min(max(reach(v.lowerBound), u.lowerBound), u.upperBound)
        func under(_ x: Double) -> Double { (x * reach(x) + radius * radius * asin(min(1, x / radius))) / 2 }
        let arc = none > full ? under(none) - under(full) - (none - full) * v.lowerBound : 0
        return (full - u.lowerBound) * (v.upperBound - v.lowerBound) + arc
    }
}
