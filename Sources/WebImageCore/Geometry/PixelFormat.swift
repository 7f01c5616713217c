// SPDX-License-Identifier: MIT

/// The memory layout of pixels.
///
/// The samples are in the order R, G, B, A, with the color multiplied by alpha. They're in sRGB unless the decoding
/// options preserve the colors of the source.
public enum PixelFormat: Sendable, Hashable, Codable {
    /// Four bytes per pixel.
    case rgba8
    /// Four 16-bit samples per pixel in native byte order. Decoders use this format only if the request asks for the
    /// depth of the source.
    case rgba16

    /// The size of one pixel, in bytes.
    public var bytesPerPixel: Int { layout.bytesPerPixel }

    /// Creates the pixel format of the result for a source with `bitDepth` bits per sample.
    package init(bitDepth: Int, isPreserved: Bool) { self = isPreserved && bitDepth > 8 ? .rgba16 : .rgba8 }

    /// The alignment of rows in bytes, so that vector loads never straddle two rows.
    package static let rowAlignment = 32

    /// Returns the distance in bytes between the starts of two rows for an image of `width` pixels, or `nil` on
    /// overflow.
    package func bytesPerRow(width: Int) -> Int? {
        let (bytes, overflow) = width.multipliedReportingOverflow(by: bytesPerPixel)
        guard !overflow, bytes <= Int.max - Self.rowAlignment else { return nil }
        return (bytes + Self.rowAlignment - 1) / Self.rowAlignment * Self.rowAlignment
    }
}
