// SPDX-License-Identifier: MIT

import Foundation

/// A type that decodes one image while its data is being received.
///
/// ``ImageCoder/makeProgressiveDecoder(info:options:context:)`` creates the decoder after the header was checked
/// against the limits. The methods block. Only one thread at a time calls them, but each call may come from a different
/// thread.
public protocol ProgressiveImageDecoder: AnyObject, Sendable {
    /// Appends data to the data that was appended before. The decoder never needs earlier data again.
    ///
    /// - Parameters:
    ///   - data: The next data of the file, which may be empty.
    ///   - isLast: Whether this is the end of the data.
    ///   - context: The limits and the cancellation of this call. Call `checkCancellation()` regularly.
    /// - Throws: An ``ImageError/DecodingFailure`` or an ``ImageError/LimitFailure``, or ``ImageError/cancelled``.
    ///   After an error, the decoder can't be used again.
    func append(_ data: Data, isLast: Bool, context: ImageProcessingContext) throws(ImageError)

    /// Returns the image as far as it's decoded, or `nil` if there's nothing to display or nothing new since the
    /// previous call.
    ///
    /// Previews have 8 bits per sample. After the last data, the result equals the image that ``ImageCoder`` decodes
    /// from the whole file with 8 bits per sample.
    func makePreview(context: ImageProcessingContext) throws(ImageError) -> ImagePreview?
}

/// A partially decoded image.
public struct ImagePreview: Sendable {
    /// The pixels at the requested size, with the EXIF orientation applied. Pixels that aren't decoded yet are
    /// transparent.
    public var image: DecodedImage
    /// The number of visible rows of the stored image, counted from the top. In a BMP file that stores its rows from
    /// the bottom, they're counted from the bottom.
    public var completedRows: Int
    /// The number of complete scans (JPEG) or passes (PNG, GIF, JPEG XL), starting at 0.
    public var completedPasses: Int
    /// The total number of scans or passes, or `nil` if the header doesn't declare it.
    package var passCount: Int?
    /// The decoded fraction of the image, from 0 to 1. It counts rows or passes or, for JPEG scans, the known bits of
    /// the coefficients.
    public var fractionCompleted: Double
    /// A Boolean value that indicates whether this is the final image.
    public var isComplete: Bool
    /// The fraction of the frequencies of the image that the preview contains, or `nil` if the decoder doesn't know it.
    package var detail: Double?

    /// Creates a preview.
    ///
    /// - Parameters:
    ///   - image: The pixels at the requested size. Pixels that aren't decoded yet are transparent.
    ///   - completedRows: The number of visible rows of the stored image.
    ///   - completedPasses: The number of complete scans or passes. The default is 0.
    ///   - fractionCompleted: The decoded fraction of the image, from 0 to 1.
    ///   - isComplete: Whether this is the final image. The default is `false`.
    public init(
        image: DecodedImage, completedRows: Int, completedPasses: Int = 0, fractionCompleted: Double,
        isComplete: Bool = false
    ) {
        self.init(
            image: image, completedRows: completedRows, completedPasses: completedPasses, passCount: 1,
            fractionCompleted: fractionCompleted, isComplete: isComplete)
    }

    /// Creates a preview with a value for each property.
    @_disfavoredOverload
    package init(
        image: DecodedImage, completedRows: Int, completedPasses: Int = 0, passCount: Int? = 1,
        fractionCompleted: Double, isComplete: Bool = false
    ) {
        self.image = image
        self.completedRows = completedRows
        self.completedPasses = completedPasses
        self.passCount = passCount
        self.fractionCompleted = fractionCompleted
        self.isComplete = isComplete
    }

    /// Whether every row is visible, even if only at low quality.
    package var coversImage: Bool { completedRows >= image.metadata.storedSize.height }
}

/// The result of inspecting the beginning of a file.
package enum ProgressiveStart: Sendable {
    /// A decoder that hasn't received any data yet, and the parsed header.
    case decoder(any ProgressiveImageDecoder, ImageInfo)
    /// A request for more data. A total of at least `byteCount` bytes is necessary to continue.
    case needsMore(byteCount: Int)
    /// No support for previews of this format or with these options.
    case unavailable
}
