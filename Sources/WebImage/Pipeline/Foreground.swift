// SPDX-License-Identifier: MIT

import WebImageConcurrency

/// Whether requests are under way that somebody waits for, those that fetch ahead not counted. Thread-safe.
final class Foreground: Sendable {
    private let count = ObservedValue(0)

    var isBusy: Bool { count.value > 0 }

    func enter() { change(by: 1) }

    func leave() { change(by: -1) }

    private func change(by step: Int) { count.update(matters: { ($0 > 0) != ($1 > 0) }) { $0 += step } }

    /// Calls `observer`, which reads ``isBusy`` itself, after every change of it until ``stopObserving(_:)``.
    func observe(_ observer: @escaping @Sendable () -> Void) -> Int { count.observe(observer) }

    func stopObserving(_ token: Int) { count.stopObserving(token) }
}
