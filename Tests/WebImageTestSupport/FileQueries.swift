// SPDX-License-Identifier: MIT

import CNetFaults
import Foundation

/// A counter for the file system queries of a thread.
public enum FileQueries {
    /// Returns how many times the calling thread queries the file system for the status of `url` during `body`.
    public static func count(of url: URL, during body: () -> Void) -> Int {
        url.path(percentEncoded: false).withCString { path in
            wi_stat_watch(path)
            defer { wi_stat_watch(nil) }
            body()
            return Int(wi_stat_calls())
        }
    }
}
