// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP
import WebImageStore

/// A request to a loader.
///
/// Requests are equal if all their properties except ``userInfo`` and ``cacheKey`` are equal. Closures in their options
/// are equal only if they're copies.
public struct LoadRequest: Sendable {
    /// The properties that most requests to a downloader don't set.
    private struct Details: Sendable {
        var method = "GET"
        var body = Data()
        var userInfo: [String: any Sendable] = [:]
        var cacheKey: CacheKey?
        var rules: (any LoadRules)?
    }

    /// An object with the details. Thousands of waiting loads have copies of their requests, so requests must be small.
    private final class SharedDetails: Sendable {
        let values: Details

        init(_ values: Details) { self.values = values }
    }

    /// The URL of the source.
    public var url: URL
    /// The additional header fields, including conditions. They apply only to HTTP.
    public var headers: HTTPHeaderFields
    /// The maximum size of the body in bytes, both encoded and decoded. The loader checks it while it receives data.
    ///
    /// The default is 32 MiB.
    public var maxByteCount = 32 << 20
    /// A Boolean value that indicates whether a 304 response is accepted. Set it to `true` if `headers` contains
    /// conditions for a cached response. The default is `false`.
    public var acceptsNotModified = false
    /// The timeouts, retries, alternative URLs, cookies, trust, credentials, and accepted responses that differ from
    /// those of the loader. They apply only to HTTP.
    public var network = NetworkOptions()
    private var shared: SharedDetails?

    /// The method, which is case-sensitive. It applies only to HTTP. The default is `GET`.
    ///
    /// A downloader retries a request whose method isn't idempotent (RFC 9110 9.2.2), such as `POST`, only if
    /// ``NetworkOptions/retry`` of ``network`` isn't `nil`. Redirects change the method as the Fetch standard requires.
    public var method: String {
        get { shared?.values.method ?? "GET" }
        set { change { $0.method = newValue } }
    }
    /// The body of the request, which applies only to HTTP. The default is empty.
    ///
    /// A downloader adds no `Content-Type`. The redirects 307 and 308 send the body again, also to other origins.
    public var body: Data {
        get { shared?.values.body ?? Data() }
        set { change { $0.body = newValue } }
    }
    /// The custom data of the image request, for interceptors and custom loaders. The default is empty.
    ///
    /// If several requests share one load, this is the data of the first one.
    public var userInfo: [String: any Sendable] {
        get { shared?.values.userInfo ?? [:] }
        set { change { $0.userInfo = newValue } }
    }
    /// The key under which the caches store the loaded data, or `nil` if the request doesn't come from a manager.
    ///
    /// The key doesn't change if an interceptor changes the request.
    public package(set) var cacheKey: CacheKey? {
        get { shared?.values.cacheKey }
        set { change { $0.cacheKey = newValue } }
    }

    /// The rules with which the manager made the keys of the load, or `nil` for the current rules of the downloader.
    var rules: (any LoadRules)? { shared?.values.rules }

    /// Sets the values of a manager at the same time.
    package mutating func setOrigin(cacheKey: CacheKey, rules: any LoadRules) {
        change { details in
            details.cacheKey = cacheKey
            details.rules = rules
        }
    }

    /// Creates a request.
    public init(url: URL, headers: HTTPHeaderFields = HTTPHeaderFields()) {
        self.url = url
        self.headers = headers
    }

    /// Creates a request with a size limit.
    package init(
        url: URL, headers: HTTPHeaderFields = HTTPHeaderFields(), maxByteCount: Int, acceptsNotModified: Bool = false
    ) {
        self.url = url
        self.headers = headers
        self.maxByteCount = maxByteCount
        self.acceptsNotModified = acceptsNotModified
    }

    private mutating func change(_ body: (inout Details) -> Void) {
        var details = shared?.values ?? Details()
        body(&details)
        shared = SharedDetails(details)
    }
}

extension LoadRequest: Hashable {
    /// Returns whether all properties of two requests except ``userInfo`` and ``cacheKey`` are equal.
    public static func == (left: LoadRequest, right: LoadRequest) -> Bool {
        guard left.url == right.url, left.headers == right.headers, left.maxByteCount == right.maxByteCount,
            left.acceptsNotModified == right.acceptsNotModified, left.network == right.network
        else { return false }
        if left.shared === right.shared { return true }
        return left.method == right.method && left.body == right.body
    }

    /// Hashes the URL, the header fields, the method, the options, and the limits.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(headers)
        hasher.combine(maxByteCount)
        hasher.combine(acceptsNotModified)
        hasher.combine(network)
        hasher.combine(method)
    }
}

extension LoadRequest {
    /// The idempotent methods (RFC 9110 9.2.2).
    package static let idempotentMethods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]

    /// Whether a failed request may be sent again. The server may have processed a request even if its response was
    /// lost.
    var mayBeRetried: Bool { network.retry != nil || Self.idempotentMethods.contains(method) }
}

/// The rules of a downloader at one time, which a manager passes back to it with each request.
package protocol LoadRules: AnyObject, Sendable {}
