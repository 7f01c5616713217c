// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// A timer of the main loop. It stops when its action returns `false`, with ``stop()``, or when it's released.
    @MainActor
    final class LoopTimer {
        /// The ID of the source, or 0 if the timer has stopped. GLib reports the removal of an ID that doesn't exist
        /// anymore as a critical error, because another source may have the same ID.
        private var source: guint = 0
        private let action: @MainActor () -> Bool

        /// Starts a timer that calls `action` until it returns `false`.
        init(every milliseconds: UInt32, _ action: @escaping @MainActor () -> Bool) {
            self.action = action
            source = g_timeout_add_full(
                // Use the priority of redrawing. With a lower priority, the timer would never run during animations on
                // a slow machine.
                GDK_PRIORITY_REDRAW, milliseconds,
                { data in
                    guard let data else { return 0 }
                    let timer = Unmanaged<LoopTimer>.fromOpaque(data).takeUnretainedValue()
                    return MainActor.assumeIsolated { timer.fire() } ? 1 : 0
                }, Unmanaged.passUnretained(self).toOpaque(), nil)
        }

        isolated deinit { stop() }

        var isActive: Bool { source != 0 }

        /// Stops the timer. The closure isn't called again.
        func stop() {
            if source != 0 { g_source_remove(source) }
            source = 0
        }

        private func fire() -> Bool {
            if action() { return isActive }
            // The action may have stopped the timer, whose source then doesn't exist anymore.
            source = 0
            return false
        }
    }
#endif
