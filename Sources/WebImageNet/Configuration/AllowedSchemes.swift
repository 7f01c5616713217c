// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

extension URL {
    /// A Boolean value that indicates whether the scheme is one of `schemes`, in any case (RFC 3986 3.1).
    ///
    /// Every scheme is allowed if `schemes` is `nil`.
    package func hasScheme(in schemes: Set<String>?) -> Bool {
        guard let schemes else { return true }
        guard let scheme = scheme?.lowercased() else { return false }
        return schemes.contains { $0.lowercased() == scheme }
    }
}

extension DownloaderConfiguration {
    /// Checks a URL before it is requested, `redirects` redirects after the URL of the request.
    ///
    /// - Throws: ``RequestError/unsupportedScheme(_:)`` for a request, and a ``NetworkError`` of the reason
    ///   ``NetworkError/Reason/redirectRefused`` for a redirect.
    func checkScheme(of url: URL, redirects: Int) throws(ImageError) {
        guard !url.hasScheme(in: allowedSchemes) else { return }
        let scheme = url.scheme?.lowercased() ?? ""
        guard redirects > 0 else { throw .request(.unsupportedScheme(scheme)) }
        throw .network(
            NetworkError(
                .redirectRefused, url: url.absoluteString, phase: .head, detail: "a redirect to the scheme \(scheme)"))
    }
}
