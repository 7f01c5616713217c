// SPDX-License-Identifier: MIT

import CNetFaults
import Foundation

/// Counts the queries about files that a thread makes.
public enum FileQueries {
    /// Returns how often the calling thread asks the file system about `url` while `body` runs on it.
    public static func count(of url: URL, during body: () -> Void) -> Int {
        url.path(percentEncoded: false).withCString { path in
            wi_stat_watch(path)
            defer { wi_stat_watch(nil) }
            body()
            return Int(wi_stat_calls())
        }
    }
}
