// SPDX-License-Identifier: MIT

/// A color in straight (not premultiplied) sRGB, with 8 bits per channel.
public struct PixelColor: Sendable, Hashable, Codable {
    /// The red channel, from 0 to 255.
    public var red: UInt8
    /// The green channel, from 0 to 255.
    public var green: UInt8
    /// The blue channel, from 0 to 255.
    public var blue: UInt8
    /// The alpha channel, from 0 (transparent) to 255 (opaque).
    public var alpha: UInt8

    /// Creates a color. By default, it's opaque.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Opaque black.
    public static let black = PixelColor(red: 0, green: 0, blue: 0)
    /// Opaque white.
    public static let white = PixelColor(red: 255, green: 255, blue: 255)
    /// Transparent black.
    public static let clear = PixelColor(red: 0, green: 0, blue: 0, alpha: 0)

    /// The color in the form `#rrggbbaa`.
    var hexadecimal: String {
        "#"
            + [red, green, blue, alpha].map { channel in
                (channel < 16 ? "0" : "") + String(channel, radix: 16)
            }.joined()
    }

    /// Returns the premultiplied channels with alpha last, from 0 to `maximum`.
    func premultiplied(maximum: Float) -> [Float] {
        let opacity = Float(alpha) / 255
        return [red, green, blue].map { Float($0) / 255 * maximum * opacity } + [maximum * opacity]
    }
}
