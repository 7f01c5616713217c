// SPDX-License-Identifier: MIT

import Glibc

/// A placeholder of 6 to 166 characters, which encodes a few cosine components in linear light (Wolt, “BlurHash
/// Algorithm”).
public struct BlurHash: Sendable, Hashable, CustomStringConvertible {
    /// The characters of the hash.
    public let string: String
    /// The number of horizontal components including the constant one, from 1 to 9.
    package let componentsX: Int
    /// The number of vertical components including the constant one, from 1 to 9.
    package let componentsY: Int
    /// The average color, which the encoder computes in linear light.
    public let averageColor: PixelColor
    /// The linear red, green, and blue of each component, row by row. The constant component is the first one.
    let waves: [SIMD3<Double>]

    /// Creates a placeholder from its characters. The length, the digits, and the ranges must be valid.
    ///
    /// - Throws: ``ImageError/DecodingFailure/Reason/corrupted(_:)`` with the format `blurhash`.
    public init(_ string: String) throws(ImageError) {
        do throws(PlaceholderHashError) {
            try self.init(checking: string)
        } catch {
            throw error.error("blurhash")
        }
    }

    init(checking text: String) throws(PlaceholderHashError) {
        let digits = try Base83.digits(text)
        guard digits.count >= 6 else { throw .length(expected: 6, actual: digits.count) }
        guard digits[0] < 81 else { throw .invalidValue(name: "size digit", value: digits[0]) }
        componentsX = digits[0] % 9 + 1
        componentsY = digits[0] / 9 + 1
        let expected = 4 + 2 * componentsX * componentsY
        guard digits.count == expected else { throw .length(expected: expected, actual: digits.count) }
        let color = Base83.number(digits[2..<6])
        guard color < 1 << 24 else { throw .invalidValue(name: "average color", value: color) }
        let (red, green, blue) = (color >> 16, color >> 8 & 255, color & 255)
        averageColor = PixelColor(red: UInt8(red), green: UInt8(green), blue: UInt8(blue))
        var waves = [SIMD3(SRGB.linear[red], SRGB.linear[green], SRGB.linear[blue])]
        let largest = Double(digits[1] + 1) / 166
        for place in stride(from: 6, to: digits.count, by: 2) {
            let value = Base83.number(digits[place..<place + 2])
            guard value < 19 * 19 * 19 else { throw .invalidValue(name: "component", value: value) }
            let levels = SIMD3(Double(value / 361), Double(value / 19 % 19), Double(value % 19))
            let share = (levels - 9) / 9
            waves.append(share * SIMD3(abs(share.x), abs(share.y), abs(share.z)) * largest)
        }
        self.string = text
        self.waves = waves
    }

    /// The characters of the hash.
    public var description: String { string }

    /// Returns the rendered, opaque placeholder.
    ///
    /// This method blocks for some tens of milliseconds per megapixel. Request a small size and let the view enlarge
    /// it.
    ///
    /// - Parameters:
    ///   - size: The size of the result, in pixels.
    ///   - punch: The contrast factor, from 0 to 100. The default is 1, which preserves the contrast.
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if the size is empty
    ///   or `punch` is out of range, or ``ImageError/limitExceeded(_:)`` if the result exceeds ``ImageLimits/desktop``.
    public func pixels(size: PixelSize, punch: Double = 1) throws(ImageError) -> PixelBuffer {
        let context = ImageProcessingContext()
        let check = ParameterValidator(transformer: "blurHash")
        guard !size.isEmpty else { throw check.invalid("size", "\(size)") }
        let punch = try check.number(punch, "punch", in: 0...100)
        try context.limits.check(result: size, format: .rgba8)
        let canvas = try PixelCanvas(size: size, cleared: false)
        let across = CosineTable(components: componentsX, length: size.width, offset: 0)
        let down = CosineTable(components: componentsY, length: size.height, offset: 0)
        var checkpoints = CancellationChecker(context)
        for y in 0..<size.height {
            try checkpoints.count(pixels: size.width * 8)
            var line = [SIMD3<Double>](repeating: .zero, count: componentsX)
            for i in 0..<componentsX {
                for j in 0..<componentsY {
                    let factor: Double = down[j, y] * (i + j == 0 ? 1 : punch)
                    line[i] += waves[j * componentsX + i] * factor
                }
            }
            let row = (canvas.baseAddress + y * canvas.bytesPerRow).samples8
            for x in 0..<size.width {
                var light = SIMD3<Double>.zero
                for i in 0..<componentsX { light += line[i] * across[i, x] }
                for channel in 0..<3 { row[x * 4 + channel] = SRGB.stored(light[channel]) }
                row[x * 4 + 3] = 255
            }
        }
        canvas.clearPadding()
        return canvas.finish(isOpaque: true)
    }
}

/// The cosines for one direction: cos(π · wave · (position + offset) / length).
struct CosineTable {
    private let values: [Double]
    private let length: Int

    init(components: Int, length: Int, offset: Double) {
        self.length = length
        values = (0..<components).flatMap { wave in
            (0..<length).map { cos(.pi * Double(wave) * (Double($0) + offset) / Double(length)) }
        }
    }

    subscript(wave: Int, position: Int) -> Double { values[wave * length + position] }
}
