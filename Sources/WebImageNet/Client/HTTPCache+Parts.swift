// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

/// Parts of representations (RFC 9111 3.3, 3.4). They lie beside the whole answers, so that who asks for a whole never
/// meets one: the latest part of each variant.
extension HTTPCache {
    /// What parts are stored under. No key of a whole has a fragment.
    static func partKey(_ url: URL) -> String { key(url) + "#part" }

    /// The stored part, where it answers `request` and is newer than the stored whole. It is never revalidated: what
    /// confirms a part is no cheaper than the part.
    func part(
        for request: RequestHead, url: URL, newerThan whole: StoredResponse?, mode: HTTPCacheMode, now: Date
    ) async -> Lookup? {
        guard request.range != nil,
            let stored = await store.response(for: Self.partKey(url), matching: selecting(request)),
            whole.map({ $0.head.responseTime < stored.head.responseTime }) ?? true
        else { return nil }
        let step = CacheStep.make(request, mode: mode, stored: stored.head, policy: policy, now: now)
        switch step {
        case .use, .useStale(revalidatesBehind: false): return Lookup(step: step, stored: stored)
        case .useStale, .revalidate, .fetch, .gatewayTimeout: return nil
        }
    }

    /// Stores a 206; a part that completes the one before it makes a whole of both.
    func storePart(
        _ answer: HTTPTransportResponse, for request: RequestHead, url: URL, epoch: UInt64?
    ) async -> Bool {
        let fields = selecting(request)
        let head = StoredHead(
            request: fields, response: answer.head, finalURL: url.absoluteString,
            requestTime: answer.requestTime,
            responseTime: answer.responseTime)
        guard StoredHead.isStorablePart(request: request.fields, response: answer.head), let range = request.range,
            let part = StoredPart(storing: head, range: range, size: answer.body.count)
        else { return false }
        let key = Self.partKey(url)
        var (current, body) = (part.completed ?? part.head, answer.body)
        if let stored = await store.response(for: key, matching: fields), let older = StoredPart(stored.head),
            let joined = older.joined(stored.body, with: part, answer.body)
        {
            (current, body) = joined
        }
        // Reading what was before takes time, in which it may have been invalidated.
        guard epoch == nil || epoch == self.epoch(of: url) else { return false }
        guard current.head.status == 200 else {
            return await put(current, body, request: fields, for: key, url: url, epoch: epoch)
        }
        await store.remove(matching: fields, for: key)
        return await put(current, body, request: fields, for: Self.key(url), url: url, epoch: epoch)
    }
}
