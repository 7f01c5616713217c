// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency

/// The state that indicates whether callers are waiting for requests. Prefetch requests don't count. This class is
/// thread-safe.
final class VisibleRequestTracker: Sendable {
    /// The count is atomic because every request changes it twice, on different threads. The observed value changes
    /// only with the first and the last of concurrent requests.
    private let count = Atomic(0)
    private let busy = ObservableValue(false)

    var isBusy: Bool { busy.value }

    func enter() {
        if count.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue == 0 { publish() }
    }

    func leave() {
        if count.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue == 0 { publish() }
    }

    /// Updates the observed value. It reads the count under the lock of the observed value, so the later of two
    /// concurrent calls publishes the current state.
    private func publish() { busy.update { $0 = count.load(ordering: .sequentiallyConsistent) > 0 } }

    /// Calls `observer` after every change of ``isBusy`` until ``stopObserving(_:)``. The observer reads the value
    /// itself.
    func observe(_ observer: @escaping @Sendable () -> Void) -> Int { busy.observe(observer) }

    func stopObserving(_ token: Int) { busy.stopObserving(token) }
}
