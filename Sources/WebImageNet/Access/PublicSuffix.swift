// SPDX-License-Identifier: MIT

import CCurl

/// Domain names under which anyone can register a host, such as `com`, `co.uk`, and `github.io`.
package enum PublicSuffix {
    /// Returns whether a lowercase domain is a public suffix.
    ///
    /// The function uses the list in libpsl, on which libcurl depends on Debian. Without libpsl, only names of one
    /// label are public suffixes.
    package static let contains: @Sendable (String) -> Bool = { domain in
        guard domain.contains(".") else { return true }
        return wi_is_public_suffix(domain) == 1
    }
}
