// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// Tells when memory is short: merges what the kernel says of the machine and of the control group (PSI, cgroup v2) with
/// what a desktop's monitor reports. Thread-safe.
///
/// Nothing is read before something is held in memory. Then one thread sleeps until the kernel wakes it; where the
/// kernel does not do that, or the group has a limit, it looks every five seconds while something is held.
public final class MemoryPressureSource: Sendable {
    /// The source of the process.
    public static let shared = MemoryPressureSource()

    private let core: PressureCore

    /// Creates a source.
    ///
    /// - Parameter readsSystem: whether the kernel's files are read; else only what is reported counts. Default true.
    public convenience init(readsSystem: Bool = true) {
        self.init(files: readsSystem ? PressureFiles.system() : nil)
    }

    init(files: PressureFiles?, clock: TimeSource = .system, hasThread: Bool = true) {
        core = PressureCore(files: files, clock: clock, hasThread: hasThread)
    }

    deinit { core.stop() }

    /// The level now.
    public var level: MemoryPressureLevel { core.level }

    /// Takes a level from elsewhere. It lasts for ten seconds, unless it is reported again; observers are called before
    /// this returns.
    public func report(_ level: MemoryPressureLevel) { core.take(level) }

    /// Takes a warning of GMemoryMonitor (GLib): 50 low, 100 medium, 255 critical.
    public func report(monitorLevel: Int) { report(MemoryPressureLevel(monitorLevel: monitorLevel)) }

    /// Calls `action` on every event, one after the other, on the thread that read or reported the level. Ends when the
    /// observation is cancelled or released.
    ///
    /// - Parameter holdsMemory: whether there is anything to give up; files are read at intervals only while there is.
    public func observe(
        holdsMemory: @escaping @Sendable () -> Bool = { false },
        _ action: @escaping @Sendable (MemoryPressureEvent) -> Void
    ) -> MemoryPressureObservation {
        let id = core.add(holdsMemory, action)
        return MemoryPressureObservation { [core] in core.remove(id) }
    }

    /// Tells that something is held now where nothing was: reading begins.
    public func startReading() { core.startReading() }

    /// Lets time pass; for sources without a thread.
    func tick() { core.take(.normal) }
}

/// Keeps an observer of memory pressure; ends with its last reference or with ``cancel()``.
public final class MemoryPressureObservation: Sendable {
    private let end: Lock<(@Sendable () -> Void)?>

    init(_ end: @escaping @Sendable () -> Void) { self.end = Lock(end) }

    deinit { cancel() }

    /// Ends it. Calling again does nothing.
    public func cancel() {
        let action = end.withLock { end -> (@Sendable () -> Void)? in
            defer { end = nil }
            return end
        }
        action?()
    }
}
