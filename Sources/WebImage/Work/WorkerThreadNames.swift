// SPDX-License-Identifier: MIT

import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// The names of the worker threads, for observers. The kernel truncates thread names after 15 bytes, and a thread can't
/// read the name that Foundation stores for it.
enum WorkerThreadNames {
    private struct State {
        var count = 0
        var names: [pthread_t: String] = [:]
    }

    private static let state = Lock(State())

    /// An object that gives its thread a name from its creation until its release on the same thread.
    final class Registration {
        init() { WorkerThreadNames.enter() }

        deinit { WorkerThreadNames.unregister() }
    }

    /// Gives the calling thread a name until ``unregister()``.
    private static func enter() {
        let thread = pthread_self()
        state.withLock { state in
            state.count += 1
            state.names[thread] = "worker \(state.count)"
        }
    }

    /// Removes the name of the calling thread, which is about to exit.
    private static func unregister() {
        let thread = pthread_self()
        state.withLock { $0.names[thread] = nil }
    }

    /// The name of the calling thread, or `nil` if it isn't a worker thread.
    static var current: String? {
        let thread = pthread_self()
        return state.withLock { $0.names[thread] }
    }
}
