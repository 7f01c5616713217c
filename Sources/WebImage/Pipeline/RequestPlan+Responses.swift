// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

extension RequestPlan {
    /// Requests for other sizes can share the data, so the size is checked when the image is decoded.
    func check(_ original: OriginalData) throws(ImageError) {
        // The pixels of an image that the application created were checked already.
        guard original.image == nil else { return }
        try coders.check(
            original.probe, of: original.data, options: request.hintedOptions, limits: limits, anySize: true)
    }

    func loadRequest(_ step: CacheAction) -> LoadRequest {
        switch step {
        case .revalidate(let fields):
            var request = loadRequest(fields)
            request.acceptsNotModified = true
            return request
        case .fetch(let fields): return loadRequest(fields)
        case .use, .useStale, .gatewayTimeout: return loadRequest(request.headers)
        }
    }

    func loadRequest(_ fields: HTTPHeaderFields) -> LoadRequest {
        var load = LoadRequest(url: request.url, headers: fields, maxByteCount: limits.maxEncodedBytes)
        load.network = request.network
        load.setOrigin(cacheKey: keys.data, rules: settings.rules)
        if !request.userInfo.isEmpty { load.userInfo = request.userInfo }
        if !request.isPlainGet {
            load.method = request.method
            load.body = request.body
        }
        return load
    }

    func storedHead(
        _ head: HTTPResponseHead, of response: LoadResponse, requested: Date, responded: Date
    ) -> StoredResponseHead {
        var stored = StoredResponseHead(
            request: http.selectingHeaders, response: head, finalURL: response.url.absoluteString,
            requestTime: requested, responseTime: responded)
        stored.varyHeaders = StoredResponseHead.selectingHeaders(
            request: http.selectingHeaders, response: head.headers, separating: http.separating)
        // A redirect without freshness must be sent again even if its target is fresh (RFC 9110 15.4.3).
        stored.limitFreshness(byRedirects: response.redirects)
        return stored
    }
}
