// SPDX-License-Identifier: MIT

import Foundation

/// Whom the downloader trusts, and how it identifies itself. Hosts are written in lower case.
public struct TLSConfiguration: Sendable, Hashable {
    /// Oldest protocol version that is spoken.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2.
        case tls12
        /// TLS 1.3.
        case tls13
    }

    /// PEM file of the authorities to trust in place of the system's; nil for the system's.
    public var authorities: String?
    /// PEM text of the authorities to trust in place of the system's and of ``authorities``; nil for none.
    public var authorityData: Data?
    /// Hosts whose certificates are not checked at all. For development only.
    public var uncheckedHosts: Set<String>
    /// Who we are, by host. Never shown to another host.
    public var clientCertificates: [String: ClientCertificate] = [:]
    /// Public keys by host: the server's must be one of them, besides a valid chain. Each is the base64 SHA-256
    /// digest of the key's DER form (RFC 7469 2.4), with or without `sha256//` before it.
    public var pins: [String: [String]] = [:]
    /// Oldest version. Default TLS 1.2.
    public var minimumVersion = Version.tls12

    /// Creates a configuration.
    public init(authorities: String? = nil, uncheckedHosts: Set<String> = []) {
        self.authorities = authorities
        self.uncheckedHosts = uncheckedHosts
    }

    /// The system's authorities.
    public static let system = TLSConfiguration()

    /// The authorities of a PEM file in place of the system's.
    public static func authorities(_ path: String) -> TLSConfiguration { TLSConfiguration(authorities: path) }

    /// No check for these hosts, the system's authorities for all others. For development only.
    public static func insecure(hosts: Set<String>) -> TLSConfiguration { TLSConfiguration(uncheckedHosts: hosts) }

    /// The same with a certificate of our own for `host`.
    public func identifying(as certificate: ClientCertificate, at host: String) -> TLSConfiguration {
        var changed = self
        changed.clientCertificates[host.lowercased()] = certificate
        return changed
    }

    /// The same with `keys` as the only ones that `host` may have.
    public func pinning(_ host: String, to keys: [String]) -> TLSConfiguration {
        var changed = self
        changed.pins[host.lowercased()] = keys
        return changed
    }

    /// The pins of `host` as libcurl writes them; nil where there are none.
    func pinText(_ host: String) -> String? {
        guard let keys = pins[host] else { return nil }
        return keys.map { $0.hasPrefix("sha256//") ? $0 : "sha256//\($0)" }.joined(separator: ";")
    }
}

/// A certificate and its key, in PEM.
public struct ClientCertificate: Sendable, Hashable {
    /// Where they are.
    enum Source: Sendable, Hashable {
        case files(certificate: String, key: String)
        case data(certificate: Data, key: Data)
    }

    let source: Source
    let password: String?

    /// From PEM files. `password` opens the key.
    public static func files(certificate: String, key: String, password: String? = nil) -> ClientCertificate {
        ClientCertificate(source: .files(certificate: certificate, key: key), password: password)
    }

    /// From PEM text. `password` opens the key.
    public static func data(certificate: Data, key: Data, password: String? = nil) -> ClientCertificate {
        ClientCertificate(source: .data(certificate: certificate, key: key), password: password)
    }
}
