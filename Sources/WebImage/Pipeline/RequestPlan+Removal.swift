// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP
import WebImageNet
import WebImageStore

extension RequestPlan {
    /// Removes the images and the data that the response to an unsafe request invalidates (RFC 9111 4.4), also if the
    /// response contains no image.
    ///
    /// For each URL, these are the results of GET requests with the header fields and options of this request, and of plain
    /// requests. Results of requests with other header fields that are part of the key remain.
    func removeInvalidated(by response: HTTPResponseHead?, to sent: LoadRequest) async {
        guard !request.isPlainGet, let response else { return }
        for url in CacheInvalidation.targets(method: sent.method, url: sent.url, response: response) {
            var keys: Set<CacheKey> = []
            for request in [request.fetching(url), ImageRequest(url: url)] {
                let target = RequestPlan(request, defaults)
                if keys.insert(target.keys.data).inserted { await target.removeCached() }
            }
        }
    }

    /// Removes everything that tiers contain for the data of the request: images of all sizes, and the data.
    func removeCached(from tiers: ImageCache.Tiers = .all) async {
        await removing(from: tiers) {
            if tiers.contains(.memory) {
                cache.removeFromMemory(keys.final)
                cache.removeAllFromMemory(of: keys.data)
            }
            await originalCache.remove(keys.data, matching: nil, from: tiers)
            if request.caching.processedEncoding != nil {
                await cache.remove(processedKey, matching: nil, from: tiers)
            }
            await cache.removeDerived(from: keys.allImages, in: tiers)
        }
    }

    /// Runs a removal of the data of the request and of everything that was made from it. Running requests don't store what
    /// is removed, and until `body` ends, requests don't find it in `tiers`.
    func removing(from tiers: ImageCache.Tiers = .all, _ body: () async -> Void) async {
        await originalCache.removing(keys.data, from: tiers) {
            if cache === originalCache { await body() } else { await cache.removing(keys.data, from: tiers, body) }
        }
    }
}
