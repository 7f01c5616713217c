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
        let plan = RequestPlan(engine.prepared(request), engine.defaults)
        let place = try engine.admit(plan, encoding)
        defer { engine.release(place) }
        let priority = LivePriority(plan.request.priority)
        if let data = await engine.storedEncoding(plan, encoding, priority: priority) { return data }
        var source = try await source(of: plan, encoding, priority)
        source.isStored = true
        let data = try await engine.encoded(source, plan, encoding, priority)
        if plan.request.waitsForStore { await plan.cache.flush() }
        return data
    }

    private func source(
        of plan: RequestPlan, _ encoding: ImageEncoding, _ priority: LivePriority
    ) async throws(ImageError) -> EncodingSource {
        let takesOriginal = plan.mayTakeOriginal(encoding)
        let (atOnce, known) = engine.atOnce(plan)
        if let image = atOnce?.image {
            guard takesOriginal, let original = await engine.lookUp(plan, priority: priority),
                original.resource.digest == image.resource?.digest
            else { return EncodingSource(image: image) }
            return EncodingSource(image: image, original: original.data)
        }
        var asking = plan.request
        asking.wantsData = takesOriginal || asking.wantsData
        let task = engine.start(
            RequestPlan(asking, engine.defaults, trace: plan.trace), known: known, isAdmitted: true)
        let response = try await finish(task)
        return EncodingSource(image: response.image, original: takesOriginal ? response.data : nil)
    }
}

extension RequestPlan {
    /// Whether the original bytes can be of use to an encoder.
    fileprivate func mayTakeOriginal(_ encoding: ImageEncoding) -> Bool {
        guard request.maker == nil else { return false }
        if encoding.metadata != .strip { return true }
        guard transformers.isEmpty, request.size == nil else { return false }
        return encoding.format == .automatic || encoding.isLossless
    }
}
