// SPDX-License-Identifier: MIT

import WebImageConcurrency

/// What an app knows of the network and this package cannot: whether it is paid for by the byte. The app sets it,
/// for example from NetworkManager's property `Metered` or GNetworkMonitor; whoever fetches ahead follows. Thread-safe.
public final class NetworkConditions: Sendable {
    /// The conditions of the process.
    public static let shared = NetworkConditions()

    private let metered: ObservedValue<Bool>

    /// Creates conditions of their own. Default unmetered.
    public init(isMetered: Bool = false) { metered = ObservedValue(isMetered) }

    /// Whether bytes cost money. Who fetches ahead has heard of a change when the setter returns.
    public var isMetered: Bool {
        get { metered.value }
        set { metered.value = newValue }
    }

    /// Calls `observer` now and after every change until ``stopObserving(_:)``.
    func follow(_ observer: @escaping @Sendable (Bool) -> Void) -> Int { metered.follow(observer) }

    func stopObserving(_ token: Int) { metered.stopObserving(token) }
}
