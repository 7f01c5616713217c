// SPDX-License-Identifier: MIT

import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// Names of worker threads, for observers. The kernel's names are cut after 15 bytes, and those that Foundation keeps
/// cannot be read back on the thread itself.
enum WorkerLane {
    private struct State {
        var count = 0
        var names: [pthread_t: String] = [:]
    }

    private static let state = Lock(State())

    /// Names the thread that makes it, until it is released there.
    final class Stay {
        init() { WorkerLane.enter() }

        deinit { WorkerLane.leave() }
    }

    /// Names the calling thread until ``leave()``.
    private static func enter() {
        let thread = pthread_self()
        state.withLock { state in
            state.count += 1
            state.names[thread] = "worker \(state.count)"
        }
    }

    /// The calling thread is about to end.
    private static func leave() {
        let thread = pthread_self()
        state.withLock { $0.names[thread] = nil }
    }

    /// Name of the calling thread; nil where it is no worker.
    static var current: String? {
        let thread = pthread_self()
        return state.withLock { $0.names[thread] }
    }
}
