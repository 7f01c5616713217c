// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP
import WebImageNet

/// Storage of partial representations (RFC 9111 3.3, 3.4). The cache stores the latest part of each variant separately
/// from complete responses, so a request for a complete response never receives a part.
extension HTTPCache {
    /// Returns the key under which parts are stored. Keys of complete responses have no fragment, so the keys differ.
    static func partKey(_ url: URL) -> String { key(url) + "#part" }

    /// Parts are never revalidated, because revalidation costs as much as requesting the part again.
    func part(
        for request: RequestHead, url: URL, newerThan whole: StoredResponse?, mode: HTTPCacheMode, now: Date
    ) async -> Lookup? {
        guard request.range != nil,
            let stored = await store.response(for: Self.partKey(url), matching: selectingHeaders(request)),
            whole.map({ $0.head.responseTime < stored.head.responseTime }) ?? true
        else { return nil }
        let step = CacheAction.make(request, mode: mode, stored: stored.head, policy: policy, now: now)
        switch step {
        case .use, .useStale(revalidatesInBackground: false): return Lookup(step: step, stored: stored)
        case .useStale, .revalidate, .fetch, .gatewayTimeout: return nil
        }
    }

    /// Stores a 206 response. If the parts together are complete, they're stored as a complete response.
    func storePart(
        _ response: TransferResponse, for request: RequestHead, url: URL, epoch: UInt64?
    ) async -> Bool {
        let fields = selectingHeaders(request)
        let head = StoredResponseHead(
            request: fields, response: response.head, finalURL: url.absoluteString,
            requestTime: response.requestTime,
            responseTime: response.responseTime)
        guard StoredResponseHead.isStorablePart(request: request.headers, response: response.head),
            let range = request.range,
            let part = PartialResponse(storing: head, range: range, size: response.body.count)
        else { return false }
        let key = Self.partKey(url)
        var (current, body) = (part.completed ?? part.head, response.body)
        if let stored = await store.response(for: key, matching: fields), let older = PartialResponse(stored.head),
            let joined = older.joined(stored.body, with: part, response.body)
        {
            (current, body) = joined
        }
        // Check the epoch again, because the response may have been invalidated during the lookup.
        guard epoch == nil || epoch == self.epoch(of: url) else { return false }
        guard current.head.statusCode == 200 else {
            return await put(current, body, request: fields, for: key, url: url, epoch: epoch)
        }
        await store.remove(matching: fields, for: key)
        return await put(current, body, request: fields, for: Self.key(url), url: url, epoch: epoch)
    }
}
