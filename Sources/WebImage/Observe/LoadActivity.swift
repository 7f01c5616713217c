// SPDX-License-Identifier: MIT

import WebImageConcurrency

/// The number of loads in flight, as a value and as a stream of values.
///
/// Files and `data:` URLs don't count. The class is thread-safe.
final class LoadActivity: Sendable {
    private let live = ObservableValue(0)

    /// The number of loads that run or wait for a connection.
    var count: Int { live.value }

    /// The current count, and the count after every change, in the order of the changes.
    ///
    /// A slow reader receives only the most recent count. The stream doesn't end on its own.
    var counts: AsyncStream<Int> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = live.follow { continuation.yield($0) }
            continuation.onTermination = { [weak live] _ in live?.stopObserving(number) }
        }
    }

    func change(by step: Int) { live.update { $0 += step } }
}
