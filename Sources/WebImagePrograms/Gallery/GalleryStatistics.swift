// SPDX-License-Identifier: MIT

import WebImage
import WebImageCommand

/// A snapshot of the statistics that the gallery's panel shows.
package struct GalleryStatistics: Sendable, Hashable {
    /// A row of the panel.
    package struct Row: Sendable, Hashable {
        package let label: String
        package let value: String
        /// The value of the bar, from 0 to 1, or `nil` for a row without a bar.
        package let fraction: Double?
        /// Whether the row is a main row. Other rows add details to the preceding main row.
        package let isMain: Bool

        init(_ label: String, _ value: String, _ fraction: Double? = nil, isMain: Bool = true) {
            self.isMain = isMain
            self.label = label
            self.value = value
            self.fraction = fraction.map { min(1, max(0, $0.isFinite ? $0 : 0)) }
        }
    }

    package var statistics: ImageManager.Statistics
    /// The size of the images in memory and its limit, in bytes of pixel data.
    package var memoryBytes = 0
    package var memoryLimit = 0
    /// The number of images in memory.
    package var memoryCount = 0
    /// The numbers of running transfers and of transfers that wait for a connection.
    package var transfers = 0
    package var waiting = 0
    /// The number of jobs in progress, which are lookups, loads, and decodes.
    package var jobs = 0
    /// The number of images that are being prefetched.
    package var prefetching = 0
    /// The number of visible images that are loaded, and the number of all visible images.
    package var visibleReady = 0
    package var visible = 0

    /// Takes a snapshot of the statistics and the current activity of `manager`.
    package init(_ manager: ImageManager) {
        statistics = manager.statistics
        let memory = manager.memoryCache.statistics
        memoryBytes = memory.cost
        memoryCount = memory.count
        memoryLimit = manager.memoryCache.configuration.costLimit
        let activity = manager.downloader.activity
        transfers = activity.running
        waiting = activity.queued
        jobs = manager.runningJobs
    }

    /// The rows of the panel.
    package var rows: [Row] {
        let hits = statistics.memoryHits + statistics.diskHits + statistics.tierHits
        return [
            Row(
                "Visible Images", "\(visibleReady) of \(visible)",
                visible > 0 ? Double(visibleReady) / Double(visible) : 1),
            Row(
                "Cache Hit Rate",
                statistics.hitRate.map { "\(NumberFormatting.decimal($0 * 100, digits: 0))% of \(self.hits)" } ?? "–",
                statistics.hitRate ?? 0),
            Row("Memory", "\(statistics.memoryHits)", isMain: false),
            Row("Disk", "\(hits - statistics.memoryHits)", isMain: false),
            Row("Downloaded", "\(statistics.downloads) (\(NumberFormatting.decimalBytes(statistics.loadedByteCount)))"),
            Row("Revalidated", "\(statistics.revalidations)", isMain: false),
            Row(
                "Memory Cache",
                "\(NumberFormatting.decimalBytes(memoryBytes)) of \(NumberFormatting.decimalBytes(memoryLimit))",
                memoryLimit > 0 ? Double(memoryBytes) / Double(memoryLimit) : 0),
            Row("Images", "\(memoryCount)", isMain: false),
            Row("Downloads", "\(transfers) active, \(waiting) queued"),
            Row("Prefetching", "\(prefetching)", isMain: false),
            Row("Decoded", "\(statistics.decodes)"),
            Row("Canceled", "\(statistics.cancellations)"),
            Row("Failed", "\(statistics.failures)"),
        ]
    }

    private var hits: Int {
        statistics.memoryHits + statistics.diskHits + statistics.tierHits + statistics.revalidations
            + statistics.downloads + statistics.localLoads
    }

    /// Whether any work is in progress.
    package var isBusy: Bool { transfers + waiting + jobs > 0 }
}
