// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

extension StoredResponseHead {
    /// The status codes that this library understands, for `must-understand` (RFC 9111 5.2.2.3).
    static let understoodStatuses = Freshness.heuristicStatuses.union([302, 303, 307])

    /// Returns whether a private cache may store a response as the complete representation (RFC 9111 3).
    package static func isStorable(method: String, request: HTTPHeaderFields, response: HTTPResponseHead) -> Bool {
        method == "GET" && ![206, 304].contains(response.statusCode) && mayStore(request: request, response: response)
    }

    /// Returns whether a private cache may store a 206 response to a GET request as a partial representation (RFC 9111
    /// 3.3).
    package static func isStorablePart(request: HTTPHeaderFields, response: HTTPResponseHead) -> Bool {
        response.statusCode == 206 && mayStore(request: request, response: response)
    }

    /// Returns whether the response to a POST request may be used for a later GET request to the same URL (RFC 9110
    /// 9.3.3).
    ///
    /// The response must have a `Content-Location` equal to `url` and an explicit freshness lifetime.
    package static func canServeGet(post url: URL, response: HTTPResponseHead) -> Bool {
        guard response.statusCode == 200, let location = response.headers["Content-Location"],
            CacheControl(response.headers).maxAge != nil || response.headers["Expires"] != nil
        else { return false }
        // The URL of the request can contain characters that the parser would encode, too.
        guard let named = URLText.url(field: location, relativeTo: url) else { return false }
        return named.absoluteString == url.absoluteString || named == URLText.url(url.absoluteString)
    }

    private static func mayStore(request: HTTPHeaderFields, response: HTTPResponseHead) -> Bool {
        guard (200...999).contains(response.statusCode), !CacheControl(request).noStore,
            variesOnNothingUnknown(response)
        else { return false }
        let control = CacheControl(response.headers)
        // For a cache that knows the status code, `must-understand` overrides `no-store` (RFC 9111 5.2.2.3).
        if control.mustUnderstand {
            guard understoodStatuses.contains(response.statusCode) else { return false }
        } else if control.noStore {
            return false
        }
        return control.maxAge != nil || response.headers["Expires"] != nil || control.isPublic || control.isPrivate
            || Freshness.heuristicStatuses.contains(response.statusCode)
    }

    private static func variesOnNothingUnknown(_ response: HTTPResponseHead) -> Bool {
        !varyNames(response.headers).contains("*")
    }

    /// Creates the metadata that a cache stores for an exchange. It omits hop-by-hop header fields and contains the
    /// request header fields that `Vary` names.
    package init(
        request: HTTPHeaderFields, response: HTTPResponseHead, finalURL: String, requestTime: Date, responseTime: Date
    ) {
        self.init(
            head: HTTPResponseHead(statusCode: response.statusCode, headers: response.headers.storable),
            varyHeaders: Self.varyHeaders(request: request, response: response.headers), finalURL: finalURL,
            requestTime: requestTime, responseTime: responseTime)
    }

    /// Returns this head updated by a 304 response.
    ///
    /// Header fields of the 304 response replace the stored ones, except those that describe the stored body (RFC 9111
    /// 3.2, 4.3.4). Redirects to the 304 response can limit its freshness, so the result has no ``redirectLifetime``
    /// until you call ``limitFreshness(likeNotModified:)``.
    package func merging(notModified: HTTPResponseHead, requestTime: Date, responseTime: Date) -> StoredResponseHead {
        let update = notModified.headers.storable.lines.filter { line in
            !Self.bodyHeaders.contains { HTTPHeaderFields.same($0, line.name) }
        }
        let stored = head.headers.lines.filter { line in
            // `Date` and `Age` belong to a single response, so don't combine the stored ones with the new response.
            !update.contains { HTTPHeaderFields.same($0.name, line.name) }
                && !["Date", "Age"].contains { HTTPHeaderFields.same($0, line.name) }
        }
        var merged = self
        merged.head.headers = HTTPHeaderFields(stored + update)
        merged.redirectLifetime = nil
        merged.requestTime = requestTime
        merged.responseTime = responseTime
        return merged
    }

    private static let bodyHeaders = ["Content-Length", "Content-Encoding", "Content-Range"]

    // MARK: Vary

