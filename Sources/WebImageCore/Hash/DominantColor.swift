// SPDX-License-Identifier: MIT

extension PixelBuffer {
    /// Returns the most frequent color of the image, including similar colors, for backgrounds and placeholders.
    ///
    /// The result is the mean of the fullest neighborhood in a histogram of a reduced copy. Pixels are weighted by
    /// their alpha. The result is opaque, or `nil` for a completely transparent image. This method blocks.
    ///
    /// - Throws: An error of ``ImageProcessingContext/checkCancellation()``, or
    ///   ``ImageError/DecodingFailure/Reason/outOfMemory(byteCount:)``.
    public func dominantColor(
        context: ImageProcessingContext = ImageProcessingContext()
    ) throws(ImageError) -> PixelColor? {
        let small = try reduced(to: 96, context: context)
        let everywhere = PixelRect(x: 0, y: 0, width: small.width, height: small.height)
        return ColorHistogram(small.colors(in: everywhere)).dominantColor
    }
}

/// A histogram of 16 × 16 × 16 cubes, each of which contains 16 values per channel.
struct ColorHistogram {
    private static let binsPerChannel = 16
    /// The sums of red, green, and blue, each multiplied by alpha, and the sum of alpha for each cube.
    private var cubes = [SIMD4<Double>](repeating: .zero, count: binsPerChannel * binsPerChannel * binsPerChannel)

    init(_ colors: [PixelColor]) {
        for color in colors where color.alpha > 0 {
            let index = Self.index(Int(color.red) / 16, Int(color.green) / 16, Int(color.blue) / 16)
            let value = SIMD4(Double(color.red), Double(color.green), Double(color.blue), 1)
            cubes[index] += value * (Double(color.alpha) / 255)
        }
    }

    /// The mean color of the fullest neighborhood, or `nil` if the histogram is empty.
    ///
    /// A neighborhood consists of a cube and half of each adjacent cube, so a color at the boundary of cubes isn't
    /// split.
    var dominantColor: PixelColor? {
        var best = SIMD4<Double>.zero
        for red in 0..<Self.binsPerChannel {
            for green in 0..<Self.binsPerChannel {
                for blue in 0..<Self.binsPerChannel where cubes[Self.index(red, green, blue)].w > 0 {
                    let sum = neighbourhood(red, green, blue)
                    if sum.w > best.w { best = sum }
                }
            }
        }
        guard best.w > 0 else { return nil }
        let mean = best / best.w
        return PixelColor(
            red: UInt8(min(255, mean.x.rounded())), green: UInt8(min(255, mean.y.rounded())),
            blue: UInt8(min(255, mean.z.rounded())))
    }

    private func neighbourhood(_ red: Int, _ green: Int, _ blue: Int) -> SIMD4<Double> {
        var sum = cubes[Self.index(red, green, blue)] * 0.5
        for r in max(0, red - 1)...min(Self.binsPerChannel - 1, red + 1) {
            for g in max(0, green - 1)...min(Self.binsPerChannel - 1, green + 1) {
                for b in max(0, blue - 1)...min(Self.binsPerChannel - 1, blue + 1) {
                    sum += cubes[Self.index(r, g, b)] * 0.5
                }
            }
        }
        return sum
    }

    private static func index(_ red: Int, _ green: Int, _ blue: Int) -> Int {
        (red * binsPerChannel + green) * binsPerChannel + blue
    }
}
