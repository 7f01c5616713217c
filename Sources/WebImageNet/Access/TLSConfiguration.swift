// SPDX-License-Identifier: MIT

import Foundation

/// The trusted servers and the client's certificates. Host names are in lowercase.
public struct TLSConfiguration: Sendable, Hashable {
    /// The minimum protocol version.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2.
        case tls12
        /// TLS 1.3.
        case tls13
    }

    /// The path of a PEM file with the authorities to trust instead of the system's, or `nil` for the system's.
    public var authorities: String?
    /// PEM text with the authorities to trust instead of the system's and of ``authorities``, or `nil` for none.
    public var authorityData: Data?
    /// The hosts whose certificates aren't checked. Use it only for development.
    public var uncheckedHosts: Set<String>
    /// The client certificates by host. A certificate is never sent to another host.
    public var clientCertificates: [String: ClientCertificate] = [:]
    /// The pinned public keys by host.
    ///
    /// The server must use one of the keys and also have a valid certificate chain. Each pin is the base64-encoded
    /// SHA-256 digest of the key in DER form (RFC 7469 2.4), with or without the prefix `sha256//`.
    public var pins: [String: [String]] = [:]
    /// The minimum TLS version. The default is TLS 1.2.
    public var minimumVersion = Version.tls12

    /// Creates a configuration.
    public init(authorities: String? = nil, uncheckedHosts: Set<String> = []) {
        self.authorities = authorities
        self.uncheckedHosts = uncheckedHosts
    }

    /// The configuration that trusts the system's authorities.
    public static let system = TLSConfiguration()

    /// Returns a configuration that trusts the authorities of a PEM file instead of the system's.
    public static func authorities(_ path: String) -> TLSConfiguration { TLSConfiguration(authorities: path) }

    /// Returns a configuration that doesn't check the certificates of the given hosts. Use it only for development.
    public static func insecure(hosts: Set<String>) -> TLSConfiguration { TLSConfiguration(uncheckedHosts: hosts) }

    /// Returns a copy of this configuration with a client certificate for `host`.
    public func identifying(as certificate: ClientCertificate, at host: String) -> TLSConfiguration {
        var changed = self
        changed.clientCertificates[host.lowercased()] = certificate
        return changed
    }

    /// Returns a copy of this configuration that accepts only the given public keys from `host`.
    public func pinning(_ host: String, to keys: [String]) -> TLSConfiguration {
        var changed = self
        changed.pins[host.lowercased()] = keys
        return changed
    }

    /// Returns the pins of `host` in the format of libcurl, or `nil` if there are none.
    func pinText(_ host: String) -> String? {
        guard let keys = pins[host] else { return nil }
        return keys.map { $0.hasPrefix("sha256//") ? $0 : "sha256//\($0)" }.joined(separator: ";")
    }
}

/// A client certificate and its private key, in PEM format.
public struct ClientCertificate: Sendable, Hashable {
    /// The location of the certificate and the key.
    enum Source: Sendable, Hashable {
        case files(certificate: String, key: String)
        case data(certificate: Data, key: Data)
    }

    let source: Source
    let password: String?

    /// Creates a certificate from PEM files. The password decrypts the key.
    public static func files(certificate: String, key: String, password: String? = nil) -> ClientCertificate {
        ClientCertificate(source: .files(certificate: certificate, key: key), password: password)
    }

    /// Creates a certificate from PEM text. The password decrypts the key.
    public static func data(certificate: Data, key: Data, password: String? = nil) -> ClientCertificate {
        ClientCertificate(source: .data(certificate: certificate, key: key), password: password)
    }
}
