// SPDX-License-Identifier: MIT

import Foundation

extension StoredHead {
    /// The status codes that this library understands, for `must-understand` (RFC 9111 5.2.2.3).
    static let understoodStatuses = Freshness.heuristicStatuses.union([302, 303, 307])

    /// Returns whether a private cache may store a response as the complete representation (RFC 9111 3).
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - request: The header fields of the request.
    ///   - response: The response head.
    public static func isStorable(method: String, request: HTTPFields, response: ResponseHead) -> Bool {
        method == "GET" && ![206, 304].contains(response.status) && mayStore(request: request, response: response)
    }

    /// Returns whether a private cache may store a 206 response to a GET request as a partial representation (RFC 9111
    /// 3.3).
    ///
    /// - Parameters:
    ///   - request: The header fields of the request.
    ///   - response: The response head.
    public static func isStorablePart(request: HTTPFields, response: ResponseHead) -> Bool {
        response.status == 206 && mayStore(request: request, response: response)
    }

    /// Returns whether the response to a POST request may be used for a later GET request to the same URL (RFC 9110
    /// 9.3.3).
    ///
    /// The response must have a `Content-Location` equal to `url` and an explicit freshness lifetime.
    public static func answersGet(post url: URL, response: ResponseHead) -> Bool {
        guard response.status == 200, let location = response.fields["Content-Location"],
            CacheControl(response.fields).maxAge != nil || response.fields["Expires"] != nil
        else { return false }
        return URL(string: location, relativeTo: url)?.absoluteString == url.absoluteString
    }

    private static func mayStore(request: HTTPFields, response: ResponseHead) -> Bool {
        guard (200...999).contains(response.status), !CacheControl(request).noStore, variesOnNothingUnknown(response)
        else { return false }
        let control = CacheControl(response.fields)
        if control.mustUnderstand {
            guard understoodStatuses.contains(response.status) else { return false }
        } else if control.noStore {
            return false
        }
        return control.maxAge != nil || response.fields["Expires"] != nil || control.isPublic || control.isPrivate
            || Freshness.heuristicStatuses.contains(response.status)
    }

    private static func variesOnNothingUnknown(_ response: ResponseHead) -> Bool {
        !varyNames(response.fields).contains("*")
    }

    /// Creates the metadata that a cache stores for an exchange. It omits hop-by-hop header fields and contains the
    /// request header fields that `Vary` names.
    public init(
        request: HTTPFields, response: ResponseHead, finalURL: String, requestTime: Date, responseTime: Date
    ) {
        self.init(
            head: ResponseHead(status: response.status, fields: response.fields.storable),
            varying: Self.varying(request: request, response: response.fields), finalURL: finalURL,
            requestTime: requestTime, responseTime: responseTime)
    }

    /// Returns this head updated by a 304 response.
    ///
    /// Header fields of the 304 response replace the stored ones, except those that describe the stored body (RFC 9111
    /// 3.2, 4.3.4).
    public func merging(notModified: ResponseHead, requestTime: Date, responseTime: Date) -> StoredHead {
        let update = notModified.fields.storable.lines.filter { line in
            !Self.bodyFields.contains { HTTPFields.same($0, line.name) }
        }
        let redirects = notModified.fields.lines.filter { HTTPFields.same($0.name, Self.redirectField) }
        let stored = head.fields.lines.filter { line in
            // `Date` and `Age` belong to a single response, so don't combine the stored ones with the new response.
            !update.contains { HTTPFields.same($0.name, line.name) }
                && !["Date", "Age", Self.redirectField].contains { HTTPFields.same($0, line.name) }
        }
        var merged = self
        merged.head.fields = HTTPFields(stored + update + redirects)
        merged.requestTime = requestTime
        merged.responseTime = responseTime
        return merged
    }

    private static let bodyFields = ["Content-Length", "Content-Encoding", "Content-Range"]

    // MARK: Vary

