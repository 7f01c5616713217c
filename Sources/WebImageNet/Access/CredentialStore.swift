// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageStore

/// A user name and a password.
struct Credential: Sendable, Hashable {
    var user: String
    var password: String
    /// Whether the password may be sent in plain text, with Basic authentication.
    var allowsBasic = true
}

/// A thread-safe store of credentials by origin and realm.
///
/// A credential is sent only to its origin. The first time, it's sent after a 401 response. From then on, it's sent
/// with each request below the same directory. A second 401 response to the same request is an error.
public final class CredentialStore: Sendable {
    private struct CredentialKey: Hashable {
        var origin: String
        var realm: String?
    }

    /// A protection space: a challenge, its credential, and the number of times that the nonce was used.
    private struct ProtectionSpace {
        var directory: String
        var challenge: AuthenticationChallenge
        var credential: Credential
        var uses: UInt32 = 0
    }

    private struct State {
        var credentials: [CredentialKey: Credential] = [:]
        var standard: Credential?
        var spaces: [String: [ProtectionSpace]] = [:]
        var generation: UInt64 = 0

        /// Returns the index of the innermost protection space that contains a directory.
        func space(_ origin: String, _ folder: String) -> Int? {
            guard let spaces = spaces[origin] else { return nil }
            return spaces.indices.filter { folder.hasPrefix(spaces[$0].directory) }
                .max { spaces[$0].directory.count < spaces[$1].directory.count }
        }
    }

    private let state = Lock(State())

    private static let mostSpaces = 32

    /// Creates an empty store.
    public init() {}

    /// Creates a store with credentials for the origin of a URL, as ``setCredentials(user:password:for:realm:allowsBasic:)``
    /// sets them.
    ///
    /// - Parameters:
    ///   - user: The user name.
    ///   - password: The password.
    ///   - url: A URL with the scheme, host, and port of the server.
    ///   - realm: The realm, or `nil` for all realms. The default is `nil`.
    ///   - allowsBasic: A Boolean value that indicates whether the credentials may be used with Basic authentication.
    ///     The default is `true`.
    public convenience init(
        user: String, password: String, for url: URL, realm: String? = nil, allowsBasic: Bool = true
    ) {
        self.init()
        setCredentials(user: user, password: password, for: url, realm: realm, allowsBasic: allowsBasic)
    }

    /// Sets the credentials for the origin of a URL.
    ///
    /// - Parameters:
    ///   - user: The user name.
    ///   - password: The password.
    ///   - url: A URL with the scheme, host, and port of the server.
    ///   - realm: The realm, or `nil` for all realms without their own credentials. The default is `nil`.
    ///   - allowsBasic: A Boolean value that indicates whether the credentials may be used with Basic authentication,
    ///     which sends the password in plain text. Digest (RFC 7616) is preferred in any case. The default is `true`.
    public func setCredentials(
        user: String, password: String, for url: URL, realm: String? = nil, allowsBasic: Bool = true
    ) {
        let credential = Credential(user: user, password: password, allowsBasic: allowsBasic)
        let origin = Origin(url).description
        state.withLock { state in
            let place = CredentialKey(origin: origin, realm: realm)
            if state.credentials[place] != credential { state.generation += 1 }
            state.credentials[place] = credential
            state.spaces[origin] = nil
        }
    }

    /// Sets the credentials for all origins that have no credentials of their own.
    ///
    /// Every server whose URL is requested receives them if it requests authentication, so use them only if you trust all
    /// servers. After a redirect to another origin, they're not sent.
    ///
    /// - Parameters:
    ///   - user: The user name.
    ///   - password: The password.
    ///   - allowsBasic: A Boolean value that indicates whether the credentials may be used with Basic authentication,
    ///     which sends the password in plain text. The default is `true`.
    public func setDefaultCredentials(user: String, password: String, allowsBasic: Bool = true) {
        setDefault(Credential(user: user, password: password, allowsBasic: allowsBasic))
    }

    /// Removes the credentials for all origins that have no credentials of their own.
    public func removeDefaultCredentials() { setDefault(nil) }

    private func setDefault(_ credential: Credential?) {
        state.withLock { state in
            guard state.standard != credential else { return }
            state.generation += 1
            state.standard = credential
            // The spaces may contain the earlier credential.
            state.spaces = [:]
        }
    }

