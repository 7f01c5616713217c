// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// What a toolkit makes of finished pixels as soon as they are there, so that the main thread need not.
final class PixelPreparation: Sendable {
    private let action = Lock<(@Sendable (PixelBuffer) -> Void)?>(nil)

    func set(_ action: @escaping @Sendable (PixelBuffer) -> Void) { self.action.withLock { $0 = action } }

    func callAsFunction(_ pixels: PixelBuffer) { action.withLock { $0 }?(pixels) }
}

extension ImageManager {
    /// Has `action` called with the pixels of every picture, preview and frame that is made from now on, off the main
    /// thread and before anybody gets them. There is one action: the newest. It must be quick; what it makes of the pixels it
    /// keeps beside them (``PixelBuffer/attachment(make:)``).
    package func preparePixels(_ action: @escaping @Sendable (PixelBuffer) -> Void) { pipeline.preparation.set(action) }
}
