// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

extension DecodedImage {
    /// Decodes an image with the standard coders. This initializer blocks, so call it on a background thread.
    ///
    /// - Parameters:
    ///   - data: The whole file.
    ///   - options: The decoding options. The default decodes all frames at the size of the image.
    ///   - limits: The limits for the image. The default is ``ImageLimits/desktop``.
    /// - Throws: ``ImageError/decoding(_:)`` or ``ImageError/limitExceeded(_:)``.
    public convenience init(
        data: Data, options: ImageDecodingOptions = ImageDecodingOptions(), limits: ImageLimits = .desktop
    ) throws(ImageError) {
        let context = ImageProcessingContext(limits: limits, scale: options.scale)
        self.init(copying: try ImageCoderRegistry.standard.decode(data, options: options, context: context))
    }

    /// Reads and decodes an image file with the standard coders. This initializer blocks, so call it on a background
    /// thread.
    ///
    /// - Parameters:
    ///   - file: The URL of a regular file.
    ///   - options: The decoding options. The default decodes all frames at the size of the image.
    ///   - limits: The limits for the file and the image. The default is ``ImageLimits/desktop``.
    /// - Throws: ``ImageError/RequestFailure/fileNotFound(path:)``,
    ///   ``ImageError/RequestFailure/fileUnreadable(path:errno:)``, or an error of ``init(data:options:limits:)``.
    public convenience init(
        contentsOf file: URL, options: ImageDecodingOptions = ImageDecodingOptions(), limits: ImageLimits = .desktop
    ) throws(ImageError) {
        let path = file.absoluteURL.path(percentEncoded: false)
        let data = try ImageFile.contents(of: path, limit: limits.maxEncodedBytes)
        try self.init(data: data, options: options, limits: limits)
    }

    /// Returns the image at another size. This method blocks, so call it on a background thread.
    ///
    /// To decode an image at a smaller size, prefer the size of ``ImageDecodingOptions``, which needs less time and memory.
    /// For other changes, call ``ImageTransformer/apply(to:context:)`` of a transformer.
    ///
    /// - Parameters:
    ///   - size: The size. Points are multiplied by the scale of the image. Only
    ///     ``TargetSize/exact(width:height:unit:)`` enlarges images.
    ///   - filter: The kernel and the light. The default is Lanczos-3, which reduces images in linear light.
    ///   - limits: The limits for the result. The default is ``ImageLimits/desktop``.
    /// - Throws: ``ImageError/limitExceeded(_:)``, or ``ImageError/RequestFailure/invalidSize(_:)`` if `size` isn't valid.
    public func resized(
        to size: TargetSize, filter: ResamplingFilter = .lanczos3, limits: ImageLimits = .desktop
    ) throws(ImageError) -> DecodedImage {
        try StandardTransformer.resize(size, filter: filter)
            .apply(to: self, context: ImageProcessingContext(limits: limits, scale: scale))
    }

    /// Encodes the image with the standard coders. This method blocks, so call it on a background thread.
    ///
    /// - Parameter encoding: The requested encoding.
    /// - Returns: The encoded image.
    /// - Throws: ``ImageError/processing(_:)``, ``ImageError/limitExceeded(_:)``, or ``ImageError/request(_:)`` if an
    ///   option isn't valid.
    public func encoded(as encoding: ImageEncoding) throws(ImageError) -> Data {
        try ImageCoderRegistry.standard.encode(self, as: encoding)
    }

    /// Encodes the image with the standard coders and writes it to a file, which is replaced atomically. This method
    /// blocks, so call it on a background thread.
    ///
    /// A file that is replaced keeps its mode. If `file` is a symbolic link, the link remains, and its target is written.
    ///
    /// - Parameters:
    ///   - file: The URL of the file.
    ///   - encoding: The requested encoding. The default is `nil`, which uses the default encoding of the format that
    ///     the file name extension stands for.
    /// - Throws: An error of ``encoded(as:)``, ``ImageError/RequestFailure/invalidOption(name:value:)`` if `encoding`
    ///   is `nil` and the extension isn't known, ``ImageError/RequestFailure/unsupportedScheme(_:)`` if `file` isn't a
    ///   file URL, or ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)`` with the error number of the
    ///   operating system if the file can't be written.
    public func write(to file: URL, as encoding: ImageEncoding? = nil) throws(ImageError) {
        let format = ImageFormat(fileExtension: file.pathExtension)
        guard let encoding = encoding ?? format.map({ ImageEncoding(format: $0) }) else {
            throw .request(.invalidOption(name: "file name extension", value: file.pathExtension))
        }
        try ImageFile.write(try encoded(as: encoding), to: file)
    }
}
