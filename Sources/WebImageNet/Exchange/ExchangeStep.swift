// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// One step of an exchange: the request itself, or the request that a redirect or a challenge leads to. A value.
///
/// It decides what is sent and what follows a response. ``ImageDownloader`` and ``HTTPClient`` both follow such steps.
struct ExchangeStep: Sendable {
    /// What becomes of redirects.
    enum RedirectHandling: Sendable {
        case follow
        /// They are responses like others.
        case answer
        case refuse
    }

    /// What follows a response.
    enum Next {
        /// Nothing: it is the response of the exchange.
        case answer
        /// Nothing: a redirect that is wanted as the response.
        case redirectAnswer
        /// Another request.
        case step(ExchangeStep)
        /// A place where the redirect must not lead, for this reason.
        case refused(String)
    }

    /// Where the request goes, without user name and password.
    private(set) var url: URL
    private(set) var method: String
    private(set) var body: Data
    /// The fields without those of stores.
    private(set) var fields: HTTPFields
    /// Redirects before it.
    private(set) var redirects = 0
    /// The number of challenges that this step has answered.
    private var answeredChallenges = 0
    var redirectHandling = RedirectHandling.follow
    let rules: ExchangeRules

    init(
        _ url: URL, method: String = "GET", body: Data = Data(), fields: HTTPFields, rules: ExchangeRules
    ) {
        self.url = url
        self.method = method
        self.body = body
        self.fields = fields
        self.rules = rules
        moveUserInfo()
        self.url = rules.configuration.strictTransport?.secured(self.url) ?? self.url
    }

