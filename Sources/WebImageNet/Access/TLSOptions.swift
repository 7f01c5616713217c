// SPDX-License-Identifier: MIT

import Foundation

/// The trusted servers and the client's certificates. Host names are in lowercase.
public struct TLSOptions: Sendable, Hashable {
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
    public var insecureHosts: Set<String>
    /// The client certificates by host. A certificate is never sent to another host.
    public var clientCertificates: [String: TLSOptions.ClientCertificate] = [:]
    /// The pinned public keys by host.
    ///
    /// The server must use one of the keys and also have a valid certificate chain. Each pin is the base64-encoded
    /// SHA-256 digest of the key in DER form (RFC 7469 2.4), with or without the prefix `sha256//`.
    public var pinnedPublicKeys: [String: [String]] = [:]
    /// The minimum TLS version. The default is TLS 1.2.
    public var minimumVersion = Version.tls12

    /// Creates a configuration.
    public init(authorities: String? = nil, insecureHosts: Set<String> = []) {
        self.authorities = authorities
        self.insecureHosts = insecureHosts
    }

    /// The configuration that trusts the system's authorities.
    public static let system = TLSOptions()

    /// Returns a configuration that trusts the authorities of a PEM file instead of the system's.
    public static func authorities(_ path: String) -> TLSOptions { TLSOptions(authorities: path) }

    /// Returns a configuration that doesn't check the certificates of the given hosts. Use it only for development.
    public static func insecure(hosts: Set<String>) -> TLSOptions { TLSOptions(insecureHosts: hosts) }

    /// Returns a copy of this configuration with a client certificate for `host`.
    public func identifying(as certificate: TLSOptions.ClientCertificate, at host: String) -> TLSOptions {
        var changed = self
        changed.clientCertificates[host.lowercased()] = certificate
        return changed
    }

    /// Returns a copy of this configuration that accepts only the given public keys from `host`.
    public func pinning(_ host: String, to keys: [String]) -> TLSOptions {
        var changed = self
        changed.pinnedPublicKeys[host.lowercased()] = keys
        return changed
    }

    /// Returns the pins of `host` in the format of libcurl, or `nil` if there are none.
    func pinText(_ host: String) -> String? {
        guard let keys = pinnedPublicKeys[host] else { return nil }
        return keys.map { $0.hasPrefix("sha256//") ? $0 : "sha256//\($0)" }.joined(separator: ";")
    }
}

extension TLSOptions {
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
        public static func files(certificate: String, privateKey: String, password: String? = nil)
            -> TLSOptions.ClientCertificate
        {
            TLSOptions.ClientCertificate(source: .files(certificate: certificate, key: privateKey), password: password)
        }

        /// Creates a certificate from PEM text. The password decrypts the key.
        public static func pem(certificate: Data, privateKey: Data, password: String? = nil)
            -> TLSOptions.ClientCertificate
        {
            TLSOptions.ClientCertificate(source: .data(certificate: certificate, key: privateKey), password: password)
        }
    }
}
