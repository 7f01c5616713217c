// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore

/// Pictures as bytes, for servers.
extension ImageManager {
    /// The picture for `request`, as bytes of `encoding`. Cancelling the calling Swift task cancels the request.
    ///
    /// Equal encodings asked for at the same time are made once. What was encoded is kept on disk as an entry of its own and
    /// given out from there next time without decoding, as long as the original is at hand, unchanged, and fresh by HTTP;
    /// off with ``ImageManagerConfiguration/Cache/storesEncodings``, for one request with ``ImageRequest/stores``, and where
    /// an interceptor may answer, for files, data URLs and answers that may not be stored.
    ///
    /// The original bytes are used where the encoding can: they give EXIF and XMP where it keeps them, and for a request
    /// without transformers and size they answer ``ImageFormat/automatic`` as they are where nothing has to change, and are
    /// taken over without loss where the format can hold them (JPEG in JPEG XL).
    ///
    /// - Throws: why there is none; a ``LimitError`` of kind overloaded at once where
    ///   ``ImageManagerConfiguration/queueLimit`` is reached.
    public func data(for request: ImageRequest, encodedAs encoding: ImageEncoding) async throws(ImageError) -> Data {
        let plan = await pipeline.plan(request).verified()
        let place = try pipeline.admit(plan, encoding)
        defer { pipeline.release(place) }
        return try await EncodingRun(plan, encoding, pipeline).data()
    }
}
