// SPDX-License-Identifier: MIT

import Glibc

extension ThumbHash {
    /// Creates the hash of an image. Images with more than 100 pixels per side are reduced first, as the specification
    /// requires. This initializer blocks.
    ///
    /// - Throws: ``ImageError/limitExceeded(_:)`` if the computation exceeds the timeout
    ///   ``ImageLimits/maxDecodingTime`` of ``ImageLimits/desktop``, or
    ///   ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    public init(encoding pixels: PixelBuffer) throws(ImageError) {
        let context = ImageProcessingContext()
        let small = try pixels.reduced(to: 100, context: context).converted(to: .rgba8, context: context)
        let samples = Samples(small)
        try context.checkCancellation()
        let (width, height) = (Double(small.width), Double(small.height))
        let limit: Double = samples.hasAlpha ? 5 : 7
        let columns = max(1, Int((limit * width / max(width, height)).rounded()))
        let rows = max(1, Int((limit * height / max(width, height)).rounded()))
        let lightness = Encoded(samples.lightness, small.size, max(3, columns), max(3, rows))
        let yellow = Encoded(samples.yellow, small.size, 3, 3)
        let red = Encoded(samples.red, small.size, 3, 3)
        let isLandscape = small.width > small.height
        func level(_ value: Double, _ maximum: Double) -> Int { max(0, min(Int(maximum), Int(value.rounded()))) }
        let first =
            level(63 * lightness.mean, 63) | level(31.5 + 31.5 * yellow.mean, 63) << 6
            | level(31.5 + 31.5 * red.mean, 63) << 12 | level(31 * lightness.scale, 31) << 18
            | (samples.hasAlpha ? 1 << 23 : 0)
        let second =
            (isLandscape ? rows : columns) | level(63 * yellow.scale, 63) << 3 | level(63 * red.scale, 63) << 9
            | (isLandscape ? 1 << 15 : 0)
        var bytes = [first & 255, first >> 8 & 255, first >> 16, second & 255, second >> 8].map { UInt8($0) }
        var waves = lightness.waves + yellow.waves + red.waves
        if samples.hasAlpha {
            let alpha = Encoded(samples.alpha, small.size, 5, 5)
            bytes.append(UInt8(level(15 * alpha.mean, 15) | level(15 * alpha.scale, 15) << 4))
            waves += alpha.waves
        }
        for place in stride(from: 0, to: waves.count, by: 2) {
            let high = place + 1 < waves.count ? level(15 * waves[place + 1], 15) : 0
            bytes.append(UInt8(level(15 * waves[place], 15) | high << 4))
        }
        try self.init(bytes)
    }

    /// The four channels of the image, with the average color behind transparent pixels.
    private struct Samples {
        var lightness: [Double] = []
        var yellow: [Double] = []
        var red: [Double] = []
        var alpha: [Double] = []
        let hasAlpha: Bool

        init(_ pixels: PixelBuffer) {
            let bytes = pixels.packedBytes()
            // Sum premultiplied values, because they're already weighted by alpha.
            let colors = stride(from: 0, to: bytes.count, by: 4).map { place -> SIMD4<Double> in
                let samples = SIMD4(bytes[place], bytes[place + 1], bytes[place + 2], bytes[place + 3])
                return SIMD4<Double>(samples) / 255
            }
            var sum = SIMD4<Double>.zero
            for color in colors { sum += color }
            let average: SIMD4<Double> = sum.w > 0 ? sum / sum.w : .zero
            hasAlpha = bytes.indices.contains { $0 % 4 == 3 && bytes[$0] < 255 }
            for color in colors {
                let filled = color + average * (1 - color.w)
                lightness.append((filled.x + filled.y + filled.z) / 3)
                yellow.append((filled.x + filled.y) / 2 - filled.z)
                red.append(filled.x - filled.y)
                alpha.append(color.w)
            }
        }
    }

    /// The components of a channel, scaled to 0...1 around 0.5, and the largest absolute value.
    private struct Encoded {
        let mean: Double
        let scale: Double
        let waves: [Double]

        init(_ samples: [Double], _ size: PixelSize, _ columns: Int, _ rows: Int) {
            let across = CosineTable(components: columns, length: size.width, offset: 0.5)
            let down = CosineTable(components: rows, length: size.height, offset: 0.5)
            func wave(_ column: Int, _ row: Int) -> Double {
                var sum = 0.0
                for y in 0..<size.height {
                    for x in 0..<size.width { sum += samples[y * size.width + x] * across[column, x] * down[row, y] }
                }
                return sum / Double(samples.count)
            }
            let found = Channel.componentIndices(columns: columns, rows: rows).map { wave($0.x, $0.y) }
            let largest = found.map { abs($0) }.max() ?? 0
            mean = wave(0, 0)
            scale = largest
            waves = largest > 0 ? found.map { 0.5 + 0.5 / largest * $0 } : found
        }
    }
}
