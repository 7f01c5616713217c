// SPDX-License-Identifier: MIT

/// The transform that makes the stored rows and columns of an image upright.
///
/// The raw values are those of EXIF tag 0x0112 (Exif 2.32, section 4.6.4). They describe the positions of the first
/// stored row and the first stored column in the upright image.
public enum ImageOrientation: Int, Sendable, Hashable, Codable, CaseIterable {
    /// No transform.
    case up = 1
    /// Mirrored left to right.
    case upMirrored = 2
    /// Rotated by 180°.
    case down = 3
    /// Mirrored top to bottom.
    case downMirrored = 4
    /// Mirrored along the main diagonal.
    case leftMirrored = 5
    /// An image that must be rotated by 90° clockwise.
    case right = 6
    /// Mirrored along the other diagonal.
    case rightMirrored = 7
    /// An image that must be rotated by 90° counterclockwise.
    case left = 8

    /// A Boolean value that indicates whether the transform swaps the width and the height.
    public var swapsDimensions: Bool { rawValue >= 5 }

    /// The orientation whose transform reverts that of this orientation.
    package var inverse: ImageOrientation {
        switch self {
        case .right: .left
        case .left: .right
        default: self
        }
    }

    /// Returns the size of an image with its orientation applied, for a stored size of `rawSize`.
    package func upright(_ rawSize: PixelSize) -> PixelSize {
        swapsDimensions ? rawSize.transposed : rawSize
    }
}
