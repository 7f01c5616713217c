// SPDX-License-Identifier: MIT

import CPixelKernels

extension PixelBuffer {
    /// Returns the straight color of a pixel, or `nil` if it's outside the image. 16-bit samples are rounded to 8
    /// bits.
    public func color(x: Int, y: Int) -> PixelColor? {
        guard (0..<width).contains(x), (0..<height).contains(y) else { return nil }
        return colors(in: PixelRect(x: x, y: y, width: 1, height: 1)).first
    }

    /// Returns the straight colors of the pixels in a rectangle, row by row. Positions outside the image are omitted.
    public func colors(in rect: PixelRect) -> [PixelColor] {
        guard let rect = rect.clamped(to: size) else { return [] }
        let layout = format.layout
        var colors: [PixelColor] = []
        colors.reserveCapacity(rect.width * rect.height)
        for y in rect.y..<rect.y + rect.height {
            withRow(y) { row in
                for x in rect.x..<rect.x + rect.width {
                    colors.append(PixelColor(premultiplied: row + x * layout.bytesPerPixel, layout))
                }
            }
        }
        return colors
    }

    /// Returns the mean of all pixels, weighted by their alpha, with the mean alpha.
    ///
    /// This method averages the stored values, which is equivalent to reducing the image to one pixel. The method
    /// blocks.
    ///
    /// - Throws: An error of ``ImageProcessingContext/checkCancellation()``.
    public func averageColor(
        context: ImageProcessingContext = ImageProcessingContext()
    ) throws(ImageError) -> PixelColor {
        var sums: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        var checkpoints = CancellationChecker(context)
        for y in 0..<height {
            try checkpoints.count(pixels: width)
            withUnsafeMutableBytes(of: &sums) { bytes in
                guard let sums = bytes.baseAddress?.assumingMemoryBound(to: UInt64.self) else { return }
                withRow(y) { row in
                    format.kernels.sum(row, sums, width)
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

    /// Returns the whole image, reduced by averaging the stored values so that no side is longer than `side`. If the
    /// image is small enough, this method returns the same buffer.
    func reduced(to side: Int, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let target = TargetSize.fit(width: Double(side), height: Double(side))
        let output = try target.plan(for: size).output
        return try Resampler.resample(
            self, window: SampleRect(size), to: output, filter: .box(light: .encoded), context: context)
    }
}

extension PixelColor {
    fileprivate init(premultiplied pixel: UnsafeRawPointer, _ layout: PixelLayout) {
        let maximum = Int(layout.maximum)
        func sample(_ channel: Int) -> Int { layout.sample(at: pixel + channel * layout.bytesPerSample) }
        let alpha = sample(3)
        func straight(_ channel: Int) -> UInt8 {
            alpha == 0 ? 0 : UInt8(min(255, (sample(channel) * 510 + alpha) / (2 * alpha)))
        }
        self.init(
            red: straight(0), green: straight(1), blue: straight(2),
            alpha: UInt8((alpha * 510 + maximum) / (2 * maximum)))
    }
}
