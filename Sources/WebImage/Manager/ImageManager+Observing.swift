// SPDX-License-Identifier: MIT

import WebImageCore

/// What a manager tells of its work.
extension ImageManager {
    /// What this manager has done since it was made. Cheap; the counts are taken one after the other.
    public var statistics: ManagerStatistics { pipeline.statistics }

    /// The downloads that run now, to be shown as the network's activity.
    public var activity: LoadActivity { pipeline.activity }

    /// Has `action` called with the pixels of every picture, preview and frame that is made from now on, off the main
    /// thread and before anybody gets them. There is one action: the newest. It must be quick; what it makes of the pixels it
    /// keeps beside them (``PixelBuffer/attachment(make:)``).
    package func preparePixels(_ action: @escaping @Sendable (PixelBuffer) -> Void) { pipeline.preparation.set(action) }
}
