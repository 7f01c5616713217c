// SPDX-License-Identifier: MIT

#if Server
    import CMicrohttpd
    import Foundation
    import Synchronization
    import WebImageConcurrency

    /// A thread that notices when the clients of suspended connections close them. This class is thread-safe.
    ///
    /// A client that closes only its sending direction also counts as gone, as in nginx.
    final class ConnectionWatch: Sendable {
        private struct State {
            /// The sockets and their actions, by the number of the watch.
            var watches: [UInt64: (socket: Int32, action: @Sendable () -> Void)] = [:]
            var count: UInt64 = 0
            var isStopped = false
        }

        private let descriptors: wi_watch
        private let state = Lock(State())

        /// Starts a thread. The result is `nil` if the process has no descriptors left.
        init?() {
            var descriptors = wi_watch()
            guard wi_watch_create(&descriptors) == 0 else { return nil }
            self.descriptors = descriptors
            let thread = Thread { [self] in run() }
            thread.name = "webimage-watch"
            thread.stackSize = 256 << 10
            thread.start()
        }

        /// Watches a socket until it's removed. The action runs at most once, on the thread of the watch. Returns the
        /// number for ``remove(_:)``, or `nil` if the socket can't be watched.
        func add(_ socket: Int32, action: @escaping @Sendable () -> Void) -> UInt64? {
            state.withLock { state -> UInt64? in
                guard !state.isStopped else { return nil }
                state.count += 1
                guard wi_watch_add(descriptors, socket, state.count) == 0 else { return nil }
                state.watches[state.count] = (socket, action)
                return state.count
            }
        }

        /// Stops watching a socket, which must still be open. Does nothing for an unknown number.
        func remove(_ number: UInt64) {
            state.withLock { state in
                guard let watch = state.watches.removeValue(forKey: number), !state.isStopped else { return }
                wi_watch_remove(descriptors, watch.socket)
            }
        }

        func stop() { wi_watch_wake(descriptors) }

        private func run() {
            var numbers = [UInt64](repeating: 0, count: 64)
            while true {
                let count = Int(wi_watch_wait(descriptors, &numbers, Int32(numbers.count)))
                for number in numbers.prefix(count) {
                    guard number != 0 else { return finish() }
                    // The action removes the watch, so it runs after unlocking.
                    let action = state.withLock { $0.watches[number]?.action }
                    action?()
                }
            }
        }

        private func finish() {
            state.withLock { state in
                state.isStopped = true
                state.watches = [:]
                wi_watch_close(descriptors)
            }
        }
    }
#endif
