// SPDX-License-Identifier: MIT

import WebImageCore

extension CacheKey {
    /// The key of the bytes of a source for requests without options: its URL, or what an application calls it.
    ///
    /// Keys are written to disk. A user name and a password in the URL enter as a hash, which distinguishes them as well.
    package static func data(of source: String) -> CacheKey {
        guard let (url, credentials) = URLCredentials.split(source) else { return CacheKey(["data", source]) }
        return CacheKey(["data", url, "userinfo", hash(ofCredentials: credentials)])
    }

    /// What stands for a user name and a password in keys.
    package static func hash(ofCredentials credentials: String) -> String { CacheKey([credentials]).fileName }
}
