// SPDX-License-Identifier: MIT

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// A pixel with straight alpha.
public struct RGBA: Sendable {}

/// An image without padding between its rows. The real initializer has the same precondition.
public struct Image<Pixel>: Equatable, Sendable {
    public var width: Int
    public var height: Int
    public var bytes: [UInt8]

    public init(width: Int, height: Int, bytes: [UInt8]) {
        precondition(bytes.count == width * height * 4, "incorrect number of bytes")
        self.width = width
        self.height = height
        self.bytes = bytes
    }
}
