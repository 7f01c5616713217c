// SPDX-License-Identifier: MIT

import Foundation

/// Decodes and encodes one format. Methods block and may be called on any number of threads at once.
public protocol ImageCoder: Sendable {
    /// Names this coder in registries and in cache keys: coders of one name must give the same pixels. Default the type's
    /// name; a coder with settings adds them.
    var identifier: String { get }

    /// Whether this coder wants to try data of `format`; `prefix` holds its first bytes (at most 64) for formats
    /// that the library does not know.
    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool

    /// Decodes.
    ///
    /// - Parameters:
    ///   - data: the whole file.
    ///   - probe: its header; nil for formats that the library does not know.
    ///   - options: size, frames, depth.
    ///   - context: limits and cancellation; call `checkpoint()` now and then.
    /// - Returns: the picture, upright, premultiplied, at the asked size.
    func decode(_ data: Data, probe: ImageProbe?, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> Image

    /// A decoder for a file of which only the beginning is there; nil (the default) where there are no previews.
    ///
    /// - Parameters:
    ///   - probe: the header, checked against the limits.
    ///   - options: as for ``decode(_:probe:options:context:)``; a decoder shows the first frame only.
    ///   - context: limits.
    func progressiveDecoder(probe: ImageProbe, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> (any ProgressiveDecoder)?

    /// Whether this coder writes `format`. Default false.
    func canEncode(_ format: ImageFormat) -> Bool

    /// Encodes. The default throws ``TransformError/noEncoder(_:)``.
    func encode(_ image: Image, as encoding: ImageEncoding, context: CodingContext) throws(ImageError) -> Data

    /// Whether ``transcode(_:from:as:context:)`` may work. Default false.
    func canTranscode(_ source: ImageFormat, to target: ImageFormat) -> Bool

    /// The same picture in another file without decoding it, as JPEG XL holds JPEG; nil (the default) where that does
    /// not work.
    ///
    /// - Parameters:
    ///   - original: a whole file whose pixels are those to be encoded, with the metadata that are to be kept.
    ///   - format: the file's.
    ///   - encoding: what is wanted.
    ///   - context: limits and cancellation.
    func transcode(
        _ original: Data, from format: ImageFormat, as encoding: ImageEncoding, context: CodingContext
    ) throws(ImageError) -> Data?
}

extension ImageCoder {
    /// The type's name with its module.
    public var identifier: String { String(reflecting: Self.self) }

    /// No previews by default.
    public func progressiveDecoder(probe: ImageProbe, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> (any ProgressiveDecoder)?
    {
        nil
    }

    /// No format by default.
    public func canEncode(_ format: ImageFormat) -> Bool { false }

    /// Refuses by default.
    public func encode(_ image: Image, as encoding: ImageEncoding, context: CodingContext)
        throws(ImageError) -> Data
    {
        throw .transform(.noEncoder(encoding.format))
    }

    /// Nothing by default.
    public func canTranscode(_ source: ImageFormat, to target: ImageFormat) -> Bool { false }

    /// Nothing by default.
    public func transcode(
        _ original: Data, from format: ImageFormat, as encoding: ImageEncoding, context: CodingContext
    ) throws(ImageError) -> Data? {
        nil
    }
}
