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
