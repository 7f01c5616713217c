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

    /// Creates a color from the notation of CSS: `#RGB`, `#RRGGBB`, or `#RRGGBBAA`. Letter case doesn't matter.
    ///
    /// Returns `nil` if the text has another form, such as a missing number sign.
    public init?(hex: String) {
        let text = Array(hex.utf8)
        guard text.first == UInt8(ascii: "#") else { return nil }
        let digits = text.dropFirst().compactMap { Self.value(ofDigit: $0) }
        guard digits.count == text.count - 1 else { return nil }
        switch digits.count {
        case 3: self.init(red: digits[0] * 17, green: digits[1] * 17, blue: digits[2] * 17)
        case 6, 8:
            let channels = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
            self.init(
                red: channels[0], green: channels[1], blue: channels[2], alpha: channels.count > 3 ? channels[3] : 255)
        default: return nil
        }
    }

    private static func value(ofDigit character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
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
