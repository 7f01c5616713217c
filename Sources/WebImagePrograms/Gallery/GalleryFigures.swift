// SPDX-License-Identifier: MIT

import WebImage
import WebImageCommand

/// What the gallery's live panel shows, taken at one moment. A value.
package struct GalleryFigures: Sendable, Hashable {
    /// A line of the panel.
    package struct Row: Sendable, Hashable {
        package let label: String
        package let value: String
        /// 0 to 1, for a bar; nil for none.
        package let fraction: Double?
        /// Whether it stands for itself; others tell more of the one before.
        package let isMain: Bool

        init(_ label: String, _ value: String, _ fraction: Double? = nil, isMain: Bool = true) {
            self.isMain = isMain
            self.label = label
            self.value = value
            self.fraction = fraction.map { min(1, max(0, $0.isFinite ? $0 : 0)) }
        }
    }

    package var statistics: ManagerStatistics
    /// Bytes of pixels in memory, and at most.
    package var memoryBytes = 0
    package var memoryLimit = 0
    /// Pictures in memory.
    package var memoryCount = 0
    /// Transfers that run, and those that wait for a connection.
    package var transfers = 0
    package var waiting = 0
    /// Pieces of work under way: look-ups, loads, decodes.
    package var jobs = 0
    /// Pictures that are being fetched ahead.
    package var prefetching = 0
    /// Of the pictures on the screen: how many are there, and how many there are.
    package var shownReady = 0
    package var shown = 0

    /// What `manager` has done and does.
    package init(_ manager: ImageManager) {
        statistics = manager.statistics
        let memory = manager.memoryCache.statistics
        memoryBytes = memory.bytes
        memoryCount = memory.count
        memoryLimit = manager.memoryCache.costLimit
        let activity = manager.downloader.activity
        transfers = activity.running
        waiting = activity.queued
        jobs = manager.runningJobs
    }

    /// The panel's lines.
    package var rows: [Row] {
        let hits = statistics.memoryHits + statistics.diskHits + statistics.remoteHits
        return [
            Row("On the screen", "\(shownReady) of \(shown)", shown > 0 ? Double(shownReady) / Double(shown) : 1),
            Row(
                "Cache hits",
                statistics.hitRate.map { "\(Figures.decimal($0 * 100, digits: 0)) % of \(answered)" } ?? "–",
                statistics.hitRate ?? 0),
            Row("from memory", "\(statistics.memoryHits)", isMain: false),
            Row("from disk", "\(hits - statistics.memoryHits)", isMain: false),
            Row("Downloaded", "\(statistics.downloaded) (\(Figures.bytes(statistics.bytesLoaded)))"),
            Row("still valid there", "\(statistics.revalidated)", isMain: false),
            Row(
                "Memory", "\(Figures.bytes(memoryBytes)) of \(Figures.bytes(memoryLimit))",
                memoryLimit > 0 ? Double(memoryBytes) / Double(memoryLimit) : 0),
            Row("pictures", "\(memoryCount)", isMain: false),
            Row("Queue", "\(transfers) running, \(waiting) waiting"),
            Row("fetched ahead", "\(prefetching)", isMain: false),
            Row("Decoded", "\(statistics.decodes)"),
            Row("Given up", "\(statistics.cancelled)"),
            Row("Failed", "\(statistics.failed)"),
        ]
    }

    private var answered: Int {
        statistics.memoryHits + statistics.diskHits + statistics.remoteHits + statistics.revalidated
            + statistics.downloaded + statistics.local
    }

    /// Whether anything is under way.
    package var isBusy: Bool { transfers + waiting + jobs > 0 }
}
