// SPDX-License-Identifier: MIT

import WebImageConcurrency

/// The network conditions that the application knows, such as whether the connection is metered.
///
/// The application sets them, for example from the NetworkManager property `Metered` or from GNetworkMonitor, and
/// prefetchers react to changes. This class is thread-safe.
package final class NetworkConditions: Sendable {
    /// The conditions of the process.
    package static let shared = NetworkConditions()

    private let metered: ObservableValue<Bool>

    /// Creates conditions that are independent of ``shared``. By default, they're unmetered.
    package init(isMetered: Bool = false) { metered = ObservableValue(isMetered) }

    /// A Boolean value that indicates whether the network is metered. Prefetchers have received a change when the
    /// setter returns.
    package var isMetered: Bool {
        get { metered.value }
        set { metered.value = newValue }
    }

    /// Calls `observer` now and after every change until ``stopObserving(_:)``.
    func follow(_ observer: @escaping @Sendable (Bool) -> Void) -> Int { metered.follow(observer) }

    func stopObserving(_ token: Int) { metered.stopObserving(token) }
}
