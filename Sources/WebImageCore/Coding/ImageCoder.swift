// SPDX-License-Identifier: MIT

import Foundation

/// A type that decodes and encodes an image format. The methods block, and any number of threads may call them at the
/// same time.
public protocol ImageCoder: Sendable {
    /// The name of the coder in registries and cache keys.
    ///
    /// Coders with the same name must produce the same pixels. The default is the name of the type. A coder with
    /// settings adds them to its name.
    var identifier: String { get }

    /// Returns whether the coder accepts data of `format`.
    ///
    /// - Parameters:
    ///   - format: The detected format, or `nil` if the library doesn't know the format.
    ///   - prefix: The first bytes of the data, up to 64, which identify unknown formats.
    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool

    /// Decodes an image.
    ///
    /// - Parameters:
    ///   - data: The whole file.
    ///   - info: The header of the file, or `nil` for formats that the library doesn't know.
    ///   - options: The size, the frames, the depth, and other options of the result.
    ///   - context: The limits and the cancellation. Call `checkCancellation()` regularly.
    /// - Returns: The premultiplied image at the requested size, with the EXIF orientation applied.
    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage

    /// Returns a decoder for a file that's still being received, or `nil` if previews aren't available. The default
    /// implementation returns `nil`.
    ///
    /// - Parameters:
    ///   - info: The header, which was checked against the limits.
    ///   - options: The options as for ``decode(_:info:options:context:)``. A progressive decoder shows only the
    ///     first frame.
    ///   - context: The limits.
    func makeProgressiveDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?

    /// Returns whether the coder encodes `format`. The default implementation returns `false`.
    func canEncode(_ format: ImageFormat) -> Bool

    /// Encodes an image. The default implementation throws ``ImageError/ProcessingFailure/noEncoder(_:)``.
    func encode(
        _ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext
    ) throws(ImageError) -> Data
}

/// A coder that can show the frames of an animation while the file is still being received.
package protocol GrowingAnimationCoder: ImageCoder {
    /// Returns a decoder whose previews have the complete frames that were received until then, or `nil` if only the
    /// first frame can be shown.
    ///
    /// The image of a preview is an animation as soon as two frames are complete. Its ``ImageAnimation/isComplete`` is
    /// `true` only after the end of the file was received.
    ///
    /// - Parameters:
    ///   - info: The header, which was checked against the limits.
    ///   - options: The decoding options. The decoder ignores the selection of frames.
    ///   - context: The limits, which also apply to frames that are requested later.
    func makeGrowingDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
}

/// A coder that converts some files without decoding their pixels.
package protocol TranscodingImageCoder: ImageCoder {
    /// Returns whether ``transcode(_:from:as:context:)`` may succeed.
    func canTranscode(_ source: ImageFormat, to target: ImageFormat) -> Bool

    /// Converts a whole file to another format without decoding its pixels, as JPEG XL does with JPEG. The file has the
    /// pixels to encode and the metadata to keep. The result is `nil` if the conversion isn't possible.
    func transcode(
        _ original: Data, from format: ImageFormat, as encoding: ImageEncoding, context: ImageProcessingContext
    ) throws(ImageError) -> Data?
}

/// A coder of a format in which only some files have previews.
package protocol PreviewInspectingCoder: ImageCoder {
    /// Returns whether the file that begins with `prefix` may have previews.
    ///
    /// If the result is `false`, the registry creates no progressive decoder, so a download retains no data for it.
    func mayHavePreviews(_ prefix: Data) -> Bool
}

extension ImageCoder {
    /// The name of the type, including its module.
    public var identifier: String { String(reflecting: Self.self) }

    /// Returns `nil`, which means that the coder doesn't support previews.
    public func makeProgressiveDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
    {
        nil
    }

    /// Returns `false`, which means that the coder encodes no format.
    public func canEncode(_ format: ImageFormat) -> Bool { false }

    /// Throws ``ImageError/ProcessingFailure/noEncoder(_:)``.
    public func encode(_ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        throw .processing(.noEncoder(encoding.formatOrAutomatic))
    }
}
