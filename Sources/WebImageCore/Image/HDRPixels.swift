// SPDX-License-Identifier: MIT

/// The pixels of an image for a display with a certain headroom.
///
/// To create them, use `DecodedImage.rendered(headroom:as:primaries:)`.
public struct HDRPixels: Sendable {
    /// The encodings of samples.
    public enum Encoding: String, Sendable, Hashable, CaseIterable {
        /// Linear light as 16-bit floating-point numbers, where 1 is the white of standard dynamic range.
        case linear
        /// 16-bit integers of the perceptual quantizer (BT.2100), where the white of standard dynamic range has 203 cd/m²
        /// (BT.2408).
        case pq
    }

    /// The primaries of samples. The raw values are the code points of ITU-T H.273.
    public enum Primaries: Int, Sendable, Hashable, CaseIterable {
        /// The primaries of sRGB and BT.709.
        case sRGB = 1
        /// The primaries of BT.2020 and BT.2100.
        case bt2020 = 9
        /// The primaries of Display P3.
        case displayP3 = 12
    }

    /// The encoding of the samples.
    public let encoding: Encoding
    /// The primaries of the samples.
    public let primaries: Primaries
    /// The headroom for which the pixels were made, as a factor of the standard white. No sample exceeds it.
    public let headroom: Double
    private let pixels: PixelBuffer

    /// Creates pixels from a buffer with 16 bits per sample in the encoding.
    package init(_ pixels: PixelBuffer, encoding: Encoding, primaries: Primaries, headroom: Double) {
        self.pixels = pixels
        self.encoding = encoding
        self.primaries = primaries
        self.headroom = headroom
    }

    /// The size in pixels.
    public var size: PixelSize { pixels.size }
    /// The distance between the starts of two rows in bytes.
    public var bytesPerRow: Int { pixels.bytesPerRow }
    /// A Boolean value that indicates whether every pixel is opaque.
    public var isOpaque: Bool { pixels.isOpaque }

    /// Calls `body` with the bytes of all rows. The pointer is valid only during the call.
    ///
    /// A pixel has four samples of two bytes in native byte order: red, green, blue, and alpha. The colors are multiplied
    /// by alpha, linear ones before and PQ ones after the encoding.
    public func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try pixels.withUnsafeBytes(body)
    }

    /// The image with these pixels, or `nil` if they're linear.
    ///
    /// The image can be transformed and encoded, for example as AVIF.
    public var image: DecodedImage? {
        guard encoding == .pq else { return nil }
        var metadata = ImageMetadata(storedSize: size)
        metadata.bitDepth = 16
        metadata.hasAlpha = !isOpaque
        metadata.color = .source
        metadata.colorPrimaries = primaries.rawValue
        metadata.transferCharacteristics = 16
        return DecodedImage(pixels: pixels, metadata: metadata)
    }
}
