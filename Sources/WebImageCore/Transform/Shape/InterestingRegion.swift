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

    init(of pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) {
        let plan = try TargetSize.fit(width: Self.side, height: Self.side).plan(for: pixels.size)
        let small = try Resampler.resample(
            pixels, window: plan.window, to: plan.output, filter: .box(light: .encoded), context: context)
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
            let (red, green, blue) = color(at: index)
            return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255
        }
    }

    /// Returns the premultiplied color of a pixel, with components from 0 to 255.
    private func color(at index: Int) -> (red: Double, green: Double, blue: Double) {
        (Double(samples[index * 4]), Double(samples[index * 4 + 1]), Double(samples[index * 4 + 2]))
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
        let samples = color(at: index)
        let (red, green, blue) = (samples.red / 255, samples.green / 255, samples.blue / 255)
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
        let rows = Self.blurred(values, kernel, lines: height, lineStride: width, count: width, stride: 1)
        return Self.blurred(rows, kernel, lines: width, lineStride: 1, count: height, stride: width)
    }

    /// Returns the values after a one-dimensional blur along each line. The kernel contains the weights by distance.
    private static func blurred(
        _ values: [Double], _ kernel: [Double], lines: Int, lineStride: Int, count: Int, stride: Int
    ) -> [Double] {
        var result = values
        for line in 0..<lines {
            let first = line * lineStride
            for position in 0..<count {
                var sum = 0.0
                for other in max(0, position - kernel.count + 1)...min(count - 1, position + kernel.count - 1) {
                    sum += values[first + other * stride] * kernel[abs(other - position)]
                }
                result[first + position * stride] = sum
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
        var (columns, rows) = (0..<width, 0..<height)
        let step = max(1, (width - partWidth + 7) / 8, (height - partHeight + 7) / 8)
        while columns.count > partWidth || rows.count > partHeight {
            Self.crop(&columns, to: partWidth, by: step, of: width) { entropy(of: shades, $0, rows) }
            Self.crop(&rows, to: partHeight, by: step, of: height) { entropy(of: shades, columns, $0) }
        }
        return (columns.lowerBound, rows.lowerBound)
    }

    /// Crops up to `step` pixels from the end of a range with less entropy, until its length is `length`. If both ends
    /// have the same entropy, the range remains near the center of the image, whose length is `whole`.
    private static func crop(
        _ range: inout Range<Int>, to length: Int, by step: Int, of whole: Int, entropy: (Range<Int>) -> Double
    ) {
        let (start, end) = (range.lowerBound, range.upperBound)
        let count = min(step, end - start - length)
        guard count > 0 else { return }
        let (first, last) = (entropy(start..<start + count), entropy(end - count..<end))
        let removesFirst = first < last || (first == last && start < whole - end)
        range = removesFirst ? start + count..<end : start..<end - count
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
