// SPDX-License-Identifier: MIT

import Foundation

extension StoredHead {
    /// Statuses this library gives their meaning, for `must-understand` (RFC 9111 5.2.2.3).
    static let understoodStatuses = Freshness.heuristicStatuses.union([302, 303, 307])

    /// Whether a private cache may store `response` to a request of `method` with the fields `request` as the whole
    /// representation (RFC 9111 3).
    public static func isStorable(method: String, request: HTTPFields, response: ResponseHead) -> Bool {
        method == "GET" && ![206, 304].contains(response.status) && mayStore(request: request, response: response)
    }

    /// Whether a private cache may store `response`, a 206 to a GET with the fields `request`, as a part
    /// (RFC 9111 3.3).
    public static func isStorablePart(request: HTTPFields, response: ResponseHead) -> Bool {
        response.status == 206 && mayStore(request: request, response: response)
    }

    /// Whether `response` to a POST of `url` is what a GET of it would be answered with (RFC 9110 9.3.3): its
    /// Content-Location is the URL itself, and it says how long it is fresh.
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

    /// Creates what a cache keeps of an exchange: without hop-by-hop fields, with the request's fields that Vary names.
    public init(
        request: HTTPFields, response: ResponseHead, finalURL: String, requestTime: Date, responseTime: Date
    ) {
        self.init(
            head: ResponseHead(status: response.status, fields: response.fields.storable),
            varying: Self.varying(request: request, response: response.fields), finalURL: finalURL,
            requestTime: requestTime, responseTime: responseTime)
    }

    /// This head after a 304: every stored field that the 304 names is replaced, except those that describe the
    /// stored bytes (RFC 9111 3.2, 4.3.4).
    public func merging(notModified: ResponseHead, requestTime: Date, responseTime: Date) -> StoredHead {
        let update = notModified.fields.storable.lines.filter { line in
            !Self.bodyFields.contains { HTTPFields.same($0, line.name) }
        }
        let redirects = notModified.fields.lines.filter { HTTPFields.same($0.name, Self.redirectField) }
        let stored = head.fields.lines.filter { line in
            // Date and Age belong to one answer; the old ones say nothing about the new one.
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

    /// The request's fields that `response`'s Vary names, in Vary's order; absent ones are left out.
    public static func varying(request: HTTPFields, response: HTTPFields) -> HTTPFields {
        HTTPFields(
            varyNames(response).compactMap { name in
                request.combined(name).map { HTTPFields.Field(name: name, value: $0) }
            })
    }

    /// What selects an answer: the fields of `request` that `response`'s Vary names, and those of `separating`, which
    /// select though Vary does not name them. Of these also the absent ones are told, by an empty value.
    public static func selecting(
        request: HTTPFields, response: HTTPFields, separating names: [String]
    ) -> HTTPFields {
        var fields = varying(request: request, response: response)
        for name in names where !varyNames(response).contains(name.lowercased()) {
            fields.append(name: name.lowercased(), value: request.combined(name) ?? "")
        }
        return fields
    }

    /// Whether the answer was chosen by fields that `request` has alike (RFC 9111 4.1). `Vary: *` never matches.
    public func matches(_ request: HTTPFields) -> Bool {
        selectingNames.allSatisfy { $0 != "*" && Self.isAlike($0, request, selecting) }
    }

    /// Whether `request` would be answered differently, as far as the answer tells: a field that Vary names has
    /// another value. What varies on everything is no answer to any later request, but may be one to an equal request
    /// at the same time.
    public func differs(from request: HTTPFields) -> Bool {
        selectingNames.contains { $0 != "*" && !Self.isAlike($0, request, selecting) }
    }

    /// Whether any field of the request selects the answer.
    public var isNegotiated: Bool { !varying.lines.isEmpty || head.fields["Vary"] != nil }

    /// Names of the fields that select the answer, in lower case.
    var selectingNames: [String] {
        guard isNegotiated else { return [] }
        let vary = Self.varyNames(head.fields)
        // The Range that a stored part answered is told there too; which parts answer is ``StoredPart``'s affair.
        return vary + varying.lines.map { $0.name.lowercased() }.filter { !vary.contains($0) && $0 != "range" }
    }

    /// Names and values of the fields that selected the answer; absent ones are left out.
    var selecting: HTTPFields {
        guard varying.lines.contains(where: \.value.isEmpty) else { return varying }
        let vary = Self.varyNames(head.fields)
        return HTTPFields(varying.lines.filter { !$0.value.isEmpty || vary.contains($0.name.lowercased()) })
    }

    static func isAlike(_ name: String, _ request: HTTPFields, _ selecting: HTTPFields) -> Bool {
        normalized(name, request.combined(name)) == normalized(name, selecting.combined(name))
    }

    /// Names in Vary, in lower case.
    static func varyNames(_ fields: HTTPFields) -> [String] {
        (fields.combined("Vary").map(FieldList.members) ?? []).map { $0.lowercased() }
    }

    /// Blanks around commas do not matter; nor do case and order in what content negotiation compares without them.
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

    /// The fields a cache stores: not those of the connection, nor those it names, nor those that `no-cache="…"`
    /// forbids to reuse (RFC 9111 3.1, 5.2.2.4).
    public var storable: HTTPFields {
        let named = (combined("Connection").map(FieldList.members) ?? []) + CacheControl(self).noCacheFields
        let dropped = Self.hopByHop.union(named.map { $0.lowercased() }).union([StoredHead.redirectField])
        return HTTPFields(lines.filter { !dropped.contains($0.name.lowercased()) })
    }
}
