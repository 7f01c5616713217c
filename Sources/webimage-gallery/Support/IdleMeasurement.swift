// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCommand
    import WebImageGTK
    import WebImagePrograms

    /// A measurement of the processor time that the gallery uses while it's idle. It waits until all cells are loaded,
    /// animations are paused, and no work is in progress. It then waits for some seconds and reports the result. `make
    /// rest` uses it.
    @MainActor
    final class IdleMeasurement {
        private unowned let window: GalleryWindow
        private let seconds: Double
        private let report: (String) -> Void
        private var timer: LoopTimer?
        private var quiet = 0
        private var wakes = 0

        /// Creates a measurement if the environment variable `WEBIMAGE_GALLERY_REST` contains a number of seconds.
        static func requested(of window: GalleryWindow) -> IdleMeasurement? {
            guard let text = ProcessInfo.processInfo.environment["WEBIMAGE_GALLERY_REST"], let seconds = Double(text),
                seconds > 0, seconds <= 3_600
            else { return nil }
            return IdleMeasurement(of: window, seconds: seconds) { line in
                FileHandle.standardOutput.write(Data((line + "\n").utf8))
                window.close()
            }
        }

        init(of window: GalleryWindow, seconds: Double, report: @escaping (String) -> Void) {
            self.window = window
            self.seconds = seconds
            self.report = report
            timer = LoopTimer(every: 100) { [weak self] in self?.wait() ?? false }
        }

        /// Waits until the gallery was idle in ten consecutive checks.
        private func wait() -> Bool {
            for cell in window.grid.cells {
                if let player = cell.view.player(), player.state == .playing { player.pause() }
            }
            let progress = window.grid.progress
            let isQuiet =
                progress.all > 0 && progress.ready == progress.all && window.grid.prefetching == 0
                && window.model.manager.runningJobs == 0 && GTKMainLoop.wakes == wakes
            wakes = GTKMainLoop.wakes
            quiet = isQuiet ? quiet + 1 : 0
            guard quiet >= 10 else { return true }
            let before = Self.processorSeconds
            timer = LoopTimer(every: UInt32(seconds * 1_000)) { [weak self] in
                self?.end(since: before)
                return false
            }
            return false
        }

        private func end(since before: Double) {
            let used = (Self.processorSeconds - before) * 1_000
            report(
                "at rest for \(NumberFormatting.decimal(seconds, digits: 1)) s: \(NumberFormatting.decimal(used, digits: 2)) ms of processor time, "
                    + "\(GTKMainLoop.wakes - wakes) wake-ups of views")
        }

        /// The processor time of all threads, in user and kernel mode, in seconds.
        private static var processorSeconds: Double {
            var usage = rusage()
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
            return seconds(usage.ru_utime) + seconds(usage.ru_stime)
        }
    }
#endif