    /// Removes all credentials for the origin of a URL.
    public func removeCredentials(for url: URL) {
        let origin = Origin(url).description
        state.withLock { state in
            let left = state.credentials.filter { $0.key.origin != origin }
            if left.count != state.credentials.count { state.generation += 1 }
            state.credentials = left
            state.spaces[origin] = nil
        }
    }

    /// A number that changes when a credential is added, changed, or removed.
    package var generation: UInt64 { state.withLock { $0.generation } }

    func secrets(for url: URL) -> [String] {
        let origin = Origin(url).description
        let (found, standard) = state.withLock { state in
            (state.credentials.filter { $0.key.origin == origin }, state.standard)
        }
        var all = found.map { (realm: $0.key.realm.map { "realm:\($0)" } ?? "all", credential: $0.value) }
            .sorted { $0.realm < $1.realm }
        if let standard { all.append(("default", standard)) }
        return all.flatMap { realm, credential in
            [realm, credential.user, credential.password, credential.allowsBasic ? "any" : "digest"]
        }
    }

    /// Returns `false` if there is no credential for any challenge or no supported scheme. `allowsDefault` indicates
    /// whether the credentials for all origins may be used.
    func learn(_ head: HTTPResponseHead, url: URL, allowsDefault: Bool) -> Bool {
        let origin = Origin(url).description
        let folder = Self.directory(of: url)
        let challenges = AuthenticationChallenge.all(head)
        return state.withLock { state in
            // The nonce of an earlier challenge may have expired.
            state.spaces[origin]?.removeAll { $0.directory == folder }
            var best: (strength: Int, space: ProtectionSpace)?
            for challenge in challenges {
                guard
                    let credential = state.credentials[CredentialKey(origin: origin, realm: challenge.realm)]
                        ?? state.credentials[CredentialKey(origin: origin, realm: nil)]
                        ?? (allowsDefault ? state.standard : nil),
                    let strength = Self.strength(challenge, credential), strength > best?.strength ?? -1
                else { continue }
                best = (strength, ProtectionSpace(directory: folder, challenge: challenge, credential: credential))
            }
            guard let best else { return false }
            if state.spaces[origin, default: []].count >= Self.mostSpaces { state.spaces[origin]?.removeFirst() }
            state.spaces[origin, default: []].append(best.space)
            return true
        }
    }

    func removeSpaces(_ url: URL) {
        let origin = Origin(url).description
        let folder = Self.directory(of: url)
        state.withLock { $0.spaces[origin]?.removeAll { $0.directory == folder } }
    }

    /// Returns a hash that is the same for all requests, even with Digest, or `nil` if there is no credential.
    func identity(for url: URL) -> String? {
        let origin = Origin(url).description
        let credential = state.withLock { state in
            state.space(origin, Self.directory(of: url)).flatMap { state.spaces[origin]?[$0].credential }
        }
        return credential.map { CacheKey([$0.user, $0.password]).fileName }
    }

    /// Returns the value of the `Authorization` header field, or `nil` if the server hasn't sent a challenge.
    func authorization(method: String, url: URL, clientNonce: String) -> String? {
        let origin = Origin(url).description
        let space = state.withLock { state -> ProtectionSpace? in
            guard let index = state.space(origin, Self.directory(of: url)) else { return nil }
            // The server rejects a nonce count that it has already received, so each use has its own (RFC 7616 3.4).
            state.spaces[origin]?[index].uses &+= 1
            return state.spaces[origin]?[index]
        }
        guard let space else { return nil }
        if let digest = DigestResponse(space.challenge) {
            return digest.header(
                space.credential, method: method, target: Self.target(of: url), count: space.uses,
                clientNonce: clientNonce)
        }
        let text = "\(space.credential.user):\(space.credential.password)"
        return "Basic " + Data(text.utf8).base64EncodedString()
    }

    /// Returns the strength of the response to a challenge, or `nil` if the credential can't be used for it.
    private static func strength(_ challenge: AuthenticationChallenge, _ credential: Credential) -> Int? {
        if let digest = DigestResponse(challenge) { return 1 + digest.function.rawValue }
        // A user name with a colon isn't valid in Basic authentication (RFC 7617 2).
        let isBasic = challenge.scheme == "basic" && credential.allowsBasic && !credential.user.contains(":")
        return isBasic ? 0 : nil
    }

    /// Returns the path up to and including its last slash (RFC 7617 2.2).
    private static func directory(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        return path.lastIndex(of: "/").map { String(path[...$0]) } ?? "/"
    }

    private static func target(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        return (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
    }
}
