// SPDX-License-Identifier: MIT

import WebImageCore

/// Statistics and activity.
extension ImageManager {
    /// The statistics since the creation of the manager. Reading them is cheap. The counters are read one after the
    /// other, so they can be from slightly different times.
    public var statistics: ImageManager.Statistics { pipeline.statistics }

    /// The number of downloads in flight, for network activity indicators.
    public var activity: LoadActivity { pipeline.activity }

    /// Sets a closure that receives the pixels of every new image, preview, and frame before any subscriber receives
    /// them.
    ///
    /// The closure runs on a background thread and must be fast. It can attach its results to the pixels with
    /// ``PixelBuffer/attachment(make:)``. A new closure replaces the previous one.
    package func preparePixels(_ action: @escaping @Sendable (PixelBuffer) -> Void) { pipeline.preparation.set(action) }
}
