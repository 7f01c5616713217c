// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency

extension DiskCache {
    /// The limits of a ``DiskCache``, which can change while it runs.
    public struct Limits: Sendable, Hashable {
        /// The maximum number of bytes that all entries may occupy on disk. The default is 512 MiB.
        public var sizeLimit = 512 << 20
        /// The maximum number of entries. The default is unlimited.
        public var countLimit = Int.max
        /// The maximum size of one entry in bytes. The default is `nil`, which means one tenth of ``sizeLimit``, up to
        /// 32 MiB.
        public var entrySizeLimit: Int?
        /// The time after which an entry that was neither stored nor revalidated is deleted. The default is 30 days.
        public var maxAge = Duration.seconds(30 * 86_400)

        /// Creates the default limits.
        public init() {}

        init(_ configuration: Configuration) {
            sizeLimit = configuration.sizeLimit
            countLimit = configuration.countLimit
            entrySizeLimit = configuration.entrySizeLimit
            maxAge = configuration.maxAge
        }

        var effectiveEntrySizeLimit: Int { entrySizeLimit ?? min(sizeLimit / 10, 32 << 20) }

        var nonnegative: Limits {
            var limits = self
            limits.sizeLimit = max(0, sizeLimit)
            limits.countLimit = max(0, countLimit)
            limits.entrySizeLimit = entrySizeLimit.map { max(0, $0) }
            limits.maxAge = max(.zero, maxAge)
            return limits
        }
    }

    /// The limits of the cache. They begin with those of the configuration.
    ///
    /// You can change them at any time, and the change never blocks. If the entries exceed lower limits, the cache
    /// evicts entries in the background, beginning immediately. A new
    /// ``DiskCache/Limits/entrySizeLimit`` applies to entries that are stored afterward. Negative limits become 0.
    public var limits: Limits {
        get { state.limits }
        set {
            state.setLimits(newValue.nonnegative)
            _ = state.enqueueIfOpen(.checkLimits)
        }
    }
}
