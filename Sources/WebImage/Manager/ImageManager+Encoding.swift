// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore

/// Encoded images, for servers.
extension ImageManager {
    /// Loads the image for a request and returns it in an encoding.
    ///
    /// Canceling the calling Swift task cancels the request. Concurrent requests for the same encoding share the work.
    ///
    /// The manager stores the result as a separate disk entry. Later calls return this entry without decoding as long
    /// as the original data is available, unchanged, and fresh. To turn this off, set
    /// ``ImageManager/Configuration/storesEncodedImages``, or ``ImageRequest/CachingOptions/writeTo`` for one request.
    /// The manager doesn't store encodings for files, data URLs, responses that can't be stored, and requests that an
    /// interceptor can serve.
    ///
    /// The manager uses the original data if the encoding permits it. Encodings that preserve EXIF and XMP metadata
    /// take it from this data. If the request has neither transformers nor a size, ``ImageEncoding/automatic`` returns
    /// the data unchanged if no change is necessary, and formats that can contain the data without loss (such as JPEG
    /// XL for JPEG) transcode it without loss.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - encoding: The encoding of the result.
    /// - Returns: The encoded image.
    /// - Throws: An ``ImageError`` if the image can't be loaded or encoded. If the manager has reached its
    ///   ``ImageManager/Configuration/maxInFlightRequests``, this method immediately throws an
    ///   ``ImageError/LimitFailure`` of the kind overloaded.
    public func encodedImage(
        for request: ImageRequest, as encoding: ImageEncoding
    ) async throws(ImageError) -> EncodedImage {
        let plan = await pipeline.plan(request).verified()
        let place = try pipeline.admit(plan, encoding)
        defer { pipeline.release(place) }
        let data = try await pipeline.tracked(ImageTask(plan.request), as: .encoding) {
            [pipeline] () async throws(ImageError) -> Data in
            try await EncodingRun(plan, encoding, pipeline).data()
        }
        return EncodedImage(data, as: encoding)
    }
}

/// An encoded image, for example for the body of a response.
public struct EncodedImage: Sendable {
    /// The encoded data.
    public let data: Data
    /// The format of the data. For ``ImageEncoding/automatic``, it's the format that the manager chose.
    public let format: ImageFormat
    /// The width and height of the image in pixels, with the orientation applied.
    ///
    /// The size is zero if the format belongs to a custom coder and the library can't read its header.
    public let size: PixelSize
    /// The media type of the format, for a `Content-Type` header field. It's `application/octet-stream` for formats
    /// without a media type.
    public var mimeType: String { format.mimeType ?? "application/octet-stream" }

    init(_ data: Data, as encoding: ImageEncoding) {
        let info = try? ImageInfo(data: data)
        self.data = data
        format = info?.format ?? encoding.formatOrAutomatic
        size = info?.size ?? PixelSize(width: 0, height: 0)
    }
}
