// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    @testable import WebImageGTK

    /// Measures the times of the frames of a window, from the start of a frame to the end of drawing.
    @MainActor
    final class Watchdog {
        private let clock: OpaquePointer?
        private var handlers: [gulong] = []
        private var began = 0
        private var times: [Int] = []

        init(_ widget: UnsafeMutablePointer<GtkWidget>) {
            clock = gtk_widget_get_frame_clock(widget)
            guard let clock else { return }
            for (signal, isBegin) in [("before-paint", true), ("after-paint", false)] {
                let handler: @convention(c) (OpaquePointer?, gpointer?) -> Void =
                    isBegin
                    ? { _, data in Watchdog.with(data) { $0.began = Int(g_get_monotonic_time()) } }
                    : { _, data in Watchdog.with(data) { $0.times.append(Int(g_get_monotonic_time()) - $0.began) } }
                handlers.append(
                    g_signal_connect_data(
                        UnsafeMutableRawPointer(clock), signal, unsafeBitCast(handler, to: GCallback.self),
                        Unmanaged.passUnretained(self).toOpaque(), nil, GConnectFlags(rawValue: 0)))
            }
        }

        func end() {
            guard let clock else { return }
            for handler in handlers { g_signal_handler_disconnect(UnsafeMutableRawPointer(clock), handler) }
            handlers = []
        }

        /// The number of frames and a summary of their times.
        var report: String {
            let sorted = times.sorted()
            guard let longest = sorted.last else { return "no frames" }
            let (middle, late) = (sorted[sorted.count / 2], sorted[sorted.count * 95 / 100])
            return "\(sorted.count) frames, median \(middle) µs, 95% below \(late) µs, longest \(longest) µs"
        }

        nonisolated private static func with(_ data: gpointer?, _ body: @MainActor (Watchdog) -> Void) {
            guard let data else { return }
            let watchdog = Unmanaged<Watchdog>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { body(watchdog) }
        }
    }
#endif
