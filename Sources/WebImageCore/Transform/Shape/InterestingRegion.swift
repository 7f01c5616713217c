// SPDX-License-Identifier: MIT

import Glibc

/// A reduced copy of an image, in which the most interesting part is found.
struct InterestingRegion {
    /// The longest side of the copy, in pixels. It determines the precision of the result and the time.
    private static let side = 96.0

    private let width: Int
    private let height: Int
    /// The premultiplied samples from 0 to 255. Transparent pixels are black and therefore uninteresting.
    private let samples: [UInt8]

    /// Creates a reduced copy.
    init(of pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) {
        let plan = try TargetSize.fit(width: Self.side, height: Self.side).plan(for: pixels.size)
        let small = try Resampler.resample(
            pixels, window: plan.window, to: plan.output, filter: .box, context: context)
        (width, height) = (small.width, small.height)
        samples = try small.converted(to: .rgba8, context: context).packedBytes()
    }

    /// Returns the position of the most interesting part with the size of `window`, in pixels of the original image.
    func origin(
        of window: SampleRect, in size: PixelSize, strategy: StandardTransformer.SmartCropStrategy
    ) -> (x: Double, y: Double) {
        let across = Double(size.width) / Double(width)
        let down = Double(size.height) / Double(height)
        var x: Double
        var y: Double
        switch strategy {
        case .attention:
            let center = attentionCenter(width: window.width / across, height: window.height / down)
            x = center.x * across - window.width / 2
            y = center.y * down - window.height / 2
        case .entropy:
            let origin = entropyOrigin(
                width: max(1, Int((window.width / across).rounded())),
                height: max(1, Int((window.height / down).rounded())))
            x = Double(origin.x) * across
            y = Double(origin.y) * down
        }
        x = max(0, min(x, Double(size.width) - window.width))
        y = max(0, min(y, Double(size.height) - window.height))
        return (x, y)
    }

    /// The luminance of each pixel, from 0 to 1.
    private var luminance: [Double] {
        (0..<width * height).map { index in
            let red = Double(samples[index * 4])
            let green = Double(samples[index * 4 + 1])
            let blue = Double(samples[index * 4 + 2])
            return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255
        }
    }
}

/// The search by attention, which follows libvips: the maximum of the blurred sum of edges, saturation, and skin tones.
extension InterestingRegion {
    /// Returns the center of attention for a part of this size, in pixels of the reduced copy.
    private func attentionCenter(width partWidth: Double, height partHeight: Double) -> (x: Double, y: Double) {
        let deviation = max(1, (partWidth * partWidth + partHeight * partHeight).squareRoot() / 10)
        let interest = blurred(scores(), deviation: deviation)
        // If several positions have the same score, the center of the image is the best position.
        var best = (x: Double(width) / 2, y: Double(height) / 2)
        var highest = interest[height / 2 * width + width / 2]
        for y in 0..<height {
            for x in 0..<width {
                let score = interest[y * width + x]
                // Ignore the rounding errors of the blur.
                guard score > highest * (1 + 1e-6) + 1e-9 else { continue }
                best = (x: Double(x) + 0.5, y: Double(y) + 0.5)
                highest = score
            }
        }
        return best
    }

    private func scores() -> [Double] {
        let luminance = luminance
        var scores = [Double](repeating: 0, count: width * height)
        for y in 0..<height {
            for x in 0..<width {
                let index = y * width + x
                let left = luminance[x > 0 ? index - 1 : index]
                let right = luminance[x < width - 1 ? index + 1 : index]
                let above = luminance[y > 0 ? index - width : index]
                let below = luminance[y < height - 1 ? index + width : index]
                let edge = 4 * luminance[index] - left - right - above - below
                scores[index] = 2 * abs(edge)
                // The hue of dark pixels is mostly noise.
                if luminance[index] > 0.05 { scores[index] += colorScore(at: index) }
            }
        }
        return scores
    }

    /// Returns the score for the saturation and for the similarity to skin, from 0 to 2.
    private func colorScore(at index: Int) -> Double {
        let red = Double(samples[index * 4]) / 255
        let green = Double(samples[index * 4 + 1]) / 255
        let blue = Double(samples[index * 4 + 2]) / 255
        let length = (red * red + green * green + blue * blue).squareRoot()
        // The direction of skin tones is from smartcrop.js.
        let (dr, dg, db) = (red / length - 0.78, green / length - 0.57, blue / length - 0.44)
        let distance = (dr * dr + dg * dg + db * db).squareRoot()
        let saturation = max(red, green, blue) - min(red, green, blue)
        return saturation + max(0, 1 - 5 * distance)
    }

    /// Returns the values after a Gaussian blur. Values outside the image are 0, so the edges are less interesting.
    private func blurred(_ values: [Double], deviation: Double) -> [Double] {
        let reach = Int((deviation * 2.5).rounded(.up))
        let kernel = (0...reach).map { exp(-Double($0 * $0) / (2 * deviation * deviation)) }
        var across = values
        for y in 0..<height {
            for x in 0..<width {
                var sum = 0.0
                for other in max(0, x - reach)...min(width - 1, x + reach) {
                    sum += values[y * width + other] * kernel[abs(other - x)]
                }
                across[y * width + x] = sum
            }
        }
        var result = across
        for y in 0..<height {
            for x in 0..<width {
                var sum = 0.0
                for other in max(0, y - reach)...min(height - 1, y + reach) {
                    sum += across[other * width + x] * kernel[abs(other - y)]
                }
                result[y * width + x] = sum
            }
        }
        return result
    }
}

/// The search by entropy, which follows libvips: the side with less entropy is cropped repeatedly.
extension InterestingRegion {
    /// Returns the position of the part with this size, in pixels of the reduced copy.
    private func entropyOrigin(width partWidth: Int, height partHeight: Int) -> (x: Int, y: Int) {
        let shades = luminance.map { Int(($0 * 255).rounded()) }
        var (left, top, right, bottom) = (0, 0, width, height)
        let step = max(1, (width - partWidth + 7) / 8, (height - partHeight + 7) / 8)
        while right - left > partWidth || bottom - top > partHeight {
            let columns = min(step, right - left - partWidth)
            if columns > 0 {
                let first = entropy(of: shades, left..<left + columns, top..<bottom)
                let last = entropy(of: shades, right - columns..<right, top..<bottom)
                // If both sides are equal, the part remains near the center.
                if first < last || (first == last && left < width - right) { left += columns } else { right -= columns }
            }
            let rows = min(step, bottom - top - partHeight)
            if rows > 0 {
                let first = entropy(of: shades, left..<right, top..<top + rows)
                let last = entropy(of: shades, left..<right, bottom - rows..<bottom)
                if first < last || (first == last && top < height - bottom) { top += rows } else { bottom -= rows }
            }
        }
        return (left, top)
    }

    /// Returns the Shannon entropy of the shades in a rectangle, in bits per pixel.
    private func entropy(of shades: [Int], _ columns: Range<Int>, _ rows: Range<Int>) -> Double {
        var counts = [Int](repeating: 0, count: 256)
        for y in rows {
            for x in columns { counts[min(255, shades[y * width + x])] += 1 }
        }
        let total = Double(columns.count * rows.count)
        return counts.reduce(0) { sum, count in
            guard count > 0 else { return sum }
            let share = Double(count) / total
            return sum - share * log2(share)
        }
    }
}
