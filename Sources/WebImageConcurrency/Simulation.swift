// SPDX-License-Identifier: MIT

#if DEBUG
    import Glibc
    import Synchronization

    /// A scheduler that runs the threads of a simulation one at a time, in an order that depends only on a seed.
    ///
    /// In debug builds, the tools of this module call the scheduler of the current thread. Release builds contain neither
    /// this protocol nor the calls.
    package protocol SimulatedScheduler: AnyObject, Sendable {
        /// Is called before a thread acquires a lock. Another thread may run first.
        func willLock()
        /// Is called after a thread has released a lock. If `switches` is `true`, another thread may run first.
        func didUnlock(switches: Bool)
        /// Starts a thread of the simulation.
        func startThread(_ body: @escaping @Sendable () -> Void)
        /// Suspends the current thread until another thread wakes it.
        func block(on object: ObjectIdentifier)
        /// Wakes one or all threads that are suspended on an object.
        func wake(_ object: ObjectIdentifier, all: Bool)
        /// Calls a closure during which no other thread runs.
        func withoutSwitching(_ body: () -> Void)
    }

    /// The simulation to which the current thread belongs.
    package enum Simulation {
        private static let threadCount = Atomic(0)
        private static let key: pthread_key_t = {
            var key = pthread_key_t()
            pthread_key_create(&key, nil)
            return key
        }()

        /// The scheduler of the current thread, or `nil` if the thread doesn't belong to a simulation.
        package static var current: (any SimulatedScheduler)? {
            guard threadCount.load(ordering: .relaxed) > 0, let pointer = pthread_getspecific(key) else { return nil }
            return Unmanaged<Box>.fromOpaque(pointer).takeUnretainedValue().scheduler
        }

        /// Makes the current thread a part of a simulation while a closure runs.
        package static func run(_ scheduler: any SimulatedScheduler, _ body: () -> Void) {
            let box = Box(scheduler)
            threadCount.add(1, ordering: .relaxed)
            pthread_setspecific(key, Unmanaged.passUnretained(box).toOpaque())
            body()
            pthread_setspecific(key, nil)
            threadCount.subtract(1, ordering: .relaxed)
            withExtendedLifetime(box) {}
        }

        private final class Box {
            let scheduler: any SimulatedScheduler
            init(_ scheduler: any SimulatedScheduler) { self.scheduler = scheduler }
        }
    }
#endif
