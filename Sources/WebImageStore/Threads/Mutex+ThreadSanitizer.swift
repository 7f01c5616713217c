// SPDX-License-Identifier: MIT

// ThreadSanitizer does not see the futex inside Synchronization's Mutex and calls every guarded access a race.
// With -D THREAD_SANITIZER this module's mutexes are pthread's, which it knows.
#if THREAD_SANITIZER
    import Glibc

    struct Mutex<Value>: ~Copyable, @unchecked Sendable {
        // Sendable: `value` is only reached between locking and unlocking.
        private let handle: UnsafeMutablePointer<pthread_mutex_t>
        private let value: UnsafeMutablePointer<Value>

        init(_ value: sending Value) {
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

        borrowing func withLock<Result, Failure: Error>(
            _ body: (inout Value) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            pthread_mutex_lock(handle)
            defer { pthread_mutex_unlock(handle) }
            return try body(&value.pointee)
        }
    }
#endif
