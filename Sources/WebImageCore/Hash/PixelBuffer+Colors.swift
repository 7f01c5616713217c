// SPDX-License-Identifier: MIT

import CPixelKernels

/// A pixel's place; the origin is the top left corner.
public struct PixelPoint: Sendable, Hashable, Codable {
    /// Pixels from the left.
    public var x: Int
    /// Pixels from the top.
    public var y: Int

    /// Creates a point.
    public init(x: Int, y: Int) {
        self.x = x
        self.y = y
    }
}

extension PixelBuffer {
    /// The straight colour of one pixel; nil outside the picture. Deep pixels are rounded to 8 bits.
    public func color(at point: PixelPoint) -> PixelColor? {
        guard (0..<width).contains(point.x), (0..<height).contains(point.y) else { return nil }
        return colors(in: PixelRect(x: point.x, y: point.y, width: 1, height: 1)).first
    }

    /// The straight colours of the pixels in a rectangle, row after row; what lies outside the picture is left out.
    public func colors(in rect: PixelRect) -> [PixelColor] {
        guard let rect = rect.clamped(to: size) else { return [] }
        var colors: [PixelColor] = []
        colors.reserveCapacity(rect.width * rect.height)
        for y in rect.y..<rect.y + rect.height {
            withRow(y) { row in
                for x in rect.x..<rect.x + rect.width {
                    switch format {
                    case .rgba8: colors.append(PixelColor(premultiplied: row.samples8 + x * 4, maximum: 255))
                    case .rgba16: colors.append(PixelColor(premultiplied: row.samples16 + x * 4, maximum: 65_535))
                    }
                }
            }
        }
        return colors
    }

    /// The mean of all pixels, weighted by their alpha; the alpha is the mean alpha. Of the values as stored, as a
    /// reduction to one pixel gives it. Blocks.
    ///
    /// - Throws: what ``CodingContext/checkpoint()`` throws.
    public func averageColor(context: CodingContext = CodingContext()) throws(ImageError) -> PixelColor {
        var sums: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        var checkpoints = Checkpoints(context)
        for y in 0..<height {
            try checkpoints.count(pixels: width)
            withUnsafeMutableBytes(of: &sums) { bytes in
                guard let sums = bytes.baseAddress?.assumingMemoryBound(to: UInt64.self) else { return }
                withRow(y) { row in
                    switch format {
                    case .rgba8: wi_sum_rgba8(row.samples8, sums, width)
                    case .rgba16: wi_sum_rgba16(row.samples16, sums, width)
                    }
                }
            }
        }
        let alpha = Double(sums.3)
        func share(_ sum: UInt64) -> UInt8 { alpha > 0 ? UInt8(min(255, Double(sum) / alpha * 255).rounded()) : 0 }
        let all = Double(width) * Double(height) * Double(format.maximum)
        return PixelColor(
            red: share(sums.0), green: share(sums.1), blue: share(sums.2),
            alpha: UInt8((alpha / all * 255).rounded()))
    }

    /// The whole picture with no side longer than `side`, area averages; itself where it is small enough.
    func reduced(to side: Int, context: CodingContext) throws(ImageError) -> PixelBuffer {
        let target = TargetSize.fit(width: Double(side), height: Double(side))
        let output = try target.plan(for: size).output
        return try Resampler.resample(
            self, window: SampleRect(size), to: output, filter: .box, context: context)
    }
}

extension PixelColor {
    /// The straight colour of a stored pixel.
    fileprivate init<Sample: BinaryInteger>(premultiplied pixel: UnsafePointer<Sample>, maximum: Int) {
        let alpha = Int(pixel[3])
        func straight(_ channel: Int) -> UInt8 {
            alpha == 0 ? 0 : UInt8(min(255, (Int(pixel[channel]) * 510 + alpha) / (2 * alpha)))
        }
        self.init(
            red: straight(0), green: straight(1), blue: straight(2),
            alpha: UInt8((alpha * 510 + maximum) / (2 * maximum)))
    }
}

extension Image {
    /// The straight colour of one upright pixel of a still, or of an animation's poster; nil outside the picture.
    public func color(at point: PixelPoint) -> PixelColor? { pixels.color(at: point) }

    /// The straight colours of the pixels in a rectangle, row after row; what lies outside the picture is left out.
    public func colors(in rect: PixelRect) -> [PixelColor] { pixels.colors(in: rect) }
}
