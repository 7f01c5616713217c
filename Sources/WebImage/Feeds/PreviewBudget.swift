// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// The budget for the pixels that the decoders of all running downloads retain, in bytes.
final class PreviewBudget: Sendable {
    private let limit: Int
    fileprivate let used = Atomic<Int>(0)

    init(limit: Int) { self.limit = limit }

    /// Reserves bytes until the result is deallocated. Returns `nil` if the budget is insufficient.
    func charge(_ bytes: Int) -> MemoryReservation? {
        guard bytes >= 0, bytes <= limit else { return nil }
        guard used.add(bytes, ordering: .relaxed).newValue <= limit else {
            used.subtract(bytes, ordering: .relaxed)
            return nil
        }
        return MemoryReservation(self, bytes)
    }

    var bytesInUse: Int { used.load(ordering: .relaxed) }
}

/// A reservation of bytes for the lifetime of this object.
final class MemoryReservation: Sendable {
    private let budget: PreviewBudget
    private let bytes: Int

    fileprivate init(_ budget: PreviewBudget, _ bytes: Int) {
        self.budget = budget
        self.bytes = bytes
    }

    deinit { budget.used.subtract(bytes, ordering: .relaxed) }
}
