// SPDX-License-Identifier: MIT

import WebImageConcurrency

/// How many loads run, as a number and as a stream of numbers. Files and data URLs do not count. Thread-safe.
public final class LoadActivity: Sendable {
    private let live = ObservedValue(0)

    /// Loads that run or wait for a connection.
    public var count: Int { live.value }

    /// The count now and after every change, in the order of the changes. Who reads slowly gets the last count only. Never
    /// ends by itself.
    public var counts: AsyncStream<Int> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = live.follow { continuation.yield($0) }
            continuation.onTermination = { [weak live] _ in live?.stopObserving(number) }
        }
    }

    func change(by step: Int) { live.update { $0 += step } }
}
