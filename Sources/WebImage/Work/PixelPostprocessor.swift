// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// The closure with which a toolkit prepares finished pixels on a background thread, so that the main thread doesn't
/// have to.
final class PixelPostprocessor: Sendable {
    private let action = Lock<(@Sendable (PixelBuffer) -> Void)?>(nil)

    func set(_ action: @escaping @Sendable (PixelBuffer) -> Void) { self.action.withLock { $0 = action } }

    func callAsFunction(_ pixels: PixelBuffer) { action.withLock { $0 }?(pixels) }
}
