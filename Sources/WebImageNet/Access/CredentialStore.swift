// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageStore

/// A user and a password.
public struct Credential: Sendable, Hashable {
    /// How they may be shown to a server.
    public enum Scheme: Sendable, Hashable {
        /// As the server likes, Digest before Basic.
        case any
        /// Never in the clear: Digest alone (RFC 7616).
        case digest
    }

    /// The user.
    public var user: String
    /// The password.
    public var password: String
    /// How they may be shown. Default any.
    public var scheme: Scheme

    /// Creates a credential.
    public init(user: String, password: String, scheme: Scheme = .any) {
        self.user = user
        self.password = password
        self.scheme = scheme
    }
}

/// Credentials by origin and realm. They are sent to that origin alone, after it asked (401), and from then on with
/// each request below the same folder. One try per request: a second 401 is an error. Thread-safe.
public final class CredentialStore: Sendable {
    private struct Place: Hashable {
        var origin: String
        var realm: String?
    }

    /// A challenge that was answered, and how often its nonce was used.
    private struct Space {
        var folder: String
        var challenge: AuthenticationChallenge
        var credential: Credential
        var uses: UInt32 = 0
    }

    private struct State {
        var credentials: [Place: Credential] = [:]
        var spaces: [String: [Space]] = [:]
        var generation: UInt64 = 0

        /// The index of the innermost space around a folder.
        func space(_ origin: String, _ folder: String) -> Int? {
            guard let spaces = spaces[origin] else { return nil }
            return spaces.indices.filter { folder.hasPrefix(spaces[$0].folder) }
                .max { spaces[$0].folder.count < spaces[$1].folder.count }
        }
    }

    private let state = Lock(State())

    /// Most folders that are remembered for one origin.
    private static let mostSpaces = 32

    /// Creates an empty store.
    public init() {}

    /// Sets the credential for the scheme, host and port of `url`; for one realm, or for all others with nil.
    public func set(_ credential: Credential, for url: URL, realm: String? = nil) {
        let origin = Origin(url).description
        state.withLock { state in
            let place = Place(origin: origin, realm: realm)
            if state.credentials[place] != credential { state.generation += 1 }
            state.credentials[place] = credential
            state.spaces[origin] = nil
        }
    }

    /// Forgets all credentials of an origin.
    public func remove(for url: URL) {
        let origin = Origin(url).description
        state.withLock { state in
            let left = state.credentials.filter { $0.key.origin != origin }
            if left.count != state.credentials.count { state.generation += 1 }
            state.credentials = left
            state.spaces[origin] = nil
        }
    }

    /// A number that changes whenever a credential is added, changed, or removed.
    package var generation: UInt64 { state.withLock { $0.generation } }

    /// The credentials for the origin of `url` as text, in the order of their realms. Empty if there are none.
    func secrets(for url: URL) -> [String] {
        let origin = Origin(url).description
        let found = state.withLock { $0.credentials.filter { $0.key.origin == origin } }
        let sorted = found.map { (realm: $0.key.realm.map { "realm:\($0)" } ?? "all", credential: $0.value) }
            .sorted { $0.realm < $1.realm }
        return sorted.flatMap { [$0.realm, $0.credential.user, $0.credential.password, "\($0.credential.scheme)"] }
    }

    /// Remembers how to answer a 401. False where there is no credential for it, or no known scheme.
    func learn(_ head: ResponseHead, url: URL) -> Bool {
        let origin = Origin(url).description
        let folder = Self.folder(of: url)
        let challenges = AuthenticationChallenge.all(head)
        return state.withLock { state in
            state.spaces[origin]?.removeAll { $0.folder == folder }
            var best: (strength: Int, space: Space)?
            for challenge in challenges {
                guard
                    let credential = state.credentials[Place(origin: origin, realm: challenge.realm)]
                        ?? state.credentials[Place(origin: origin, realm: nil)],
                    let strength = Self.strength(challenge, credential), strength > best?.strength ?? -1
                else { continue }
                best = (strength, Space(folder: folder, challenge: challenge, credential: credential))
            }
            guard let best else { return false }
            if state.spaces[origin, default: []].count >= Self.mostSpaces { state.spaces[origin]?.removeFirst() }
            state.spaces[origin, default: []].append(best.space)
            return true
        }
    }

    /// Forgets how a 401 of `url` was answered: it did not help.
    func forget(_ url: URL) {
        let origin = Origin(url).description
        let folder = Self.folder(of: url)
        state.withLock { $0.spaces[origin]?.removeAll { $0.folder == folder } }
    }

    /// A hash of the user and the password that ``authorization(method:url:clientNonce:)`` shows; nil where it shows
    /// none. The same for all requests, also for Digest.
    func identity(for url: URL) -> String? {
        let origin = Origin(url).description
        let credential = state.withLock { state in
            state.space(origin, Self.folder(of: url)).flatMap { state.spaces[origin]?[$0].credential }
        }
        return credential.map { CacheKey([$0.user, $0.password]).fileName }
    }

    /// The Authorization field for `url`; nil where its server has not asked.
    func authorization(method: String, url: URL, clientNonce: String) -> String? {
        let origin = Origin(url).description
        let space = state.withLock { state -> Space? in
            guard let index = state.space(origin, Self.folder(of: url)) else { return nil }
            state.spaces[origin]?[index].uses &+= 1
            return state.spaces[origin]?[index]
        }
        guard let space else { return nil }
        if let digest = DigestAnswer(space.challenge) {
            return digest.field(
                space.credential, method: method, target: Self.target(of: url), count: space.uses,
                clientNonce: clientNonce)
        }
        let text = "\(space.credential.user):\(space.credential.password)"
        return "Basic " + Data(text.utf8).base64EncodedString()
    }

    /// How good an answer can be; nil where none is possible.
    private static func strength(_ challenge: AuthenticationChallenge, _ credential: Credential) -> Int? {
        if let digest = DigestAnswer(challenge) { return 1 + digest.function.rawValue }
        // RFC 7617 2: a colon would end the user's name early.
        let isBasic = challenge.scheme == "basic" && credential.scheme == .any && !credential.user.contains(":")
        return isBasic ? 0 : nil
    }

    /// The path up to its last slash (RFC 7617 2.2).
    private static func folder(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        return path.lastIndex(of: "/").map { String(path[...$0]) } ?? "/"
    }

    /// Path and query as they are sent.
    private static func target(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        return (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
    }
}
