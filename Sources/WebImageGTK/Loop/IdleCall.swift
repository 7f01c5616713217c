// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// Calls once, when the loop has nothing else to do, and after some time at the latest: where every frame takes longer than
    /// it may the loop is never idle. Letting go of it before calls nothing.
    @MainActor
    final class IdleCall {
        private var idle: guint = 0
        private var timer: guint = 0
        private let action: @MainActor () -> Void

        /// - Parameters:
        ///   - milliseconds: when it is called at the latest.
        ///   - action: what is called.
        init(latest milliseconds: guint, _ action: @escaping @MainActor () -> Void) {
            self.action = action
            let call: GSourceFunc = { data in
                guard let data else { return 0 }
                let pending = Unmanaged<IdleCall>.fromOpaque(data).takeUnretainedValue()
                MainActor.assumeIsolated { pending.run() }
                return 0
            }
            let unretained = Unmanaged.passUnretained(self).toOpaque()
            idle = g_idle_add_full(G_PRIORITY_LOW, call, unretained, nil)
            // With frames, not behind them.
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
