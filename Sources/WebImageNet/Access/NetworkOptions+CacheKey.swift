// SPDX-License-Identifier: MIT

import Foundation
import WebImageStore

extension NetworkOptions {
    /// Returns a string that separates cache entries by these options, or `nil` if no option is set and neither
    /// cookies nor credentials are sent.
    ///
    /// The string is a hash, so it doesn't reveal a secret. Equal options produce the same string in every process. A
    /// redirect policy is a closure, so its part of the string differs in every process.
    ///
    /// - Parameters:
    ///   - url: The URL of the request, which determines the cookies and credentials that are sent.
    ///   - defaultCookies: The downloader's cookie jar, which applies if the options don't specify one.
    ///   - defaultCredentials: The downloader's credentials, which apply if the options don't specify any.
    package func cacheKeyPart(
        for url: URL, defaultCookies: CookieJar?, defaultCredentials: CredentialStore?
    ) -> String? {
        let isPlain = hasNoOption
        if isPlain, defaultCookies == nil, defaultCredentials == nil { return nil }
        let access = AccessIdentity.digest(
            for: url, cookies: cookieJar == nil ? defaultCookies : cookieJar?.ifEnabled,
            credentials: credentials ?? defaultCredentials)
        if isPlain, access == nil { return nil }
        var parts: [String] = []
        if let cookieJar { parts += ["cookies", cookieJar.ifEnabled == nil ? "disabled" : "jar"] }
        if credentials != nil { parts.append("credentials") }
        if let access { parts += ["access", access] }
        if let tls { parts += ["tls"] + tls.keyParts }
        if let awsSignature { parts += ["aws"] + awsSignature.keyParts }
        if let acceptableStatusCodes {
            parts += ["statuses", (100...599).map { acceptableStatusCodes.contains($0) ? "1" : "0" }.joined()]
        }
        if let acceptableContentTypes { parts += ["types"] + acceptableContentTypes.sorted() }
        if let identifiedRedirectPolicy { parts += ["redirects", identifiedRedirectPolicy.processID] }
        return CacheKey(parts).fileName
    }
}

extension TLSOptions {
    fileprivate var keyParts: [String] {
        var parts =
            switch trustRoots {
            case .system: ["", ""]
            case .file(let file): [file.absoluteURL.path(percentEncoded: false), ""]
            case .pem(let data): ["", data.base64EncodedString()]
            }
        parts.append("\(minimumVersion)")
        parts += ["unchecked"] + insecureHosts.sorted()
        for (host, keys) in pinnedPublicKeys.sorted(by: { $0.key < $1.key }) {
            parts += ["pins", host] + keys.sorted()
        }
        for (host, certificate) in clientCertificates.sorted(by: { $0.key < $1.key }) {
            parts += ["certificate", host, "\(certificate)"]
        }
        return parts
    }
}
