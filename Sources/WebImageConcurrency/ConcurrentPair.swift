// SPDX-License-Identifier: MIT

import Glibc

/// Runs `other` on a new thread and `body` on the calling thread at the same time, and returns after both.
///
/// If the system can't start a thread, `other` runs on the calling thread after `body`.
package func concurrently<Value, Failure: Error>(
    _ other: @escaping @Sendable () -> Void, _ body: () throws(Failure) -> Value
) throws(Failure) -> Value {
    let work = Unmanaged.passRetained(ThreadWork(other))
    var thread = pthread_t()
    let status = pthread_create(
        &thread, nil,
        { opaque in
            if let opaque { Unmanaged<ThreadWork>.fromOpaque(opaque).takeRetainedValue().run() }
            return nil
        }, work.toOpaque())
    defer {
        if status == 0 { pthread_join(thread, nil) } else { work.takeRetainedValue().run() }
    }
    return try body()
}

/// A closure that a C function passes to a thread.
private final class ThreadWork: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
