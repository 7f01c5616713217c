// SPDX-License-Identifier: MIT

/// How pixels lie in memory: R, G, B, A in this order, colour multiplied by alpha, sRGB.
public enum PixelFormat: Sendable, Hashable, Codable {
    /// Four bytes a pixel.
    case rgba8
    /// Four 16-bit samples a pixel in the machine's byte order; only where the source's depth was asked for.
    case rgba16

    /// Bytes of one pixel.
    public var bytesPerPixel: Int {
        switch self {
        case .rgba8: 4
        case .rgba16: 8
        }
    }

    /// Rows begin at multiples of this many bytes, so that vector loads never straddle two rows.
    public static let rowAlignment = 32

    /// Distance between the beginnings of two rows for a picture `width` pixels wide; nil on overflow.
    public func bytesPerRow(width: Int) -> Int? {
        let (bytes, overflow) = width.multipliedReportingOverflow(by: bytesPerPixel)
        guard !overflow, bytes <= Int.max - Self.rowAlignment else { return nil }
        return (bytes + Self.rowAlignment - 1) / Self.rowAlignment * Self.rowAlignment
    }
}
