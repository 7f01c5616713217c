// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// One step of an exchange: the original request, or a request that follows a redirect or a challenge.
///
/// A step determines what is sent and what follows a response. ``ImageDownloader`` and `HTTPClient` both use it.
package struct ExchangeStep: Sendable {
    /// The handling of redirects.
    package enum RedirectHandling: Sendable {
        case follow
        /// A mode that treats redirects like any other response.
        case returnResponse
        case refuse
    }

    /// The action after a response.
    enum Next {
        /// No further request. The response is the result of the exchange.
        case response
        /// No further request. A redirect is the result of the exchange.
        case redirectResponse
        /// Another request.
        case step(ExchangeStep)
        /// A failure, because the redirect isn't allowed. The string is the reason.
        case refused(String)
    }

    /// The URL of the request, without user name and password.
    package private(set) var url: URL
    package private(set) var method: String
    package private(set) var body: Data
    /// The header fields, without those from stores.
    private(set) var headers: HTTPHeaderFields
    /// The number of redirects before this step.
    package private(set) var redirects = 0
    /// Whether a redirect led to another origin, which must not receive a signature.
    private var hasLeftOrigin = false
    private var usedChallenges = 0
    package var redirectHandling = RedirectHandling.follow
    package let rules: ExchangeRules

    /// Creates the first step of an exchange.
    package init(
        _ url: URL, method: String = "GET", body: Data = Data(), headers: HTTPHeaderFields, rules: ExchangeRules
    ) {
        self.url = url
        self.method = method
        self.body = body
        self.headers = headers
        self.rules = rules
        moveUserInfo()
        // A host with an HSTS policy must not receive a request over plain HTTP (RFC 6797 8.3).
        self.url = rules.configuration.hsts?.upgraded(self.url) ?? self.url
    }

    /// libcurl would do the same. As a header field, the user name and password select stored responses like other
    /// credentials, are sent only to their origin, and don't appear in messages.
    private mutating func moveUserInfo() {
        guard url.userInfo != nil else { return }
        let user = url.user(percentEncoded: false) ?? ""
        let password = url.password(percentEncoded: false) ?? ""
        url = url.withoutUserInfo
        guard headers["Authorization"] == nil else { return }
        headers["Authorization"] = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    // MARK: - Sending

    private var jar: CookieJar? { rules.jar }

    /// The credentials with which the request is signed, or `nil` for an unsigned request.
    package var awsSignature: AWSSignature? { hasLeftOrigin ? nil : rules.awsSignature }

    /// Header fields of the caller take precedence over those from the stores.
    func headersWithSecrets() -> HTTPHeaderFields {
        var fields = headersWithCookies()
        if let awsSignature {
            // libcurl adds the `Authorization` header field of a signed request.
            fields = awsSignature.prepared(fields, body: body)
        } else if fields["Authorization"] == nil, let field = authorization(method: method) {
            fields.append(name: "Authorization", value: field)
        }
        return fields
    }

    /// Returns the header fields for cache lookups: like ``headersWithSecrets()``, but with an identity instead of
    /// credentials.
    ///
    /// A Digest header field differs with each request, even though the user is the same.
    package func headersWithIdentity() -> HTTPHeaderFields {
        var fields = headersWithCookies()
        if fields["Authorization"] == nil, let identity = rules.credentials?.identity(for: url) {
            fields.append(name: "Authorization", value: Self.identityPrefix + identity)
        }
        return fields
    }

    /// Returns header fields from ``headersWithIdentity()`` with the credentials for a request of `method` instead of
    /// the identity, and prepared for the signature.
    package func replacingIdentity(in fields: HTTPHeaderFields, method: String) -> HTTPHeaderFields {
        var fields = awsSignature?.prepared(fields, body: body) ?? fields
        guard fields["Authorization"]?.hasPrefix(Self.identityPrefix) == true else { return fields }
        fields["Authorization"] = authorization(method: method)
        return fields
    }

    /// A prefix that no authentication scheme uses.
    private static let identityPrefix = "x-webimage-identity "

    private func headersWithCookies() -> HTTPHeaderFields {
        var fields = headers
        if fields["Cookie"] == nil, let cookies = jar?.cookies(for: url) {
            fields.append(name: "Cookie", value: cookies)
        }
        return fields
    }

    private func authorization(method: String) -> String? {
        guard let credentials = rules.credentials else { return nil }
        let nonce = String(UInt64.random(in: .min ... .max), radix: 36)
        return credentials.authorization(method: method, url: url, clientNonce: nonce)
    }

    /// Checks the request with the header fields to be sent.
    ///
    /// - Returns: The URL as it's sent.
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)`` or
    ///   ``ImageError/RequestFailure/invalidURL(_:)`` for a method, header field, or URL that isn't valid in HTTP,
    ///   ``ImageError/RequestFailure/unsupportedScheme(_:)`` for a scheme that isn't allowed, or
    ///   ``ImageError/NetworkFailure/Reason/addressNotAllowed`` for an address that isn't allowed.
    package func check(_ fields: HTTPHeaderFields) throws(ImageError) -> String {
        try RequestChecks.check(method: method)
        try RequestChecks.check(fields)
        try rules.configuration.checkScheme(of: url, redirects: redirects)
        if let refusal = RequestChecks.refusal(url, rules.configuration) {
            throw failure(.addressNotAllowed, phase: .connecting, detail: refusal)
        }
        guard RequestChecks.allows(url, ports: rules.configuration.allowedPorts) else {
            throw failure(.addressNotAllowed, phase: .connecting, detail: RequestChecks.portDetail(url))
        }
        return try RequestChecks.asciiURL(url)
    }

    /// The properties that identify a loop if they're equal in two steps. Cookies are included because a server may
    /// set a cookie and redirect to the same URL.
    struct RedirectLoopKey: Equatable {
        let url: String
        let method: String
        let cookies: String?
        let usedChallenges: Int
    }

    func mark(_ fields: HTTPHeaderFields) -> RedirectLoopKey {
        RedirectLoopKey(
            url: url.absoluteString, method: method, cookies: fields["Cookie"],
            usedChallenges: usedChallenges)
    }

    // MARK: - Following

    /// Stores the cookies and the HSTS policy of a response.
    package func learn(_ head: HTTPResponseHead) {
        jar?.receive(head.headers, from: url)
        learnTransport(head)
    }

    /// Stores the HSTS policy of the host if its certificate was checked (RFC 6797 8.1).
    private func learnTransport(_ head: HTTPResponseHead) {
        rules.configuration.hsts?.receive(head, from: url, rules.tls)
    }

    /// Returns `nil` if `head` has no challenge for which there are credentials.
    func respondingToChallenge(_ head: HTTPResponseHead) -> ExchangeStep? {
        guard head.statusCode == 401, headers["Authorization"] == nil, let credentials = rules.credentials else {
            return nil
        }
        // A nonce can become stale before the response to its challenge arrives (RFC 7616 3.3). The password isn't
        // wrong in this case, but limit the number of retries.
        let isRenewed = usedChallenges == 1 && AuthenticationChallenge.all(head).contains(where: \.isStaleNonce)
        guard usedChallenges == 0 || isRenewed else {
            // The server rejected the credential, so later requests must not send it without another challenge.
            credentials.removeSpaces(url)
            return nil
        }
        // A server that a redirect selected must not receive the credential for all origins.
        guard credentials.learn(head, url: url, allowsDefault: !hasLeftOrigin) else { return nil }
        var again = self
        again.usedChallenges += 1
        return again
    }

    /// Returns the action after a response and calls the redirect policy if necessary.
    func decide(_ head: HTTPResponseHead) -> Next {
        guard redirectHandling != .returnResponse else { return .response }
        // The redirect itself may contain the HSTS policy.
        learnTransport(head)
        do throws(RedirectRules.Refusal) {
            let redirect = try RedirectRules(
                head, method: method, from: url, allowsDowngrade: rules.configuration.allowsInsecureRedirects,
                strictTransport: rules.configuration.hsts)
            guard redirectHandling != .refuse else { return .refused("the request doesn't allow redirects") }
            return judged(following(redirect), head.statusCode, isCrossOrigin: redirect.isCrossOrigin)
        } catch {
            switch error {
            case .none: return .response
            case .refused(let reason): return .refused(reason)
            }
        }
    }

    private func following(_ redirect: RedirectRules) -> ExchangeStep {
        var next = self
        next.url = redirect.url
        next.usedChallenges = 0
        next.redirects += 1
        next.hasLeftOrigin = hasLeftOrigin || redirect.isCrossOrigin
        next.headers = redirect.headers(headers)
        next.moveUserInfo()
        guard redirect.becomesGet else { return next }
        next.method = "GET"
        next.body = Data()
        // These header fields describe the body, which the GET request doesn't have (RFC 9110 15.4).
        next.headers = HTTPHeaderFields(next.headers.lines.filter { !$0.name.lowercased().hasPrefix("content-") })
        return next
    }

    private func judged(_ next: ExchangeStep, _ status: Int, isCrossOrigin: Bool) -> Next {
        // `ExchangePath` rejects a step beyond the limit, so the policy isn't called for it.
        guard let policy = rules.redirectPolicy, next.redirects <= rules.configuration.maxRedirects else {
            return .step(next)
        }
        let proposal = Redirect(
            statusCode: status, source: url, destination: next.url, headers: next.headers, isCrossOrigin: isCrossOrigin,
            number: next.redirects)
        switch policy(proposal) {
        case .follow: return .step(next)
        case .followWithHeaders(let fields):
            var changed = next
            changed.headers = fields
            return .step(changed)
        case .refuse(let reason): return .refused(reason)
        case .returnResponse: return .redirectResponse
        }
    }

    func failure(
        _ reason: ImageError.NetworkFailure.Reason, phase: ImageError.NetworkFailure.Phase = .waitingForResponse,
        detail: String = ""
    ) -> ImageError {
        .network(ImageError.NetworkFailure(reason, url: url, phase: phase, curlCode: nil, details: detail))
    }

    /// `body` is the body or its beginning.
    func failure(
        _ reason: ImageError.NetworkFailure.Reason, response head: HTTPResponseHead, body: Data = Data(),
        retryAfter: Double? = nil, freshFor: Double? = nil, detail: String = ""
    ) -> ImageError {
        let failure = ImageError.NetworkFailure(
            reason, url: url, phase: .waitingForResponse, statusCode: head.statusCode, curlCode: nil,
            retryAfter: retryAfter.map { .seconds($0) }, freshFor: freshFor, details: detail)
        return .network(failure.adding(head, body: body))
    }
}
