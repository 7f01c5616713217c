// SPDX-License-Identifier: MIT

import CCurl
import Foundation

extension EasyHandle {
    /// Sets what `tls` says of `host` (in lower case).
    func prepare(_ tls: TLSConfiguration, host: String) {
        if let text = tls.authorityData {
            set(CURLOPT_CAINFO_BLOB, text)
        } else if let path = tls.authorities {
            set(CURLOPT_CAINFO, path)
        }
        switch tls.minimumVersion {
        case .tls12: set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        case .tls13: set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_3))
        }
        if let pins = tls.pinText(host) {
            // No key at all is allowed then, and libcurl takes an empty text for no pin.
            set(CURLOPT_PINNEDPUBLICKEY, pins.isEmpty ? "sha256//" : pins)
        }
        if let certificate = tls.clientCertificates[host] { prepare(certificate) }
        guard tls.uncheckedHosts.contains(host) else { return }
        set(CURLOPT_SSL_VERIFYPEER, 0)
        set(CURLOPT_SSL_VERIFYHOST, 0)
    }

    private func prepare(_ certificate: ClientCertificate) {
        switch certificate.source {
        case .files(let path, let key):
            set(CURLOPT_SSLCERT, path)
            set(CURLOPT_SSLKEY, key)
        case .data(let text, let key):
            set(CURLOPT_SSLCERT_BLOB, text)
            set(CURLOPT_SSLKEY_BLOB, key)
        }
        if let password = certificate.password { set(CURLOPT_KEYPASSWD, password) }
    }

    /// libcurl copies the bytes.
    private func set(_ option: CURLoption, _ bytes: Data) {
        bytes.withUnsafeBytes { bytes in
            var blob = curl_blob(
                data: UnsafeMutableRawPointer(mutating: bytes.baseAddress), len: bytes.count,
                flags: UInt32(CURL_BLOB_COPY))
            withUnsafeMutablePointer(to: &blob) { _ = wi_curl_set_pointer(pointer, option, $0) }
        }
    }
}
