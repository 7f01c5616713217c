// SPDX-License-Identifier: MIT

import WebImageCore

/// Statistics and activity.
extension ImageManager {
    /// The statistics since the creation of the manager. Reading them is cheap. The counters are read one after the
    /// other, so they can be from slightly different times.
    public var statistics: ImageManager.Statistics { pipeline.statistics }

    /// The number of downloads that run or wait for a connection, for network activity indicators.
    ///
    /// Files and `data:` URLs don't count.
    public var activeDownloadCount: Int { pipeline.activity.count }

    /// The current ``activeDownloadCount``, and the count after every change, in the order of the changes.
    ///
    /// Each access creates an independent stream. A slow subscriber receives only the most recent count. The stream
    /// doesn't end on its own.
    public var activeDownloadCounts: AsyncStream<Int> { pipeline.activity.counts }

    /// Sets a closure that receives the pixels of every new image, preview, and frame before any subscriber receives
    /// them.
    ///
    /// The closure runs on a background thread and must be fast. It can attach its results to the pixels with
    /// ``PixelBuffer/attachment(make:)``. A new closure replaces the previous one.
    package func preparePixels(_ action: @escaping @Sendable (PixelBuffer) -> Void) { pipeline.preparation.set(action) }
}
