// SPDX-License-Identifier: MIT

import Dispatch
import WebImageConcurrency
import WebImageCore
import WebImageStore

extension ImageManager {
    /// Connects the memory cache and the worker threads to the pressure source for the lifetime of the result.
    static func observePressure(
        _ source: MemoryPressureMonitor, _ memory: MemoryCache, _ workers: WorkerPool
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
        // Visible images remain available through weak references, even if the cache no longer retains them.
        if let fraction = level.cacheFraction { memory.trim(toFraction: fraction) }
        PixelPool.shared.trim()
        // This takes milliseconds if much memory is free, and the thread that reported the level may be drawing.
        if level.returnsMemory { DispatchQueue.global(qos: .utility).async { SystemMemory.trimHeap() } }
    }
}
