// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP
import WebImageStore

/// A private HTTP cache (RFC 9111) without a network: looks up, stores, freshens and invalidates. What to do is decided
/// by the pure functions of WebImageHTTP; where bytes lie is the store's affair. Thread-safe.
public final class HTTPCache: Sendable {
    /// What the cache says to a request.
    public struct Lookup: Sendable {
        /// What is to be done.
        public var step: CacheStep
        /// The stored answer that Vary has selected, with its body; nil where there is none.
        public var stored: StoredResponse?
    }

    /// Where answers lie.
    public let store: any HTTPResponseStore
    /// What the cache does where it has a choice.
    public let policy: HTTPCachePolicy
    private let log = InvalidationLog()

    /// Creates a cache.
    public init(store: any HTTPResponseStore, policy: HTTPCachePolicy = .standard) {
        self.store = store
        self.policy = policy
    }

    /// What is to be done with `request` for `url`.
    public func lookup(
        _ request: RequestHead, url: URL, mode: HTTPCacheMode = .default, now: Date
    ) async -> Lookup {
        let isLookedUp = request.mayUseStored && mode != .noStore && mode != .reload
        let stored = isLookedUp ? await store.response(for: Self.key(url), matching: selecting(request)) : nil
        if isLookedUp, let part = await part(for: request, url: url, newerThan: stored, mode: mode, now: now) {
            return part
        }
        return Lookup(
            step: .make(request, mode: mode, stored: stored?.head, policy: policy, now: now), stored: stored)
    }

    /// Grows with every invalidation of `url`: what was asked in an earlier epoch is out of date.
    public func epoch(of url: URL) -> UInt64 { log.epoch(of: Self.key(url)) }

    /// Stores `answer` to a GET where a private cache may, and to a POST where a GET would be answered with it; false
    /// where not. A 206 is kept as a part, joined with the one before it where they are surely of the same bytes. An older stored answer to the same request goes in
    /// either case, unless the answer is an error of the server.
    ///
    /// - Parameter epoch: ``epoch(of:)`` when the server was asked: an answer that was invalidated on its way is not
    ///   stored. Nil for what cannot have been.
    @discardableResult
    public func store(
        _ answer: HTTPTransportResponse, for request: RequestHead, url: URL, epoch: UInt64? = nil
    ) async -> Bool {
        let answersGet = request.method == "POST" && StoredHead.answersGet(post: url, response: answer.head)
        guard request.method == "GET" || answersGet, !CacheControl(request.fields).noStore,
            epoch == nil || epoch == self.epoch(of: url)
        else { return false }
        if answer.head.status == 206 { return await storePart(answer, for: request, url: url, epoch: epoch) }
        let key = Self.key(url)
        let fields = selecting(request)
        guard StoredHead.isStorable(method: "GET", request: request.fields, response: answer.head) else {
            let status = answer.head.status
            let isSuperseded = (200...399).contains(status) && status != 304
            let isGone = status == 404 || status == 410
            if isSuperseded || isGone { await store.remove(matching: fields, for: key) }
            return false
        }
        let head = StoredHead(
            request: fields, response: answer.head, finalURL: url.absoluteString,
            requestTime: answer.requestTime,
            responseTime: answer.responseTime)
        return await put(head, answer.body, request: fields, for: key, url: url, epoch: epoch)
    }

    /// Stores as a new variant, in place of those that the request selects.
    ///
    /// - Returns: `false` if an invalidation of `url` overtook the store, which then holds nothing of it.
    func put(
        _ head: StoredHead, _ body: Data, request fields: HTTPFields, for key: String, url: URL, epoch: UInt64?
    ) async -> Bool {
        var head = head
        // Of a part, the Range that it answered stays with it.
        let range = head.varying["Range"]
        head.varying = StoredHead.selecting(request: fields, response: head.head.fields, separating: separating)
        if let range { head.varying["Range"] = range }
        let variant = VariantList.Variant(id: UUID().uuidString, stored: head)
        await store.put(StoredResponse(variant: variant, head: head, body: body), request: fields, for: key)
        // The store was asked before the invalidation and may have written after it.
        guard let epoch, epoch != self.epoch(of: url) else { return true }
        await store.remove(matching: fields, for: key)
        return false
    }

    /// Takes a 304 for `stored`; gives it as it is now.
    public func freshen(
        _ stored: StoredResponse, with notModified: HTTPTransportResponse, for request: RequestHead, url: URL
    ) async -> StoredResponse {
        var current = stored
        current.head = stored.head.merging(
            notModified: notModified.head, requestTime: notModified.requestTime,
            responseTime: notModified.responseTime)
        let fields = selecting(request)
        current.head.varying = StoredHead.selecting(
            request: fields, response: current.head.head.fields, separating: separating)
        if StoredHead.isStorable(method: "GET", request: request.fields, response: current.head.head) {
            current.variant = VariantList.Variant(id: stored.variant.id, stored: current.head)
            await store.update(current, for: Self.key(url))
        } else {
            await store.remove(stored.variant.id, for: Self.key(url))
        }
        return current
    }

    /// Takes the answer to a HEAD for the stored answer to the GET that it stands for (RFC 9111 4.3.5).
    public func freshen(byHead answer: HTTPTransportResponse, for request: RequestHead, url: URL) async {
        let key = Self.key(url)
        guard answer.head.status == 200, !CacheControl(request.fields).noStore,
            let stored = await store.response(for: key, matching: selecting(request))
        else { return }
        switch HeadEffect.make(answer.head, stored: stored.head) {
        case .none: break
        case .outdates: await store.remove(stored.variant.id, for: key)
        case .freshens: _ = await freshen(stored, with: answer, for: request, url: url)
        }
    }

    /// Removes what `response` to an unsafe `request` makes worthless (RFC 9111 4.4).
    public func invalidate(after request: RequestHead, url: URL, response: ResponseHead) async {
        for target in Invalidation.targets(method: request.method, url: url, response: response) {
            log.note(Self.key(target))
            await store.removeAll(for: Self.key(target))
            await store.removeAll(for: Self.partKey(target))
        }
    }

    /// Removes every stored response to a URL.
    ///
    /// Responses that are in flight aren't stored.
    public func remove(_ url: URL) async {
        log.note(Self.key(url))
        await store.removeAll(for: Self.key(url))
        await store.removeAll(for: Self.partKey(url))
    }

    /// Removes every stored response.
    ///
    /// Responses that are in flight aren't stored.
    public func removeAll() async {
        log.noteAll()
        await store.removeAll()
    }

    /// What answers are stored under: scheme, host and port normalised, path and query as they are, no fragment.
    public static func key(_ url: URL) -> String {
        let path = url.path(percentEncoded: true)
        let query = url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        return Origin(url).description + (path.isEmpty ? "/" : path) + query
    }

    /// Names that select besides those of Vary.
    private var separating: [String] { policy.separatesCredentials ? ["authorization", "cookie"] : [] }

    func selecting(_ request: RequestHead) -> HTTPFields { request.fields.withHashedSecrets }
}
