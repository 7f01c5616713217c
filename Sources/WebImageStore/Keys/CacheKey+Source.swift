// SPDX-License-Identifier: MIT

import WebImageCore

extension CacheKey {
    /// Returns the key of a source's data for requests without options.
    ///
    /// The source is a URL or a name that the app chose. Keys are written to disk, so a hash replaces the user name and
    /// the password of a URL. Keys with different credentials still differ.
    package static func data(of source: String) -> CacheKey {
        guard let (url, credentials) = URLCredentials.split(source) else { return CacheKey(["data", source]) }
        return CacheKey(["data", url, "userinfo", hash(ofCredentials: credentials)])
    }

    /// Returns the text that represents a user name and a password in keys.
    package static func hash(ofCredentials credentials: String) -> String { CacheKey([credentials]).fileName }
}
