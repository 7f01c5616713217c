// SPDX-License-Identifier: MIT

import Synchronization
import WebImageCore

/// How much a downloader has to do.
public struct DownloaderActivity: Sendable, Hashable {
    /// Transfers that hold a place.
    public var running = 0
    /// Transfers that wait for one.
    public var queued = 0

    /// All zero.
    public init() {}
}

/// Counts transfers by origin. Thread-safe.
final class ActivityBoard: Sendable {
    private let origins = Lock<[String: DownloaderActivity]>([:])

    /// Everything together.
    var total: DownloaderActivity {
        origins.withLock { origins in
            origins.values.reduce(into: DownloaderActivity()) {
                $0.running += $1.running
                $0.queued += $1.queued
            }
        }
    }

    subscript(origin: String) -> DownloaderActivity {
        origins.withLock { $0[origin] ?? DownloaderActivity() }
    }

    func change(_ origin: String, running: Int = 0, queued: Int = 0) {
        origins.withLock { origins in
            var activity = origins[origin] ?? DownloaderActivity()
            activity.running += running
            activity.queued += queued
            origins[origin] = activity == DownloaderActivity() ? nil : activity
        }
    }
}
