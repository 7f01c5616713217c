// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

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
    /// The encoding decides on the colors. If its `color` is `source`, which is the
    /// default, an image whose gamut exceeds sRGB keeps it in formats that can describe it, although
    /// `color` of the decoding options is `sRGB`. To convert such images, set the color of the
    /// encoding to `sRGB`. Transformers that change colors, such as a tint, receive images in sRGB,
    /// unless the request sets another color space.
    ///
    /// Likewise, a gain map and the tones of PQ and HLG remain in formats that can store them, unless
    /// `preservesDynamicRange` of the encoding is `false` or a transformer changes colors.
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
        let requested = await pipeline.plan(request).verified()
        let plan = requested.preparing(for: encoding)
        return try await pipeline.perform(plan, as: .encoding, encoding) { [pipeline] (task) async throws(ImageError) in
            let output = try await EncodingRun(
                plan, narrow: requested === plan ? nil : requested, encoding, task, pipeline
            )
            .output()
            return plan.delivery(of: output, as: encoding)
        }
    }

    /// The result of a lookup of an encoded image.
    package enum StoredEncoding: Sendable {
        /// The stored encoded image.
        case found(EncodedImage)
        /// No encoded image is stored, but the decoded image is in memory, so its source isn't contacted.
        case imageInMemory
        /// The image isn't in memory, and no encoded image can be used.
        case missing
    }

    /// Looks up the result of ``encodedImage(for:as:)`` in memory and on disk.
    ///
    /// This method contacts neither the source nor custom tiers, and it decodes and encodes nothing. Only a found image
    /// counts in the statistics and is reported to the observers.
    package func storedEncoding(for request: ImageRequest, as encoding: ImageEncoding) async -> StoredEncoding {
        var request = request
        request.caching.readFrom.formIntersection([.memory, .disk])
        request.caching.originalReadFrom.formIntersection([.memory, .disk])
        let requested = pipeline.plan(request)
        // The version of a file must be read, and encodings of local sources aren't stored.
        guard !requested.isLocal else { return .missing }
        let verified = await requested.verified()
        let plan = verified.preparing(for: encoding)
        let run = EncodingRun(
            plan, narrow: verified === plan ? nil : verified, encoding, ImageTask(plan.request), pipeline)
        guard let output = await run.stored() else { return run.isImageInMemory ? .imageInMemory : .missing }
        do throws(ImageError) {
            let image = try await pipeline.perform(plan, as: .encoding, encoding) { (_) async throws(ImageError) in
                plan.delivery(of: output, as: encoding)
            }
            return .found(image)
        } catch {
            // The limit of requests in flight also applies to the request that loads the image.
            return .missing
        }
    }

    /// Loads the original data for a request without decoding it, with information about its source.
    ///
    /// This method loads the same data as ``data(for:)-(ImageRequest)``.
    ///
    /// - Parameter request: The request to load.
    /// - Returns: The encoded image as loaded.
    /// - Throws: An ``ImageError`` if the data can't be loaded.
    public func originalImage(for request: ImageRequest) async throws(ImageError) -> EncodedImage {
        let plan = pipeline.plan(request)
        return try await pipeline.perform(plan, as: .data) { [pipeline] (task) async throws(ImageError) in
            let original = try await pipeline.original(plan, task)
            let image = EncodedImage(
                original.data, as: .automatic, source: plan.sourceResponse(of: original.originalInfo))
            return (image, original.result)
        }
    }
}

extension RequestPlan {
    fileprivate func delivery(
        of output: EncodingRun.Output, as encoding: ImageEncoding
    ) -> ImagePipeline.Delivery<EncodedImage> {
        let image = EncodedImage(output.data, as: encoding, source: sourceResponse(of: output.originalInfo))
        let delivered = DeliveredResult(
            source: output.source, byteCount: output.data.count, imageSize: image.knownSize)
        return (image, delivered)
    }

    /// Returns the response that contained or last confirmed the original data, or `nil` if it came without HTTP.
    fileprivate func sourceResponse(of originalInfo: OriginalInfo?) -> EncodedImage.SourceResponse? {
        guard let stored = originalInfo?.head else { return nil }
        let freshness = stored.freshness(now: now, policy: defaults.httpCachePolicy)
        return EncodedImage.SourceResponse(
            head: stored.head, remainingLifetime: freshness.source == .none ? nil : .seconds(freshness.remaining))
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

    /// The response of the source, or `nil` if the image didn't come over HTTP or an interceptor could have replaced
    /// it.
    public let source: SourceResponse?

    /// Information about the source of an encoded image, from which a server can derive the header fields of its own
    /// response.
    public struct SourceResponse: Sendable, Hashable {
        /// The status code and the header fields of the response that contained the data, updated by later responses
        /// with the status code 304.
        public let head: HTTPResponseHead
        /// The time for which the response remains fresh, or `nil` if the response specifies none. The time is negative
        /// if the response is stale.
        public let remainingLifetime: Duration?
        /// The time of the last change of the data according to the source, or `nil` if the source doesn't specify a
        /// valid one.
        public var lastModified: Date? { head.headers["Last-Modified"].flatMap { HTTPDate.parse($0) } }
    }

    fileprivate var knownSize: PixelSize? { size.width > 0 && size.height > 0 ? size : nil }

    init(_ data: Data, as encoding: ImageEncoding, source: SourceResponse?) {
        let info = try? ImageInfo(data: data)
        self.data = data
        format = info?.format ?? encoding.formatOrAutomatic
        size = info?.size ?? PixelSize(width: 0, height: 0)
        self.source = source
    }
}
