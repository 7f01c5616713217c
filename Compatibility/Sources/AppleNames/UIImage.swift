// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// An image with the interface of UIKit, which contains a `DecodedImage`.
///
/// Two images are equal if they contain the same pixel buffer, as is the case for hits in the memory cache.
open class UIImage: Hashable, @unchecked Sendable {
    // Safe: neither this class nor `SDAnimatedImage` has a variable, and a `DecodedImage` is immutable. A subclass of a
    // program must not add variables.

    /// The image of WebImage.
    public let decoded: DecodedImage

    /// Creates an image from an image of WebImage.
    public required init(decoded: DecodedImage) { self.decoded = decoded }

    /// Decodes an image. Returns `nil` if the data isn't a valid image within the limits.
    public convenience init?(data: Data) { self.init(data: data, scale: 1) }

    /// Decodes an image with a scale, in pixels per point. Returns `nil` if the data isn't a valid image within the limits.
    public required convenience init?(data: Data, scale: CGFloat) {
        var options = ImageDecodingOptions()
        options.scale = Double(scale)
        guard let decoded = try? DecodedImage(data: data, options: options) else { return nil }
        self.init(decoded: decoded)
    }

    /// Decodes a file. Returns `nil` if the file doesn't contain a valid image within the limits.
    public convenience init?(contentsOfFile path: String) {
        guard let decoded = try? DecodedImage(contentsOf: URL(filePath: path)) else { return nil }
        self.init(decoded: decoded)
    }

    /// The size, in points.
    public var size: CGSize {
        CGSize(width: Double(decoded.size.width) / decoded.scale, height: Double(decoded.size.height) / decoded.scale)
    }

    /// The number of pixels per point.
    public var scale: CGFloat { CGFloat(decoded.scale) }

    /// The pixels of the image or of its poster frame.
    public var cgImage: CGImage? { decoded.pixels }

    /// The frames of an animation, or `nil` for a still image. This property decodes all frames.
    public var images: [UIImage]? {
        guard let animation = decoded.animation else { return nil }
        return (0..<animation.frameCount).compactMap { index in
            guard let pixels = try? animation.frame(at: index) else { return nil }
            return UIImage(decoded: DecodedImage(pixels: pixels, scale: decoded.scale))
        }
    }

    /// The duration of one loop of an animation, in seconds, or 0 for a still image.
    public var duration: TimeInterval {
        decoded.animation.map { $0.frameDurations.reduce(.zero, +) / .seconds(1) } ?? 0
    }

    /// Returns the image as a PNG file, or `nil` if it can't be encoded.
    public func pngData() -> Data? { try? decoded.selecting(.first).encoded(as: .png) }

    /// Returns the image as a JPEG file, or `nil` if it can't be encoded. The quality is 0 to 1.
    public func jpegData(compressionQuality: CGFloat) -> Data? {
        try? decoded.selecting(.first).encoded(as: .jpeg(quality: Int((compressionQuality * 100).rounded())))
    }

    /// Returns whether both images contain the same pixel buffer.
    public static func == (left: UIImage, right: UIImage) -> Bool { left.decoded.pixels === right.decoded.pixels }

    /// Hashes the identity of the pixel buffer.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(decoded.pixels)) }
}

/// The pixels of an image, which have a `width` and a `height`.
public typealias CGImage = PixelBuffer
/// The name of the class in AppKit.
public typealias NSImage = UIImage

/// A color in sRGB. All components are 0 to 1.
public struct UIColor: Hashable, Sendable {
    /// The color of WebImage, with eight bits per component.
    public let pixelColor: PixelColor

    /// Creates a color from a color of WebImage.
    public init(_ pixelColor: PixelColor) { self.pixelColor = pixelColor }

    /// Creates a color. Components are limited to 0 to 1.
    public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
        func byte(_ value: CGFloat) -> UInt8 { UInt8((min(max(value, 0), 1) * 255).rounded()) }
        pixelColor = PixelColor(red: byte(red), green: byte(green), blue: byte(blue), alpha: byte(alpha))
    }

    /// Creates a gray color.
    public init(white: CGFloat, alpha: CGFloat) { self.init(red: white, green: white, blue: white, alpha: alpha) }

    /// Returns the color with another alpha.
    public func withAlphaComponent(_ alpha: CGFloat) -> UIColor {
        var color = pixelColor
        color.alpha = UIColor(white: 0, alpha: alpha).pixelColor.alpha
        return UIColor(color)
    }

    /// Black.
    public static let black = UIColor(.black)
    /// White.
    public static let white = UIColor(.white)
    /// Transparent.
    public static let clear = UIColor(.clear)
    /// Red.
    public static let red = UIColor(red: 1, green: 0, blue: 0, alpha: 1)
    /// Green.
    public static let green = UIColor(red: 0, green: 1, blue: 0, alpha: 1)
    /// Blue.
    public static let blue = UIColor(red: 0, green: 0, blue: 1, alpha: 1)
    /// Yellow.
    public static let yellow = UIColor(red: 1, green: 1, blue: 0, alpha: 1)
    /// Gray with half of the intensity of white.
    public static let gray = UIColor(white: 0.5, alpha: 1)
}

/// The name of the class in AppKit.
public typealias NSColor = UIColor

/// Corners of a rectangle.
public struct UIRectCorner: OptionSet, Hashable, Sendable {
    /// The bits of the corners.
    public let rawValue: UInt

    /// Creates a set of corners from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The top left corner.
    public static let topLeft = UIRectCorner(rawValue: 1)
    /// The top right corner.
    public static let topRight = UIRectCorner(rawValue: 2)
    /// The bottom left corner.
    public static let bottomLeft = UIRectCorner(rawValue: 4)
    /// The bottom right corner.
    public static let bottomRight = UIRectCorner(rawValue: 8)
    /// All corners.
    public static let allCorners = UIRectCorner(rawValue: .max)

    package var corners: StandardTransformer.Corners {
        var corners: StandardTransformer.Corners = []
        if contains(.topLeft) { corners.insert(.topLeading) }
        if contains(.topRight) { corners.insert(.topTrailing) }
        if contains(.bottomLeft) { corners.insert(.bottomLeading) }
        if contains(.bottomRight) { corners.insert(.bottomTrailing) }
        return corners
    }
}
