// SPDX-License-Identifier: MIT

import Foundation
import WebImageStore

extension NetworkOptions {
    /// Returns text that separates what is cached under these options from what is cached under others, or `nil` if no
    /// option is set.
    ///
    /// The text is a hash: it contains no secret in the clear, and equal options give the same text in every process. A
    /// redirect policy is a closure and is different in every process.
    ///
    /// - Parameter url: The URL of the request, which decides about the cookies and credentials that are sent.
    package func cacheKeyPart(for url: URL) -> String? {
        guard self != NetworkOptions() else { return nil }
        var parts: [String] = []
        if let cookies { parts += ["cookies", cookies.jar == nil ? "disabled" : "jar"] }
        if credentials != nil { parts.append("credentials") }
        if let access = AccessIdentity.digest(for: url, cookies: cookies?.jar, credentials: credentials) {
            parts += ["access", access]
        }
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