    /// Returns the request header fields that the `Vary` of `response` names, in the order of `Vary`. Absent fields
    /// are omitted.
    package static func varyHeaders(request: HTTPHeaderFields, response: HTTPHeaderFields) -> HTTPHeaderFields {
        HTTPHeaderFields(
            varyNames(response).compactMap { name in
                request.combined(name).map { HTTPHeaderFields.Field(name: name, value: $0) }
            })
    }

    /// Returns the request header fields that select a response. Those with `names` select it even if `Vary` doesn't
    /// name them. An absent field has an empty value in the result.
    package static func selectingHeaders(
        request: HTTPHeaderFields, response: HTTPHeaderFields, separating names: [String]
    ) -> HTTPHeaderFields {
        var fields = varyHeaders(request: request, response: response)
        for name in names where !varyNames(response).contains(name.lowercased()) {
            fields.append(name: name.lowercased(), value: request.combined(name) ?? "")
        }
        return fields
    }

    /// Returns whether the request's selecting header fields match the stored ones (RFC 9111 4.1). `Vary: *` never
    /// matches.
    package func matches(_ request: HTTPHeaderFields) -> Bool {
        selectingNames.allSatisfy { $0 != "*" && Self.isAlike($0, request, selectingHeaders) }
    }

    /// Returns whether a header field that `Vary` names has a different value in `request`.
    ///
    /// `Vary: *` doesn't count as a difference here. Such a response never matches a later request but may be shared
    /// with an equal concurrent request.
    package func differs(from request: HTTPHeaderFields) -> Bool {
        selectingNames.contains { $0 != "*" && !Self.isAlike($0, request, selectingHeaders) }
    }

    /// Whether the response depends on request header fields.
    package var isNegotiated: Bool { !varyHeaders.lines.isEmpty || head.headers["Vary"] != nil }

    /// The names of the header fields that select the response, in lowercase.
    var selectingNames: [String] {
        guard isNegotiated else { return [] }
        let vary = Self.varyNames(head.headers)
        // `varyHeaders` also contains the `Range` of a stored part. Ignore it, because ``PartialResponse`` decides
        // which parts match.
        return vary + varyHeaders.lines.map { $0.name.lowercased() }.filter { !vary.contains($0) && $0 != "range" }
    }

    /// The header fields that selected the response. Absent fields are omitted.
    var selectingHeaders: HTTPHeaderFields {
        guard varyHeaders.lines.contains(where: \.value.isEmpty) else { return varyHeaders }
        let vary = Self.varyNames(head.headers)
        return HTTPHeaderFields(varyHeaders.lines.filter { !$0.value.isEmpty || vary.contains($0.name.lowercased()) })
    }

    static func isAlike(_ name: String, _ request: HTTPHeaderFields, _ selecting: HTTPHeaderFields) -> Bool {
        normalized(name, request.combined(name)) == normalized(name, selecting.combined(name))
    }

    /// Returns the names in `Vary`, in lowercase and without repetitions.
    static func varyNames(_ fields: HTTPHeaderFields) -> [String] {
        var names: [String] = []
        for name in (fields.combined("Vary").map(ListHeaderParser.members) ?? []).map({ $0.lowercased() })
        where !names.contains(name) {
            names.append(name)
        }
        return names
    }

    /// Returns the value in a form for comparison: without whitespace around commas and, for content negotiation,
    /// without differences in case or in the order of alternatives.
    package static func normalized(_ name: String, _ value: String?) -> String? {
        guard let value else { return nil }
        let members = ListHeaderParser.members(value)
        return NegotiationHeaders.covers(name)
            ? NegotiationHeaders.normalized(name, members) : members.joined(separator: ",")
    }
}

extension HTTPHeaderFields {
    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authentication-info",
        "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// The header fields that a cache stores (RFC 9111 3.1, 5.2.2.4).
    ///
    /// They exclude hop-by-hop fields, the fields that `Connection` names, and the fields that `no-cache="…"` names.
    package var storable: HTTPHeaderFields {
        let named = (combined("Connection").map(ListHeaderParser.members) ?? []) + CacheControl(self).noCacheHeaders
        let dropped = Self.hopByHop.union(named.map { $0.lowercased() }).union([StoredResponseHead.redirectHeader])
        return HTTPHeaderFields(lines.filter { !dropped.contains($0.name.lowercased()) })
    }
}
