// SPDX-License-Identifier: MIT

import CCurl
import CHash
import WebImageCore

/// libcurl, which a process loads with its first transfer.
///
/// Loading libcurl and the libraries on which it depends takes several milliseconds, so a process that finds its images
/// in a cache doesn't load it.
enum CurlLibrary {
    /// The reason why libcurl can't be loaded, or `nil` after it was loaded and initialized.
    ///
    /// The first call loads libcurl and blocks. Call it before any other function of libcurl.
    static let failure: String? = {
        if let reason = wi_curl_load() { return String(cString: reason) }
        // With `CURLOPT_NOSIGNAL`, libcurl doesn't ignore SIGPIPE, so a server that closes a TLS connection would end
        // the process.
        wi_ignore_broken_pipes()
        // libcurl initializes OpenSSL.
        wi_openssl_prepare()
        let code = wi_curl_global_init()
        return code == CURLE_OK ? nil : String(cString: wi_curl_message(code))
    }()

    static func error(_ request: TransferRequest) -> ImageError {
        let reason = failure ?? "memory or file descriptors are exhausted"
        return .network(
            ImageError.NetworkFailure(
                .other, url: request.failureURL, phase: .queued, curlCode: nil,
                details: "The network library can't be used: \(reason)"))
    }
}
