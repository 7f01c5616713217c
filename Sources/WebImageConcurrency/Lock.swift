// SPDX-License-Identifier: MIT

#if THREAD_SANITIZER
    import Glibc

    /// A value that is guarded by a lock.
    ///
    /// ThreadSanitizer doesn't recognize the futex in the `Mutex` of Synchronization and reports a race for each
    /// guarded access. When built with `-D THREAD_SANITIZER`, the lock uses a pthread mutex, which ThreadSanitizer
    /// recognizes.
    public struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        // Safe: `value` is accessed only while the mutex is locked.
        private let handle: UnsafeMutablePointer<pthread_mutex_t>
        private let value: UnsafeMutablePointer<Value>

        /// Creates a lock that guards a value.
        public init(_ value: consuming sending Value) {
            handle = .allocate(capacity: 1)
            pthread_mutex_init(handle, nil)
            self.value = .allocate(capacity: 1)
            self.value.initialize(to: value)
        }

        deinit {
            value.deinitialize(count: 1)
            value.deallocate()
            pthread_mutex_destroy(handle)
            handle.deallocate()
        }

        /// Calls a closure with exclusive access to the value.
        public borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout Value) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            pthread_mutex_lock(handle)
            defer { pthread_mutex_unlock(handle) }
            return try body(&value.pointee)
        }
    }
#elseif DEBUG
    import Synchronization

    /// A value that is guarded by a lock.
    ///
    /// In debug builds, the lock notifies the scheduler of a simulation. See ``SimulatedScheduler``.
    public struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
        private let mutex: Mutex<Value>

        /// Creates a lock that guards a value.
        public init(_ value: consuming sending Value) { mutex = Mutex(value) }

        /// Calls a closure with exclusive access to the value.
        public borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            guard let scheduler = Simulation.current else { return try mutex.withLock(body) }
            scheduler.willLock()
            defer { scheduler.didUnlock(switches: true) }
            return try mutex.withLock(body)
        }
    }
#else
    import Synchronization

    /// A value that is guarded by a lock.
    public typealias Lock = Synchronization.Mutex
#endif

extension Lock {
    #if THREAD_SANITIZER
        /// Calls a closure with exclusive access to the value, and releases its result after unlocking.
        package borrowing func discard<Removed>(_ body: (inout Value) -> Removed) {
            withExtendedLifetime(withLock(body)) {}
        }
    #else
        /// Calls a closure with exclusive access to the value, and releases its result after unlocking.
        ///
        /// A closure that removes objects returns them, because their deinitializers can take time or use the lock again.
        package borrowing func discard<Removed>(_ body: (inout sending Value) -> sending Removed) {
            withExtendedLifetime(withLock(body)) {}
        }
    #endif

    /// Replaces the value, and releases the previous one after unlocking.
    package borrowing func replace(with value: Value) where Value: Sendable {
        discard { current in
            defer { current = value }
            return current
        }
    }
}
