// SPDX-License-Identifier: MIT

#if THREAD_SANITIZER
    import Glibc

    /// A value behind a lock. ThreadSanitizer does not see the futex inside Synchronization's Mutex and calls every
    /// access it guards a race; built with -D THREAD_SANITIZER the lock is pthread's, which it knows.
    package struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        // Sendable: `value` is only reached between locking and unlocking.
        private let handle: UnsafeMutablePointer<pthread_mutex_t>
        private let value: UnsafeMutablePointer<Value>

        package init(_ value: consuming sending Value) {
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

        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout Value) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            pthread_mutex_lock(handle)
            defer { pthread_mutex_unlock(handle) }
            return try body(&value.pointee)
        }
    }
#else
    import Synchronization

    /// A value behind a lock.
    package typealias Lock = Synchronization.Mutex
#endif
