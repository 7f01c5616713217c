// SPDX-License-Identifier: MIT

import Glibc

/// A placeholder of at most 25 bytes that preserves alpha and the approximate aspect ratio.
///
/// It encodes cosine components of the lightness, two color differences, and alpha (Evan Wallace, “ThumbHash”).
public struct ThumbHash: Sendable, Hashable {
    /// The bytes of the hash.
    public let bytes: [UInt8]
    /// A Boolean value that indicates whether the image has transparent pixels.
    public let hasAlpha: Bool
    /// The approximate aspect ratio of the image (width ÷ height).
    public let aspectRatio: Double
    /// The channels: lightness, yellow to blue, red to green, and alpha.
    let channels: [Channel]

    /// A channel with its mean and its components.
    struct Channel: Hashable {
        let mean: Double
        let columns: Int
        let rows: Int
        /// The components, in the order of ``componentIndices(columns:rows:)``.
        let waves: [Double]

        /// Returns the components of a channel of this size except the constant one. They're located below the
        /// diagonal.
        static func componentIndices(columns: Int, rows: Int) -> [(x: Int, y: Int)] {
            (0..<rows).flatMap { y in
                (0..<columns).filter { x in x + y > 0 && x * rows < columns * (rows - y) }.map { ($0, y) }
            }
        }
    }

    /// Creates a placeholder from its bytes. The length must be valid.
    ///
    /// - Throws: ``ImageError/DecodingFailure/Reason/corrupted(_:)`` with the format `thumbhash`.
    public init(_ bytes: some Sequence<UInt8>) throws(ImageError) {
        do throws(PlaceholderHashError) {
            try self.init(checking: Array(bytes))
        } catch {
            throw error.error("thumbhash")
        }
    }

    init(checking bytes: [UInt8]) throws(PlaceholderHashError) {
        guard bytes.count >= 5 else { throw .length(expected: 5, actual: bytes.count) }
        let first = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
        let second = Int(bytes[3]) | Int(bytes[4]) << 8
        let hasAlpha = first >> 23 == 1
        let isLandscape = second >> 15 == 1
        let (long, short) = (hasAlpha ? 5 : 7, second & 7)
        guard 1...long ~= short else { throw .invalidValue(name: "number of components", value: short) }
        let columns = max(3, isLandscape ? long : short)
        let rows = max(3, isLandscape ? short : long)
        let shapes = [(columns, rows), (3, 3), (3, 3)] + (hasAlpha ? [(5, 5)] : [])
        let places = shapes.map { Channel.componentIndices(columns: $0.0, rows: $0.1).count }
        let head = hasAlpha ? 6 : 5
        let expected = head + (places.reduce(0, +) + 1) / 2
        guard bytes.count == expected else { throw .length(expected: expected, actual: bytes.count) }
        let alpha = hasAlpha ? Int(bytes[5]) : 15
        let means: [Double] = [
            Double(first & 63) / 63, Double(first >> 6 & 63) / 31.5 - 1, Double(first >> 12 & 63) / 31.5 - 1,
            Double(alpha & 15) / 15,
        ]
        // Multiply the color components by 1.25 to compensate for quantization.
        let scales: [Double] = [
            Double(first >> 18 & 31) / 31, Double(second >> 3 & 63) / 63 * 1.25,
            Double(second >> 9 & 63) / 63 * 1.25, Double(alpha >> 4) / 15,
        ]
        var nibble = 0
        channels = shapes.indices.map { index in
            let waves = (0..<places[index]).map { _ -> Double in
                defer { nibble += 1 }
                let level = bytes[head + nibble / 2] >> UInt8(nibble % 2 * 4) & 15
                return (Double(level) / 7.5 - 1) * scales[index]
            }
            return Channel(mean: means[index], columns: shapes[index].0, rows: shapes[index].1, waves: waves)
        }
        self.bytes = bytes
        self.hasAlpha = hasAlpha
        aspectRatio = isLandscape ? Double(long) / Double(short) : Double(short) / Double(long)
    }

    /// The straight average color.
    public var averageColor: PixelColor {
        func byte(_ value: Double) -> UInt8 { UInt8((max(0, min(1, value)) * 255).rounded()) }
        let (red, green, blue) = Self.color(channels[0].mean, channels[1].mean, channels[2].mean)
        return PixelColor(
            red: byte(red), green: byte(green), blue: byte(blue), alpha: hasAlpha ? byte(channels[3].mean) : 255)
    }

    /// The size in which the specification renders the placeholder. The longer side has 32 pixels.
    package var naturalSize: PixelSize {
        let ratio = aspectRatio
        return PixelSize(
            width: max(1, Int((ratio > 1 ? 32 : 32 * ratio).rounded())),
            height: max(1, Int((ratio > 1 ? 32 / ratio : 32).rounded())))
    }

    /// Returns the red, green, and blue of a lightness and two color differences.
    static func color(_ lightness: Double, _ yellow: Double, _ red: Double) -> (Double, Double, Double) {
        let b = lightness - 2 / 3 * yellow
        let r = (3 * lightness - b + red) / 2
        return (r, r - red, b)
    }
}
