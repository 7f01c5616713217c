// SPDX-License-Identifier: MIT

import CCurl

/// Names below which anybody may have a host: `com`, `co.uk`, `github.io`.
public enum PublicSuffix {
    /// Whether `domain` (in lower case) is one. By the list in libpsl, which libcurl brings along on Debian; where
    /// it is missing, names of one label are.
    public static let contains: @Sendable (String) -> Bool = { domain in
        guard domain.contains(".") else { return true }
        return wi_is_public_suffix(domain) == 1
    }
}
