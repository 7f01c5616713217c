// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// The callbacks of a controller before the next frames: the tick callback, the timer that requests the next tick, and
    /// the wait for a size.
    @MainActor
    final class FrameSchedule {
        /// The ID of the tick callback, or 0 if there's none.
        private(set) var tick: guint = 0
        /// The ID of the timer that requests the next tick, or 0 if there's none.
        private(set) var timer: guint = 0
        /// The number of frames during which the widget had no size, or `nil` if the controller isn't waiting for a
        /// size.
        private var framesWithoutSize: Int?

        /// Layout follows ticks, and drawing follows layout, so the wait for a size takes a few frames.
        private static let longestSizeWait = 3

        // MARK: - Ticks

        /// Adds a tick callback unless there is one. It replaces the timer.
        func addTick(for controller: WidgetController) {
            guard tick == 0 else { return }
            cancelTimer()
            tick = gtk_widget_add_tick_callback(
                controller.widget,
                { _, _, data in
                    var goesOn = false
                    WidgetController.isolated(data) { goesOn = $0.tick() }
                    return goesOn ? 1 : 0
                }, controller.unretained, nil)
        }

        /// Notes that the tick callback returns `false`, with which GTK removes it.
        func tickEnded() { tick = 0 }

        func removeTick(from widget: UnsafeMutablePointer<GtkWidget>) {
            guard tick != 0 else { return }
            gtk_widget_remove_tick_callback(widget, tick)
            tick = 0
        }

        func startTimer(milliseconds: Int, for controller: WidgetController) {
            cancelTimer()
            timer = g_timeout_add_full(
                G_PRIORITY_DEFAULT, guint(milliseconds),
                { data in
                    WidgetController.isolated(data) { controller in
                        GTKMainLoop.callbacks += 1
                        controller.frames.timer = 0
                        controller.requestTick()
                    }
                    return 0
                }, controller.unretained, nil)
        }

        func cancelTimer() {
            guard timer != 0 else { return }
            g_source_remove(timer)
            timer = 0
        }

        // MARK: - Widgets without a size

        var isAwaitingSize: Bool { framesWithoutSize != nil }

        func beginSizeWait() { framesWithoutSize = framesWithoutSize ?? 0 }

        func endSizeWait() { framesWithoutSize = nil }

        /// Counts a frame if the controller waits for a size. Returns whether the wait ends with this frame.
        func countFrameWithoutSize() -> Bool {
            guard let count = framesWithoutSize else { return false }
            guard count < Self.longestSizeWait else {
                framesWithoutSize = nil
                return true
            }
            framesWithoutSize = count + 1
            return false
        }
    }
#endif
