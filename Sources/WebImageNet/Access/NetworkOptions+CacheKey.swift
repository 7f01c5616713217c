// SPDX-License-Identifier: MIT

import Foundation
import WebImageStore

extension NetworkOptions {
    /// Returns text that separates what is cached under these options from what is cached under others, or `nil` if no
    /// option is set and neither cookies nor credentials are sent.
    ///
    /// The text is a hash: it contains no secret in the clear, and equal options give the same text in every process. A
    /// redirect policy is a closure and is different in every process.
    ///
    /// - Parameters:
    ///   - url: The URL of the request, which decides about the cookies and credentials that are sent.
    ///   - defaultCookies: The downloader's jar, for options that name none.
    ///   - defaultCredentials: The downloader's credentials, for options that name none.
    package func cacheKeyPart(
        for url: URL, defaultCookies: CookieJar?, defaultCredentials: CredentialStore?
    ) -> String? {
        let isPlain = hasNoOption
        if isPlain, defaultCookies == nil, defaultCredentials == nil { return nil }
        let access = AccessIdentity.digest(
            for: url, cookies: cookies.map(\.jar) ?? defaultCookies, credentials: credentials ?? defaultCredentials)
        if isPlain, access == nil { return nil }
        var parts: [String] = []
        if let cookies { parts += ["cookies", cookies.jar == nil ? "disabled" : "jar"] }
        if credentials != nil { parts.append("credentials") }
        if let access { parts += ["access", access] }
        if let tls { parts += ["tls"] + tls.keyParts }
        if let acceptedStatuses {
            // The answers themselves identify a filter, also one that is a closure.
            parts += ["statuses", (100...599).map { acceptedStatuses.contains($0) ? "1" : "0" }.joined()]
        }
        if let acceptedContentTypes { parts += ["types"] + acceptedContentTypes }
        if let identifiedRedirectPolicy { parts += ["redirects", identifiedRedirectPolicy.processID] }
        return CacheKey(parts).fileName
    }
}

extension TLSConfiguration {
    /// Everything that decides whom to trust and who we are, in a fixed order.
    fileprivate var keyParts: [String] {
        var parts = [authorities ?? "", authorityData?.base64EncodedString() ?? "", "\(minimumVersion)"]
        parts += ["unchecked"] + uncheckedHosts.sorted()
        for (host, keys) in pins.sorted(by: { $0.key < $1.key }) { parts += ["pins", host] + keys.sorted() }
        for (host, certificate) in clientCertificates.sorted(by: { $0.key < $1.key }) {
            parts += ["certificate", host, "\(certificate)"]
        }
        return parts
    }
}
