// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The trusted servers and the client's certificates.
///
/// Host names apply regardless of their spelling, such as the case or a trailing dot.
public struct TLSOptions: Sendable, Hashable {
    /// The minimum protocol version.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2.
        case tls12
        /// TLS 1.3.
        case tls13
    }

    /// The certificate authorities that are trusted.
    public enum TrustRoots: Sendable, Hashable {
        /// The authorities of the system.
        case system
        /// The authorities in a PEM file, instead of those of the system.
        case file(URL)
        /// The authorities in PEM data, instead of those of the system.
        case pem(Data)
    }

    /// The certificate authorities that are trusted. The default is ``TrustRoots/system``.
    public var trustRoots = TrustRoots.system
    /// The hosts whose certificates aren't checked. Use it only for development. The default is an empty set.
    public var insecureHosts: Set<String> = []
    /// The client certificates by host. A certificate is never sent to another host.
    public var clientCertificates: [String: TLSOptions.ClientCertificate] = [:]
    /// The pinned public keys by host.
    ///
    /// The server must use one of the keys and also have a valid certificate chain. Each pin is the base64-encoded
    /// SHA-256 digest of the key in DER form (RFC 7469 2.4), with or without the prefix `sha256//`.
    public var pinnedPublicKeys: [String: Set<String>] = [:]
    /// The minimum TLS version. The default is TLS 1.2.
    public var minimumVersion = Version.tls12

    /// Creates options with the default values.
    public init() {}

    /// Returns options that don't check the certificates of the given hosts. Use them only for development.
    public static func insecure(hosts: Set<String>) -> TLSOptions {
        var options = TLSOptions()
        options.insecureHosts = hosts
        return options
    }

    /// Returns the client certificate for `host`, given in the normal form, or `nil` if there is none.
    func certificate(for host: String) -> TLSOptions.ClientCertificate? {
        Self.value(in: clientCertificates, for: host)
    }

    /// Returns whether the certificate of `host`, given in the normal form, is checked.
    func verifies(_ host: String) -> Bool {
        !insecureHosts.contains(host) && !insecureHosts.contains { HostName($0)?.text == host }
    }

    private static func value<Value>(in values: [String: Value], for host: String) -> Value? {
        // Several spellings of a host can have values. The result mustn't depend on their order in memory.
        values[host] ?? values.filter { HostName($0.key)?.text == host }.min { $0.key < $1.key }?.value
    }

    /// Returns the pins of `host`, given in the normal form, in the format of libcurl, or `nil` if there are none.
    func pinText(_ host: String) -> String? {
        guard let keys = Self.value(in: pinnedPublicKeys, for: host) else { return nil }
        return keys.sorted().map { $0.hasPrefix("sha256//") ? $0 : "sha256//\($0)" }.joined(separator: ";")
    }
}

extension TLSOptions {
    /// A client certificate and its private key, in PEM format.
    public struct ClientCertificate: Sendable, Hashable {
        /// The location of the certificate and the key.
        enum Source: Sendable, Hashable {
            case files(certificate: URL, key: URL)
            case data(certificate: Data, key: Data)
        }

        let source: Source
        let password: String?

        /// Creates a certificate from PEM files. The password decrypts the key.
        public static func files(certificate: URL, privateKey: URL, password: String? = nil)
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
