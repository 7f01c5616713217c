// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// A call that runs once, when the loop is idle or when a deadline expires.
    ///
    /// The deadline is necessary because the loop is never idle if every frame takes longer than its interval.
    /// Releasing the object earlier cancels the call.
    @MainActor
    final class IdleCallback {
        private var idle: guint = 0
        private var timer: guint = 0
        private let action: @MainActor () -> Void

        /// Schedules the call. After `milliseconds`, `action` is called even if the loop isn't idle.
        init(latest milliseconds: guint, _ action: @escaping @MainActor () -> Void) {
            self.action = action
            let call: GSourceFunc = { data in
                guard let data else { return 0 }
                let pending = Unmanaged<IdleCallback>.fromOpaque(data).takeUnretainedValue()
                MainActor.assumeIsolated { pending.run() }
                return 0
            }
            let unretained = Unmanaged.passUnretained(self).toOpaque()
            idle = g_idle_add_full(G_PRIORITY_LOW, call, unretained, nil)
            // The priority of redrawing, so that frames can't delay the call.
            timer = g_timeout_add_full(GDK_PRIORITY_REDRAW, milliseconds, call, unretained, nil)
        }

        isolated deinit { cancel() }

        private func run() {
            cancel()
            action()
        }

        private func cancel() {
            for source in [idle, timer] where source != 0 { g_source_remove(source) }
            (idle, timer) = (0, 0)
        }
    }
#endif
