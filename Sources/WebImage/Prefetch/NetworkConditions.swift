// SPDX-License-Identifier: MIT

import Synchronization
import WebImageCore

/// What an app knows of the network and this package cannot: whether it is paid for by the byte. The app sets it,
/// for example from NetworkManager's property `Metered` or GNetworkMonitor; whoever fetches ahead follows. Thread-safe.
public final class NetworkConditions: Sendable {
    /// The conditions of the process.
    public static let shared = NetworkConditions()

    private struct State {
        var isMetered: Bool
        var nextID = 0
        var observers: [Int: @Sendable () -> Void] = [:]
    }

    private let state: Lock<State>

    /// Creates conditions of their own. Default unmetered.
    public init(isMetered: Bool = false) { state = Lock(State(isMetered: isMetered)) }

    /// Whether bytes cost money. Observers are called before the setter returns.
    public var isMetered: Bool {
        get { state.withLock { $0.isMetered } }
        set {
            let observers = state.withLock { state -> [@Sendable () -> Void] in
                guard state.isMetered != newValue else { return [] }
                state.isMetered = newValue
                return Array(state.observers.values)
            }
            for observer in observers { observer() }
        }
    }

    func observe(_ observer: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.nextID += 1
            state.observers[state.nextID] = observer
            return state.nextID
        }
    }

    func stopObserving(_ id: Int) {
        let removed = state.withLock { $0.observers.removeValue(forKey: id) }
        _ = removed  // Released here, after the lock.
    }
}
