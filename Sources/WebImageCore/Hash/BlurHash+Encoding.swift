// SPDX-License-Identifier: MIT

import Glibc

extension BlurHash {
    /// Creates the hash of an image with the documented algorithm.
    ///
    /// This initializer blocks for a time that's proportional to the number of pixels × `componentsX`. Reduce large
    /// images first, because 100 pixels per side are sufficient.
    ///
    /// - Parameters:
    ///   - pixels: The image.
    ///   - componentsX: The number of horizontal components, from 1 to 9. The default is 4.
    ///   - componentsY: The number of vertical components, from 1 to 9. The default is 3.
    ///   - background: The color behind transparent pixels, because the format doesn't support alpha. The default is
    ///     white.
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if a number of
    ///   components is out of range, or ``ImageError/limitExceeded(_:)`` if the computation exceeds
    ///   the timeout ``ImageLimits/maxDecodingTime`` of ``ImageLimits/desktop``.
    public init(
        encoding pixels: PixelBuffer, componentsX: Int = 4, componentsY: Int = 3, background: PixelColor = .white
    ) throws(ImageError) {
        let context = ImageProcessingContext()
        let check = ParameterValidator(transformer: "blurHash")
        for (name, count) in [("componentsX", componentsX), ("componentsY", componentsY)] where !(1...9 ~= count) {
            throw check.invalid(name, "\(count)")
        }
        let waves = try Self.waves(
            in: pixels, componentsX, componentsY, SIMD3(background.red, background.green, background.blue), context)
        var digits = [componentsX - 1 + (componentsY - 1) * 9]
        let largest = waves.dropFirst().map { max(abs($0.x), abs($0.y), abs($0.z)) }.max() ?? 0
        let level = waves.count == 1 ? 0 : max(0, min(82, Int((largest * 166 - 0.5).rounded(.down))))
        digits.append(level)
        let color = [waves[0].x, waves[0].y, waves[0].z].reduce(0) { $0 << 8 | Int(SRGB.stored($1)) }
        digits += Base83.digits(color, count: 4)
        let unit = Double(level + 1) / 166
        for wave in waves.dropFirst() {
            let levels = [wave.x, wave.y, wave.z].map { value in
                let root = copysign(abs(value / unit).squareRoot(), value)
                return max(0, min(18, Int((root * 9 + 9.5).rounded(.down))))
            }
            digits += Base83.digits(levels[0] * 361 + levels[1] * 19 + levels[2], count: 2)
        }
        try self.init(Base83.text(digits))
    }

    private static func waves(
        in pixels: PixelBuffer, _ xComponents: Int, _ yComponents: Int, _ background: SIMD3<UInt8>,
        _ context: ImageProcessingContext
    ) throws(ImageError) -> [SIMD3<Double>] {
        let source = try pixels.converted(to: .rgba8, context: context)
        let across = CosineTable(components: xComponents, length: source.width, offset: 0)
        let down = CosineTable(components: yComponents, length: source.height, offset: 0)
        var sums = [SIMD3<Double>](repeating: .zero, count: xComponents * yComponents)
        let linear = SRGB.linear
        var checkpoints = CancellationChecker(context)
        for y in 0..<source.height {
            try checkpoints.count(pixels: source.width * 8)
            var line = [SIMD3<Double>](repeating: .zero, count: xComponents)
            source.withRow(y) { from in
                let row = from.samples8
                for x in 0..<source.width {
                    let (p, rest) = (row + x * 4, Int(255 - row[x * 4 + 3]))
                    func light(_ channel: Int) -> Double {
                        linear[min(255, Int(p[channel]) + (rest * Int(background[channel]) + 127) / 255)]
                    }
                    let color = SIMD3(light(0), light(1), light(2))
                    for i in 0..<xComponents { line[i] += color * across[i, x] }
                }
            }
            for j in 0..<yComponents {
                for i in 0..<xComponents { sums[j * xComponents + i] += line[i] * down[j, y] }
            }
        }
        let area = Double(source.width) * Double(source.height)
        return sums.enumerated().map { $1 * (($0 == 0 ? 1 : 2) / area) }
    }
}
