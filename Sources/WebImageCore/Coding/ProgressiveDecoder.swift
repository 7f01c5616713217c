// SPDX-License-Identifier: MIT

import Foundation

/// Decodes one picture while its bytes come in. Made by ``ImageCoder/progressiveDecoder(probe:options:context:)`` after
/// the header was checked against the limits. Methods block; they are called by one thread at a time, which may be
/// another one each time.
public protocol ProgressiveDecoder: AnyObject, Sendable {
    /// Takes the bytes that follow those taken before. What was taken is not asked for again and not read again.
    ///
    /// - Parameters:
    ///   - isLast: whether nothing follows.
    ///   - context: limits and cancellation of this call; call `checkpoint()` now and then.
    /// - Throws: family 4xxx and 6xxx, ``RequestError/cancelled``. After that the decoder is of no use any more.
    func append(_ bytes: Data, isLast: Bool, context: CodingContext) throws(ImageError)

    /// The picture as far as it came; nil where there is nothing to see, or nothing new since the call before.
    ///
    /// Previews have 8 bits a sample. After the last bytes this is the picture as ``ImageCoder`` decodes it with 8 bits
    /// from the whole file.
    func preview(context: CodingContext) throws(ImageError) -> Preview?
}

/// A picture of which a part has come.
public struct Preview: Sendable {
    /// The pixels, upright and at the asked size. Where nothing came yet they are transparent.
    public var image: Image
    /// Rows of the stored picture that show something, counted from the top (from the bottom where a BMP stores them so).
    public var rows: Int
    /// Scans (JPEG) or passes (PNG, GIF, JPEG XL) over the picture that are whole; 0 until the first is.
    public var passes: Int
    /// Scans or passes in all; nil where the header does not say.
    public var passCount: Int?
    /// How much of the picture is there, 0 to 1: rows, passes, or in JPEG scans the known bits of the coefficients.
    public var fraction: Double
    /// Whether this is the final picture.
    public var isComplete: Bool

    /// Creates a preview.
    public init(
        image: Image, rows: Int, passes: Int = 0, passCount: Int? = 1, fraction: Double, isComplete: Bool = false
    ) {
        self.image = image
        self.rows = rows
        self.passes = passes
        self.passCount = passCount
        self.fraction = fraction
        self.isComplete = isComplete
    }

    /// Whether something is to be seen in every row, however coarse.
    public var coversPicture: Bool { rows >= image.metadata.rawSize.height }
}

/// What the beginning of a file is good for.
public enum ProgressiveStart: Sendable {
    /// Its header is known. The decoder has taken nothing yet.
    case decoder(any ProgressiveDecoder, ImageProbe)
    /// At least so many bytes in all are needed to say more.
    case needsMore(byteCount: Int)
    /// No coder makes previews of this format, or of what is wanted of it.
    case unavailable
}
