// SPDX-License-Identifier: MIT

import Foundation
import WebImageStore

/// The identity of the sender of a request: the cookie jar and the credential store, each with the generation of its
/// content.
///
/// The identity is valid within the process. ``digest(for:cookies:credentials:)`` identifies the sender on disk.
package struct AccessIdentity: Sendable, Hashable {
    private let cookies: IdentityBox<CookieJar>?
    private let cookieGeneration: UInt64
    private let credentials: IdentityBox<CredentialStore>?
    private let credentialGeneration: UInt64

    /// Creates the identity for the current content of a cookie jar and a credential store.
    package init(cookies: CookieJar?, credentials: CredentialStore?) {
        self.cookies = cookies.map { IdentityBox($0) }
        self.credentials = credentials.map { IdentityBox($0) }
        cookieGeneration = cookies?.generation ?? 0
        credentialGeneration = credentials?.generation ?? 0
    }

    /// Whether neither cookies nor credentials can be sent.
    ///
    /// If it's `false`, signing in may change the response to the same URL.
    package var isAnonymous: Bool { cookies == nil && credentials == nil }

    /// Returns a hash of the secrets that a request for a URL can send.
    ///
    /// The hash is the same in every process, so it can separate entries on disk. It doesn't reveal a secret.
    ///
    /// - Returns: The hash, or `nil` if the jar has no cookie and the store has no credential for the URL.
    package static func digest(for url: URL, cookies: CookieJar?, credentials: CredentialStore?) -> String? {
        let cookies = cookies?.peek(for: url)
        let credentials = credentials?.secrets(for: url) ?? []
        guard cookies != nil || !credentials.isEmpty else { return nil }
        return CacheKey(["access", cookies ?? "", cookies == nil ? "none" : "some"] + credentials).fileName
    }
}
