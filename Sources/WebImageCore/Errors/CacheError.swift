// SPDX-License-Identifier: MIT

import Foundation

/// What can go wrong in the stores. Codes 3001 and up. A request for a picture meets only ``notInCache``
/// and ``remembered(cause:since:until:)``; the rest reaches who administers a cache.
public indirect enum CacheError: Sendable, Hashable {
    /// 3001: only the caches were allowed, and none has it.
    case notInCache
    /// 3002: the folder cannot be used as a cache: a symbolic link, somebody else's, writable by others.
    case unsafeDirectory(path: String, reason: String)
    /// 3003: the operating system refused an operation.
    case system(operation: String, path: String, errno: Int32)
    /// 3004: an entry that is not what was written.
    case corrupt(reason: String)
    /// 3005: the index refused an operation.
    case index(code: Int32, message: String)
    /// 3006: writing pauses because the disk is full or read-only.
    case suspended(reason: String)
    /// 3007: nobody was asked, because the same failed a short while ago. It is asked for again after `until`, or by a
    /// request that ignores failures.
    case remembered(cause: ImageError, since: Date, until: Date)

    /// The stable number.
    public var code: Int {
        switch self {
        case .notInCache: 3001
        case .unsafeDirectory: 3002
        case .system: 3003
        case .corrupt: 3004
        case .index: 3005
        case .suspended: 3006
        case .remembered: 3007
        }
    }

    /// A sentence a person can act on.
    public var message: String {
        switch self {
        case .notInCache: "The picture is not in the cache, and only the cache was allowed."
        case .unsafeDirectory(let path, let reason): "The folder \(path) cannot hold a cache: \(reason)."
        case .system(let operation, let path, let errno): "\(operation) failed for \(path) (errno \(errno))."
        case .corrupt(let reason): "A cache entry is damaged: \(reason)."
        case .index(let code, let message): "The cache index failed: \(message) (SQLite \(code))."
        case .suspended(let reason): "The disk cache takes no new entries for a while: \(reason)."
        case .remembered(let cause, let since, let until):
            "\(cause.message) (remembered since \(since.formatted(.iso8601)), asked again after "
                + "\(until.formatted(.iso8601)))"
        }
    }
}
