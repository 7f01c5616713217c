// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A source of memory pressure events.
///
/// The source combines the information of the kernel about the machine and the control group (PSI, cgroup v2) with the
/// reports of a desktop's memory monitor. This class is thread-safe.
///
/// The source reads no files before an observer holds memory. It then uses one thread, which sleeps until the kernel
/// wakes it. If the kernel doesn't support this, or if the control group has a limit, the thread reads the files every
/// five seconds while an observer holds memory.
public final class MemoryPressureMonitor: Sendable {
    /// The source that the process shares.
    public static let shared = MemoryPressureMonitor()

    private let core: PressureBroadcaster

    /// Creates a source.
    ///
    /// - Parameter observesSystem: A Boolean value that indicates whether the source reads the kernel's files. If it's
    ///   `false`, the source uses only reported levels. The default is `true`.
    public convenience init(observesSystem: Bool = true) {
        self.init(files: observesSystem ? PressureFiles.system() : nil)
    }

    init(files: PressureFiles?, clock: TimeSource = .system, hasThread: Bool = true) {
        core = PressureBroadcaster(files: files, clock: clock, hasThread: hasThread)
    }

    deinit { core.stop() }

    /// The current level.
    public var level: MemoryPressureLevel { core.level }

    /// The current level, followed by every change and, while memory remains scarce, by a repetition every ten seconds.
    ///
    /// Release memory whenever you receive a level above ``MemoryPressureLevel/normal``. A slow consumer receives only
    /// the most recent level. Each access returns a new sequence, which retains the source and ends when its consumer
    /// stops iterating, for example because its task is canceled.
    public var levels: AsyncStream<MemoryPressureLevel> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: MemoryPressureLevel.self, bufferingPolicy: .bufferingNewest(1))
        // The lock orders the current level and the events, so that the last value is the current level.
        let order = Lock(())
        let publish: @Sendable () -> Void = { [core] in
            order.withLock { _ in _ = continuation.yield(core.level) }
        }
        let observation = observe(holdsMemory: { true }) { _ in publish() }
        publish()
        continuation.onTermination = { [self] _ in withExtendedLifetime(self) { observation.cancel() } }
        startReading()
        return stream
    }

    /// Reports a level from another source.
    ///
    /// The level lasts for ten seconds unless it's reported again. The source calls its observers before this method
    /// returns, unless another thread is calling them for an earlier event. That thread then also calls them for this
    /// level.
    public func report(_ level: MemoryPressureLevel) { core.receive(level) }

    /// Reports a warning of GMemoryMonitor (GLib), where 50 is low, 100 is medium, and 255 is critical.
    public func report(gMemoryMonitorWarningLevel: Int) {
        report(MemoryPressureLevel(monitorLevel: gMemoryMonitorWarningLevel))
    }

    /// Calls a closure for each event, one event at a time, on the thread that read or reported the level.
    ///
    /// The observation ends when it's canceled or deallocated.
    ///
    /// - Parameters:
    ///   - holdsMemory: A closure that returns whether the observer has memory to release. The source reads files
    ///     periodically only if an observer does.
    ///   - action: The closure to call.
    /// - Returns: The observation.
    package func observe(
        holdsMemory: @escaping @Sendable () -> Bool = { false },
        _ action: @escaping @Sendable (MemoryPressureEvent) -> Void
    ) -> MemoryPressureObservation {
        let id = core.add(holdsMemory, action)
        return MemoryPressureObservation { [core] in core.remove(id) }
    }

    /// Starts reading the kernel's files. Call this method when an observer begins to hold memory.
    package func startReading() { core.startReading() }

    /// Updates the level for the current time. Use this method for sources without a thread.
    func tick() { core.receive(.normal) }
}

/// An observation of memory pressure, which ends when it's deallocated or when ``cancel()`` is called.
package final class MemoryPressureObservation: Sendable {
    private let end: Lock<(@Sendable () -> Void)?>

    init(_ end: @escaping @Sendable () -> Void) { self.end = Lock(end) }

    deinit { cancel() }

    /// Ends the observation. Later calls have no effect.
    package func cancel() {
        let action = end.withLock { end -> (@Sendable () -> Void)? in
            defer { end = nil }
            return end
        }
        action?()
    }
}