    /// Returns the request header fields that the `Vary` of `response` names, in the order of `Vary`. Absent fields
    /// are omitted.
    public static func varying(request: HTTPFields, response: HTTPFields) -> HTTPFields {
        HTTPFields(
            varyNames(response).compactMap { name in
                request.combined(name).map { HTTPFields.Field(name: name, value: $0) }
            })
    }

    /// Returns the request header fields that select a response.
    ///
    /// - Parameters:
    ///   - request: The header fields of the request.
    ///   - response: The header fields of the response.
    ///   - names: The names of header fields that select the response even if `Vary` doesn't name them. An absent
    ///     field has an empty value in the result.
    public static func selecting(
        request: HTTPFields, response: HTTPFields, separating names: [String]
    ) -> HTTPFields {
        var fields = varying(request: request, response: response)
        for name in names where !varyNames(response).contains(name.lowercased()) {
            fields.append(name: name.lowercased(), value: request.combined(name) ?? "")
        }
        return fields
    }

    /// Returns whether the request's selecting header fields match the stored ones (RFC 9111 4.1). `Vary: *` never
    /// matches.
    public func matches(_ request: HTTPFields) -> Bool {
        selectingNames.allSatisfy { $0 != "*" && Self.isAlike($0, request, selecting) }
    }

    /// Returns whether a header field that `Vary` names has a different value in `request`.
    ///
    /// `Vary: *` doesn't count as a difference here. Such a response never matches a later request but may be shared
    /// with an equal concurrent request.
    public func differs(from request: HTTPFields) -> Bool {
        selectingNames.contains { $0 != "*" && !Self.isAlike($0, request, selecting) }
    }

    /// A Boolean value that indicates whether the response depends on request header fields.
    public var isNegotiated: Bool { !varying.lines.isEmpty || head.fields["Vary"] != nil }

    /// The names of the header fields that select the response, in lowercase.
    var selectingNames: [String] {
        guard isNegotiated else { return [] }
        let vary = Self.varyNames(head.fields)
        // `varying` also contains the `Range` of a stored part. Ignore it, because ``StoredPart`` decides which parts
        // match.
        return vary + varying.lines.map { $0.name.lowercased() }.filter { !vary.contains($0) && $0 != "range" }
    }

    /// The header fields that selected the response. Absent fields are omitted.
    var selecting: HTTPFields {
        guard varying.lines.contains(where: \.value.isEmpty) else { return varying }
        let vary = Self.varyNames(head.fields)
        return HTTPFields(varying.lines.filter { !$0.value.isEmpty || vary.contains($0.name.lowercased()) })
    }

    static func isAlike(_ name: String, _ request: HTTPFields, _ selecting: HTTPFields) -> Bool {
        normalized(name, request.combined(name)) == normalized(name, selecting.combined(name))
    }

    /// Returns the names in `Vary`, in lowercase.
    static func varyNames(_ fields: HTTPFields) -> [String] {
        (fields.combined("Vary").map(FieldList.members) ?? []).map { $0.lowercased() }
    }

    /// Returns the value in a form for comparison: without whitespace around commas and, for content negotiation,
    /// without differences in case or in the order of alternatives.
    static func normalized(_ name: String, _ value: String?) -> String? {
        guard let value else { return nil }
        let members = FieldList.members(value)
        return Negotiation.covers(name) ? Negotiation.normalized(name, members) : members.joined(separator: ",")
    }
}

extension HTTPFields {
    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authentication-info",
        "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// The header fields that a cache stores (RFC 9111 3.1, 5.2.2.4).
    ///
    /// They exclude hop-by-hop fields, the fields that `Connection` names, and the fields that `no-cache="…"` names.
    public var storable: HTTPFields {
        let named = (combined("Connection").map(FieldList.members) ?? []) + CacheControl(self).noCacheFields
        let dropped = Self.hopByHop.union(named.map { $0.lowercased() }).union([StoredHead.redirectField])
        return HTTPFields(lines.filter { !dropped.contains($0.name.lowercased()) })
    }
}
