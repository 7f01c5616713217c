// SPDX-License-Identifier: MIT

/// A colour: straight (not premultiplied) sRGB, 8 bits a channel.
public struct PixelColor: Sendable, Hashable, Codable {
    /// 0...255.
    public var red: UInt8
    /// 0...255.
    public var green: UInt8
    /// 0...255.
    public var blue: UInt8
    /// 0 (transparent) ... 255 (opaque).
    public var alpha: UInt8

    /// Creates a colour; opaque by default.
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

    /// `#rrggbbaa`.
    var hexadecimal: String {
        "#"
            + [red, green, blue, alpha].map { channel in
                (channel < 16 ? "0" : "") + String(channel, radix: 16)
            }.joined()
    }

    /// Premultiplied channels, alpha last, in 0...`maximum`.
    func premultiplied(maximum: Float) -> [Float] {
        let opacity = Float(alpha) / 255
        return [red, green, blue].map { Float($0) / 255 * maximum * opacity } + [maximum * opacity]
    }
}
