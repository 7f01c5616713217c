// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP
import WebImageNet
import WebImageStore

/// A thread-safe private HTTP cache (RFC 9111) without network access.
///
/// The cache looks up, stores, updates, and invalidates responses. Pure functions in WebImageHTTP make the decisions,
/// and the store manages the data.
package final class HTTPCache: Sendable {
    /// The result of a cache lookup.
    package struct Lookup: Sendable {
        /// The action for the request.
        package var step: CacheAction
        /// The stored response that `Vary` selects, with its body, or `nil` on a cache miss.
        package var stored: StoredResponse?
    }

    /// The store of the responses.
    package let store: any HTTPResponseStore
    /// The policy of the cache.
    package let policy: HTTPCachePolicy
    private let log = InvalidationLog()

    /// Creates a cache.
    package init(store: any HTTPResponseStore, policy: HTTPCachePolicy = HTTPCachePolicy()) {
        self.store = store
        self.policy = policy
    }

    /// Looks up a request and returns the action for it.
    package func lookup(
        _ request: RequestHead, url: URL, mode: HTTPCacheMode = .default, now: Date
    ) async -> Lookup {
        let isLookedUp = request.mayUseStored && mode != .noStore && mode != .reload
        let stored = isLookedUp ? await store.response(for: Self.key(url), matching: selectingHeaders(request)) : nil
        if isLookedUp, let part = await part(for: request, url: url, newerThan: stored, mode: mode, now: now) {
            return part
        }
        return Lookup(
            step: .make(request, mode: mode, stored: stored?.head, policy: policy, now: now), stored: stored)
    }

    /// Returns a number that increases with each invalidation of `url`. Responses to requests from an earlier epoch
    /// are outdated.
    package func epoch(of url: URL) -> UInt64 { log.epoch(of: Self.key(url)) }

    /// Stores a response if a private cache may store it.
    ///
    /// The cache stores responses to GET requests and responses to POST requests that a later GET request may reuse. A
    /// 206 response is stored as a part and joined with the stored part if both certainly belong to the same
    /// representation. The previous stored response to the same request is removed even if the new response can't be
    /// stored, unless the new response is an error other than 404 or 410.
    ///
    /// - Parameter epoch: The value of ``epoch(of:)`` when the request was sent. A response that was invalidated in
    ///   the meantime isn't stored. `nil` disables this check.
    /// - Returns: `true` if the response is stored.
    @discardableResult
    package func store(
        _ response: TransferResponse, for request: RequestHead, url: URL, epoch: UInt64? = nil
    ) async -> Bool {
        let answersGet = request.method == "POST" && StoredResponseHead.canServeGet(post: url, response: response.head)
        guard request.method == "GET" || answersGet, !CacheControl(request.headers).noStore,
            epoch == nil || epoch == self.epoch(of: url)
        else { return false }
        if response.head.statusCode == 206 { return await storePart(response, for: request, url: url, epoch: epoch) }
        let key = Self.key(url)
        let fields = selectingHeaders(request)
        guard StoredResponseHead.isStorable(method: "GET", request: request.headers, response: response.head) else {
            let status = response.head.statusCode
            let isSuperseded = (200...399).contains(status) && status != 304
            let isGone = status == 404 || status == 410
            if isSuperseded || isGone { await store.remove(matching: fields, for: key) }
            return false
        }
        let head = StoredResponseHead(
            request: fields, response: response.head, finalURL: url.absoluteString,
            requestTime: response.requestTime,
            responseTime: response.responseTime)
        return await put(head, response.body, request: fields, for: key, url: url, epoch: epoch)
    }

    /// The new variant replaces those that match the request. Returns `false` if `url` was invalidated during the
    /// operation. The response is then removed again.
    func put(
        _ head: StoredResponseHead, _ body: Data, request fields: HTTPHeaderFields, for key: String, url: URL,
        epoch: UInt64?
    ) async -> Bool {
        var head = head
        // A part keeps the `Range` of its request.
        let range = head.varyHeaders["Range"]
        head.varyHeaders = StoredResponseHead.selectingHeaders(
            request: fields, response: head.head.headers, separating: separating)
        if let range { head.varyHeaders["Range"] = range }
        let variant = VaryIndex.Variant(id: UUID().uuidString, stored: head)
        await store.put(StoredResponse(variant: variant, head: head, body: body), request: fields, for: key)
        // The write may have finished after a concurrent invalidation, so check the epoch again.
        guard let epoch, epoch != self.epoch(of: url) else { return true }
        await store.remove(matching: fields, for: key)
        return false
    }

    /// Updates a stored response with a 304 response and returns the updated response.
    package func freshen(
        _ stored: StoredResponse, with notModified: TransferResponse, for request: RequestHead, url: URL
    ) async -> StoredResponse {
        var current = stored
        current.head = stored.head.merging(
            notModified: notModified.head, requestTime: notModified.requestTime,
            responseTime: notModified.responseTime)
        let fields = selectingHeaders(request)
        current.head.varyHeaders = StoredResponseHead.selectingHeaders(
            request: fields, response: current.head.head.headers, separating: separating)
        if StoredResponseHead.isStorable(method: "GET", request: request.headers, response: current.head.head) {
            current.variant = VaryIndex.Variant(id: stored.variant.id, stored: current.head)
            await store.update(current, for: Self.key(url))
        } else {
            await store.remove(stored.variant.id, for: Self.key(url))
        }
        return current
    }

    /// Updates or removes the stored response to a GET request after a HEAD response (RFC 9111 4.3.5).
    package func freshen(byHead response: TransferResponse, for request: RequestHead, url: URL) async {
        let key = Self.key(url)
        guard response.head.statusCode == 200, !CacheControl(request.headers).noStore,
            let stored = await store.response(for: key, matching: selectingHeaders(request))
        else { return }
        switch HeadResponseEffect.make(response.head, stored: stored.head) {
        case .none: break
        case .outdates: await store.remove(stored.variant.id, for: key)
        case .freshens: _ = await freshen(stored, with: response, for: request, url: url)
        }
    }

    /// Removes the stored responses that `response` to an unsafe request invalidates (RFC 9111 4.4).
    package func invalidate(after request: RequestHead, url: URL, response: HTTPResponseHead) async {
        for target in CacheInvalidation.targets(method: request.method, url: url, response: response) {
            log.record(Self.key(target))
            await store.removeAll(for: Self.key(target))
            await store.removeAll(for: Self.partKey(target))
        }
    }

    /// Removes every stored response to a URL.
    ///
    /// Responses that are in flight aren't stored.
    package func remove(_ url: URL) async {
        log.record(Self.key(url))
        await store.removeAll(for: Self.key(url))
        await store.removeAll(for: Self.partKey(url))
    }

    /// Removes every stored response.
    ///
    /// Responses that are in flight aren't stored.
    package func removeAll() async {
        log.recordAll()
        await store.removeAll()
    }

    /// Returns the cache key of a URL: the normalized scheme, host, and port, and the unmodified path and query,
    /// without the fragment.
    package static func key(_ url: URL) -> String {
        let path = url.path(percentEncoded: true)
        let query = url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        return Origin(url).description + (path.isEmpty ? "/" : path) + query
    }

    private var separating: [String] {
        policy.separatesCredentials ? ["authorization", "cookie", Self.senderField] : []
    }

    /// The name of a field that isn't sent. Its value represents all header fields that identify the user, except those
    /// that have names in ``separating``. A response without such header fields never serves a request with one.
    private static let senderField = "x-webimage-sender"

    /// Hashes replace secrets, because the fields that select a response are stored with it.
    func selectingHeaders(_ request: RequestHead) -> HTTPHeaderFields {
        var fields = request.headers.withHashedSecrets
        fields[Self.senderField] = nil
        let known = ["authorization", "cookie"]
        let names = Set(fields.lines.map { $0.name.lowercased() })
            .filter { !known.contains($0) && HTTPHeaderFields.identifiesUser($0) }.sorted()
        guard !names.isEmpty else { return fields }
        var parts: [String] = []
        for name in names {
            let values = fields.values(for: name)
            parts += [name, String(values.count)] + values
            fields[name] = CacheKey([name] + values).fileName
        }
        if policy.separatesCredentials { fields.append(name: Self.senderField, value: CacheKey(parts).fileName) }
        return fields
    }
}
