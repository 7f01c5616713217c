// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

extension URL {
    /// Returns whether the scheme is one of `schemes`, regardless of case (RFC 3986 3.1).
    ///
    /// Every scheme is allowed if `schemes` is `nil`.
    package func hasScheme(in schemes: Set<String>?) -> Bool {
        guard let schemes else { return true }
        guard let scheme = scheme?.lowercased() else { return false }
        return schemes.contains { $0.lowercased() == scheme }
    }
}

extension ImageDownloader.Configuration {
    /// Throws ``ImageError/RequestFailure/unsupportedScheme(_:)`` for the URL of a request, and a failure with the
    /// reason ``ImageError/NetworkFailure/Reason/redirectNotAllowed`` for the target of a redirect.
    func checkScheme(of url: URL, redirects: Int) throws(ImageError) {
        guard !url.hasScheme(in: allowedSchemes) else { return }
        let scheme = url.scheme?.lowercased() ?? ""
        guard redirects > 0 else { throw .request(.unsupportedScheme(scheme)) }
        throw .network(
            ImageError.NetworkFailure(
                .redirectNotAllowed, url: url, phase: .waitingForResponse,
                details: "the scheme \(scheme) isn't allowed"))
    }
}
