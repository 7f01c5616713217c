// SPDX-License-Identifier: MIT

import Foundation
import WebImageNet

extension TLSOptions {
    /// Returns options that trust the authorities of the PEM file at a path.
    public static func authorities(_ path: String) -> TLSOptions {
        var options = TLSOptions()
        options.trustRoots = .file(URL(filePath: path))
        return options
    }

    /// Returns a copy with a client certificate for `host`.
    public func identifying(as certificate: TLSOptions.ClientCertificate, at host: String) -> TLSOptions {
        var changed = self
        changed.clientCertificates[host] = certificate
        return changed
    }

    /// Returns a copy that accepts only the given public keys from `host`.
    public func pinning(_ host: String, to keys: [String]) -> TLSOptions {
        var changed = self
        changed.pinnedPublicKeys[host] = Set(keys)
        return changed
    }
}

extension TLSOptions.ClientCertificate {
    /// Creates a certificate from the PEM files at two paths.
    public static func files(certificate: String, privateKey: String) -> TLSOptions.ClientCertificate {
        files(certificate: URL(filePath: certificate), privateKey: URL(filePath: privateKey))
    }
}
