// SPDX-License-Identifier: MIT

import CCurl
import Foundation

/// The peer of a TLS option. libcurl has each option for both peers.
enum TLSPeer {
    case server
    case proxy
}

extension EasyHandle {
    /// Sets the options of `tls` for a host, given in the normal form.
    func prepare(_ tls: TLSOptions, host: String, _ peer: TLSPeer = .server) {
        func of(_ server: CURLoption, _ proxy: CURLoption) -> CURLoption { peer == .server ? server : proxy }
        switch tls.trustRoots {
        case .system: break
        case .file(let file):
            set(of(CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO), file.absoluteURL.path(percentEncoded: false))
        case .pem(let data): set(of(CURLOPT_CAINFO_BLOB, CURLOPT_PROXY_CAINFO_BLOB), data)
        }
        // TLS 1.0 and 1.1 are deprecated (RFC 8996).
        let oldest = tls.minimumVersion == .tls13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2
        set(of(CURLOPT_SSLVERSION, CURLOPT_PROXY_SSLVERSION), Int(oldest))
        if let pins = tls.pinText(host) {
            // If the list is empty, no key is allowed, but libcurl would interpret an empty string as no pin.
            set(
                of(CURLOPT_PINNEDPUBLICKEY, CURLOPT_PROXY_PINNEDPUBLICKEY), pins.isEmpty ? "sha256//" : pins)
        }
        if let certificate = tls.certificate(for: host) { prepare(certificate, peer) }
        guard !tls.verifies(host) else { return }
        set(of(CURLOPT_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYPEER), 0)
        set(of(CURLOPT_SSL_VERIFYHOST, CURLOPT_PROXY_SSL_VERIFYHOST), 0)
    }

    private func prepare(_ certificate: TLSOptions.ClientCertificate, _ peer: TLSPeer) {
        func of(_ server: CURLoption, _ proxy: CURLoption) -> CURLoption { peer == .server ? server : proxy }
        switch certificate.source {
        case .files(let file, let key):
            set(of(CURLOPT_SSLCERT, CURLOPT_PROXY_SSLCERT), file.absoluteURL.path(percentEncoded: false))
            set(of(CURLOPT_SSLKEY, CURLOPT_PROXY_SSLKEY), key.absoluteURL.path(percentEncoded: false))
        case .data(let text, let key):
            set(of(CURLOPT_SSLCERT_BLOB, CURLOPT_PROXY_SSLCERT_BLOB), text)
            set(of(CURLOPT_SSLKEY_BLOB, CURLOPT_PROXY_SSLKEY_BLOB), key)
        }
        if let password = certificate.password { set(of(CURLOPT_KEYPASSWD, CURLOPT_PROXY_KEYPASSWD), password) }
    }

    /// Sets an option to data, which libcurl copies.
    private func set(_ option: CURLoption, _ bytes: Data) {
        bytes.withUnsafeBytes { bytes in
            var blob = curl_blob(
                data: UnsafeMutableRawPointer(mutating: bytes.baseAddress), len: bytes.count,
                flags: UInt32(CURL_BLOB_COPY))
            withUnsafeMutablePointer(to: &blob) { _ = wi_curl_set_pointer(pointer, option, $0) }
        }
    }
}
