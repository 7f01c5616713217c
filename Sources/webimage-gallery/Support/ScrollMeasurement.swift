// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageGTK
    import WebImagePrograms

    /// A measurement of the time until images appear while the grid scrolls. `make wall` uses it.
    ///
    /// The environment variable `WEBIMAGE_GALLERY_SCROLL` selects the movement. After the movement, the measurement
    /// writes one line of JSON to standard output, and the gallery continues to run. `Benchmarks/Wall/page.html` performs
    /// the same movements and computes the same values in a browser.
    @MainActor
    final class ScrollMeasurement {
        private unowned let window: GalleryWindow
        private var machine: ScrollMeasurementStateMachine
        private let opened: Int
        private let report: (String) -> Void
        private let isSparse: Bool
        private var isScheduled = false

        /// Creates a measurement if the environment variable `WEBIMAGE_GALLERY_SCROLL` contains a valid movement.
        static func requested(of window: GalleryWindow) -> ScrollMeasurement? {
            guard let text = ProcessInfo.processInfo.environment["WEBIMAGE_GALLERY_SCROLL"],
                let movement = ScrollMeasurementStateMachine.Movement(text)
            else { return nil }
            return ScrollMeasurement(of: window, movement) { line in
                FileHandle.standardOutput.write(Data((line + "\n").utf8))
            }
        }

        init(
            of window: GalleryWindow, _ movement: ScrollMeasurementStateMachine.Movement,
            report: @escaping (String) -> Void
        ) {
            self.window = window
            self.report = report
            opened = Int(g_get_monotonic_time())
            machine = ScrollMeasurementStateMachine(movement, count: window.model.contents.visibleItems.count)
            // Between the changes of a page, nothing happens, and a frame would cost processor time that isn't that of
            // the gallery. A fling moves in every frame.
            isSparse = movement == .pages
            if isSparse { window.grid.onChange = { [weak self] in self?.schedule() } }
            schedule()
        }

        /// Requests a call of ``frame()`` in the next frame.
        private func schedule() {
            guard !isScheduled, !window.isClosed else { return }
            isScheduled = true
            gtk_widget_add_tick_callback(
                window.grid.widget,
                { _, _, data in
                    guard let data else { return 0 }
                    // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
                    nonisolated(unsafe) let pointer = data
                    return MainActor.assumeIsolated {
                        Callback<Void, Bool>.of(pointer)?.call(()) == true ? 1 : 0
                    }
                },
                Callback<Void, Bool> { [weak self] in
                    guard let self else { return false }
                    isScheduled = frame()
                    return isScheduled
                }.retained,
                { data in
                    if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
                })
        }

        /// Processes a frame before its layout. Returns whether the next frame is needed.
        private func frame() -> Bool {
            guard !window.isClosed, let layout = window.grid.layout else { return !window.isClosed }
            var shown: Set<Int> = []
            for (position, view) in window.grid.cells {
                switch view.snapshot().state {
                case .showing: shown.insert(position)
                case .failed:
                    shown.insert(position)
                    machine.recordFailure(of: position)
                default: break
                }
            }
            // Use the time of the frame, as browsers do.
            let now = gtk_widget_get_frame_clock(window.grid.widget).map { Int(gdk_frame_clock_get_frame_time($0)) }
            let seconds = Double((now ?? Int(g_get_monotonic_time())) - opened) / 1e6
            switch machine.frame(at: seconds, layout: layout, shown: shown) {
            case .stay: return !isSparse
            case .scroll(let value):
                window.grid.scroll.value = value
                return true
            case .finish:
                report(json(layout))
                return false
            }
        }

        private func json(_ layout: ScrollMeasurementStateMachine.Layout) -> String {
            let times = machine.times
            let values: [(String, Double?)] = [
                ("opened", Double(opened) / 1e6), ("first", times.first), ("visible", times.visible),
                ("all", times.all), ("blankMoving", machine.blankWhileMoving),
                ("blankResting", machine.blankWhileResting),
                ("blankCells", machine.blankWhileMoving + machine.blankWhileResting),
                ("failures", Double(machine.failures)), ("columns", Double(layout.columns)),
                ("rowHeight", layout.rowHeight), ("width", Double(gtk_widget_get_width(window.grid.widget))),
                ("height", layout.viewport), ("frames", Double(machine.frames)),
                ("longestFrame", machine.longestFrame),
            ]
            return "{" + values.map { "\"\($0.0)\": \($0.1.map { "\($0)" } ?? "null")" }.joined(separator: ", ") + "}"
        }
    }
#endif
