// SPDX-License-Identifier: MIT

import CContentCoding
import CCurl
import WebImageCore

/// The library that transfers data.
package enum TransportLibrary {
    /// The reason why libcurl can't be loaded, or `nil` if it's loaded. Loads libcurl.
    package static var failure: String? { CurlLibrary.failure }

    /// The name and the version of libcurl, followed by those of its libraries, such as `libcurl/7.88.1 OpenSSL/3.0.15`.
    ///
    /// Loads libcurl. If libcurl can't be loaded, the text is the reason.
    package static var version: String { CurlLibrary.failure ?? String(cString: wi_curl_version()) }

    /// The libraries that transfers use, with their versions.
    package static var list: [LibraryVersion] {
        var libraries: [LibraryVersion] = []
        // The text is “libcurl/7.88.1 OpenSSL/3.0.15 zlib/1.2.13 …”. The library in parentheses isn't in use.
        let parts = CurlLibrary.failure == nil ? version.split(separator: " ") : []
        for part in parts where !part.hasPrefix("(") {
            let sides = part.split(separator: "/")
            guard sides.count >= 2, let name = names[String(sides[0])] else { continue }
            libraries.append(LibraryVersion(name, String(sides[1])))
        }
        let brotli = BrotliDecoderVersion()
        libraries.append(LibraryVersion("zlib", zlibVersion().map { String(cString: $0) } ?? "?"))
        libraries.append(LibraryVersion("zstd", ZSTD_versionString().map { String(cString: $0) } ?? "?"))
        libraries.append(LibraryVersion("brotli", "\(brotli >> 24).\(brotli >> 12 & 0xFFF).\(brotli & 0xFFF)"))
        return libraries
    }

    /// The names of the libraries in the version text of libcurl that the list contains.
    private static let names = ["libcurl": "libcurl", "OpenSSL": "openssl", "GnuTLS": "gnutls", "nghttp2": "nghttp2"]

    private static var info: UnsafePointer<curl_version_info_data>? {
        CurlLibrary.failure == nil ? wi_curl_version_info() : nil
    }

    /// The name of the TLS library of libcurl, such as `OpenSSL/3.0.15`, or `nil` if libcurl doesn't support TLS.
    package static var tlsLibrary: String? {
        info?.pointee.ssl_version.map { String(cString: $0) }
    }

    /// The names of the features of libcurl that WebImage uses, and whether libcurl has them.
    package static var features: [(name: String, isThere: Bool)] {
        let bits = Int(info?.pointee.features ?? 0)
        return [
            ("TLS", bits & 1 << 2 != 0), ("IPv6", bits & 1 << 0 != 0), ("asynchronous DNS", bits & 1 << 7 != 0),
            ("IDN", bits & 1 << 10 != 0), ("HTTP/2", bits & 1 << 16 != 0), ("PSL", bits & 1 << 20 != 0),
            ("thread-safe initialization", bits & 1 << 30 != 0),
        ]
    }

    /// Returns whether the list of public suffixes is available. May load libpsl.
    package static var hasPublicSuffixes: Bool { wi_is_public_suffix("co.uk") == 1 }
}