    /// Makes a field of the URL's user name and password, as libcurl would. So they select stored responses like all
    /// credentials, stay with their origin, and appear nowhere.
    private mutating func moveUserInfo() {
        guard url.userInfo != nil else { return }
        let user = url.user(percentEncoded: false) ?? ""
        let password = url.password(percentEncoded: false) ?? ""
        url = url.withoutUserInfo
        guard fields["Authorization"] == nil else { return }
        fields["Authorization"] = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    // MARK: - What is sent

    private var jar: CookieJar? { rules.jar }

    /// The fields with cookies and credentials of the stores. The caller's own count before them.
    func fieldsWithSecrets() -> HTTPFields {
        var fields = fieldsWithCookies()
        if fields["Authorization"] == nil, let field = authorization(method: method) {
            fields.append(name: "Authorization", value: field)
        }
        return fields
    }

    /// The fields by which a cache selects: like ``fieldsWithSecrets()``, but with an identity in place of credentials.
    ///
    /// A Digest field differs with each request, although the user is the same.
    func fieldsWithIdentity() -> HTTPFields {
        var fields = fieldsWithCookies()
        if fields["Authorization"] == nil, let identity = rules.credentials?.identity(for: url) {
            fields.append(name: "Authorization", value: Self.identityPrefix + identity)
        }
        return fields
    }

    /// `fields`, made of ``fieldsWithIdentity()``, with the credentials for a request of `method`.
    func replacingIdentity(in fields: HTTPFields, method: String) -> HTTPFields {
        guard fields["Authorization"]?.hasPrefix(Self.identityPrefix) == true else { return fields }
        var fields = fields
        fields["Authorization"] = authorization(method: method)
        return fields
    }

    /// Not a scheme of any server.
    private static let identityPrefix = "x-webimage-identity "

    private func fieldsWithCookies() -> HTTPFields {
        var fields = fields
        if fields["Cookie"] == nil, let cookies = jar?.field(for: url) {
            fields.append(name: "Cookie", value: cookies)
        }
        return fields
    }

    private func authorization(method: String) -> String? {
        guard let credentials = rules.credentials else { return nil }
        let nonce = String(UInt64.random(in: .min ... .max), radix: 36)
        return credentials.authorization(method: method, url: url, clientNonce: nonce)
    }

    /// Checks the request with the fields to be sent.
    ///
    /// - Returns: The URL as it is sent.
    /// - Throws: 1009 and 1002 for what HTTP can't carry, 1003 for a scheme that isn't allowed, 2020 for an address that isn't allowed.
    func check(_ fields: HTTPFields) throws(ImageError) -> String {
        try RequestChecks.check(method: method)
        try RequestChecks.check(fields)
        try rules.configuration.checkScheme(of: url, redirects: redirects)
        guard RequestChecks.allows(url, rules.configuration.addressPolicy) else {
            throw failure(.addressRefused, phase: .connect, detail: url.host() ?? "")
        }
        return try RequestChecks.asciiURL(url)
    }

    /// Two steps of equal marks are a loop. A server may set a cookie and lead back to the same place.
    struct Mark: Equatable {
        let url: String
        let method: String
        let cookies: String?
        let answeredChallenges: Int
    }

    func mark(_ fields: HTTPFields) -> Mark {
        Mark(
            url: url.absoluteString, method: method, cookies: fields["Cookie"],
            answeredChallenges: answeredChallenges)
    }

    // MARK: - What follows

    /// Keeps what a server's response has for the stores.
    func learn(_ head: ResponseHead) {
        jar?.take(head.fields, from: url)
        learnTransport(head)
    }

    /// Keeps whether the host wants https alone; only if its certificate was checked (RFC 6797 8.1).
    private func learnTransport(_ head: ResponseHead) {
        rules.configuration.strictTransport?.take(head, from: url, rules.tls)
    }

    /// The same request with credentials, if `head` asks for them and there are some; nil otherwise.
    func answeringChallenge(_ head: ResponseHead) -> ExchangeStep? {
        guard head.status == 401, fields["Authorization"] == nil, let credentials = rules.credentials else {
            return nil
        }
        // A nonce can become stale between its challenge and the response to it (RFC 7616 3.3). It isn't a wrong
        // password, but no reason to ask indefinitely either.
        let isRenewed = answeredChallenges == 1 && AuthenticationChallenge.all(head).contains(where: \.isStaleNonce)
        guard answeredChallenges == 0 || isRenewed else {
            credentials.forget(url)
            return nil
        }
        guard credentials.learn(head, url: url) else { return nil }
        var again = self
        again.answeredChallenges += 1
        return again
    }

    /// Where `head` leads. Asks the redirect policy.
    func decide(_ head: ResponseHead) -> Next {
        guard redirectHandling != .answer else { return .answer }
        // The response that redirects may itself be the one that asks for https.
        learnTransport(head)
        do throws(Redirect.Refusal) {
            let redirect = try Redirect(
                head, method: method, from: url, allowsDowngrade: rules.configuration.allowsDowngrade,
                strictTransport: rules.configuration.strictTransport)
            guard redirectHandling != .refuse else { return .refused("no redirect was allowed") }
            return judged(following(redirect), head.status, isCrossOrigin: redirect.isCrossOrigin)
        } catch {
            switch error {
            case .none: return .answer
            case .refused(let reason): return .refused(reason)
            }
        }
    }

    private func following(_ redirect: Redirect) -> ExchangeStep {
        var next = self
        next.url = redirect.url
        next.answeredChallenges = 0
        next.redirects += 1
        next.fields = redirect.fields(fields)
        next.moveUserInfo()
        guard redirect.becomesGet else { return next }
        next.method = "GET"
        next.body = Data()
        next.fields = HTTPFields(next.fields.lines.filter { !$0.name.lowercased().hasPrefix("content-") })
        return next
    }

    private func judged(_ next: ExchangeStep, _ status: Int, isCrossOrigin: Bool) -> Next {
        guard let policy = rules.redirectPolicy, next.redirects <= rules.configuration.maxRedirects else {
            return .step(next)
        }
        let proposal = RedirectProposal(
            status: status, from: url, to: next.url, fields: next.fields, isCrossOrigin: isCrossOrigin,
            number: next.redirects)
        switch policy(proposal) {
        case .follow: return .step(next)
        case .followWith(let fields):
            var changed = next
            changed.fields = fields
            return .step(changed)
        case .refuse(let reason): return .refused(reason)
        case .answer: return .redirectAnswer
        }
    }

    /// An error at this place.
    func failure(
        _ reason: NetworkError.Reason, phase: NetworkError.Phase = .head, status: Int? = nil,
        retryAfter: Double? = nil, freshFor: Double? = nil, detail: String = ""
    ) -> ImageError {
        .network(
            NetworkError(
                reason, url: url.absoluteString, phase: phase, status: status, retryAfter: retryAfter,
                freshFor: freshFor, detail: detail))
    }
}
