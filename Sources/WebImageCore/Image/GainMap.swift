// SPDX-License-Identifier: MIT

/// A map of the gain by which each part of an image becomes brighter on a display with more headroom (ISO 21496-1).
///
/// The map covers the whole image, usually with fewer pixels.
public struct GainMap: Sendable {
    /// The samples of the map. Maps with one channel have equal red, green, and blue samples. Alpha is meaningless.
    public let pixels: PixelBuffer
    /// The numbers that describe the meaning of the samples.
    public let metadata: GainMapMetadata

    /// Creates a gain map.
    ///
    /// - Parameters:
    ///   - pixels: The samples of the map, in the orientation of the image.
    ///   - metadata: The numbers that describe the meaning of the samples.
    public init(pixels: PixelBuffer, metadata: GainMapMetadata) {
        self.pixels = pixels
        self.metadata = metadata
    }

    /// The size of the map, in pixels.
    public var size: PixelSize { pixels.size }

    /// Returns the map with other samples.
    package func with(pixels: PixelBuffer) -> GainMap { GainMap(pixels: pixels, metadata: metadata) }
}
