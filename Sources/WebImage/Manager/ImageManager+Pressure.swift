// SPDX-License-Identifier: MIT

import Dispatch
import WebImageConcurrency
import WebImageCore
import WebImageStore

extension ImageManager {
    /// How short of memory the machine is, as this manager's source knows.
    public var memoryPressure: MemoryPressureLevel { configuration.memoryPressure.level }

    /// Takes a shortage of memory in that something else noticed; the kernel's own signs are read already. The level
    /// lasts for ten seconds, unless it comes again. What it costs is written at ``MemoryPressureLevel``; all managers
    /// that share ``ImageManagerConfiguration/memoryPressure`` follow.
    public func handleMemoryPressure(_ level: MemoryPressureLevel) { configuration.memoryPressure.report(level) }

    /// Connects memory and worker threads to the source of pressure for as long as the result lives.
    static func observePressure(
        _ source: MemoryPressureSource, _ memory: MemoryCache, _ workers: WorkerPool
    ) -> MemoryPressureObservation {
        memory.whenFilled { [weak source] in source?.startReading() }
        return source.observe(holdsMemory: { [weak memory] in (memory?.statistics.count ?? 0) > 0 }) {
            [weak memory, weak workers] event in
            workers?.limit(toThreads: event.level.decodeLimit)
            if event.sheds, let memory { shed(event.level, memory) }
        }
    }

    private static func shed(_ level: MemoryPressureLevel, _ memory: MemoryCache) {
        if level.dropsLookAhead { memory.removeUnusedAhead() }
        // What is still shown stays findable, also when nothing is held any more.
        if let fraction = level.cacheFraction { memory.trim(toFraction: fraction) }
        PixelPool.shared.trim()
        // Takes milliseconds where much is free; whoever reported the level may be drawing.
        if level.returnsMemory { DispatchQueue.global(qos: .utility).async { SystemMemory.giveBack() } }
    }
}
