// SPDX-License-Identifier: MIT

/// How stored rows and columns must be turned to stand upright. Raw values are those of the EXIF tag
/// 0x0112 (Exif 2.32, section 4.6.4): they name where the stored first row and first column belong.
public enum Orientation: Int, Sendable, Hashable, Codable, CaseIterable {
    /// As stored.
    case up = 1
    /// Mirrored left to right.
    case upMirrored = 2
    /// Turned by 180°.
    case down = 3
    /// Mirrored top to bottom.
    case downMirrored = 4
    /// Mirrored along the main diagonal.
    case leftMirrored = 5
    /// Must be turned 90° clockwise to be upright.
    case right = 6
    /// Mirrored along the other diagonal.
    case rightMirrored = 7
    /// Must be turned 90° counter-clockwise to be upright.
    case left = 8

    /// True when width and height change places.
    public var swapsSides: Bool { rawValue >= 5 }

    /// The upright size of a picture stored with `rawSize`.
    public func upright(_ rawSize: PixelSize) -> PixelSize {
        swapsSides ? rawSize.transposed : rawSize
    }
}
