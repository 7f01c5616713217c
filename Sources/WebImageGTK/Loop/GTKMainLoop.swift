// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK
    // The bridge's C code needs libdispatch linked, also where nothing else of the program does.
    import Dispatch
    import Foundation
    import Synchronization

    /// Lets the main actor work while GLib's loop owns the main thread.
    public enum GTKMainLoop {
        @MainActor private static var isInstalled = false
        /// Ticks and timers of views that have run.
        @MainActor static var callbacks = 0

        /// How often the loop has woken for this module: for the main actor's work, ticks and timers. It stands still while
        /// nothing happens.
        @MainActor package static var wakes: Int { callbacks + Int(wi_gtk_main_queue_dispatches()) }

        private static let hasTold = Atomic<Bool>(false)

        /// ``install()`` for a view that is used. Off the main thread it says what is wrong, for nothing else would: once, on
        /// standard error.
        ///
        /// - Returns: whether it had to say so.
        @discardableResult
        static func installOrTell() -> Bool {
            guard !install(), !hasTold.exchange(true, ordering: .relaxed) else { return false }
            let line =
                "WebImageGTK: a view is used off the process's main thread, where nothing will appear. "
                + "“main” must not await: see “The one rule” in Documentation/GTK.md.\n"
            FileHandle.standardError.write(Data(line.utf8))
            return true
        }

        /// Makes the default main context run what waits for the main actor and for `DispatchQueue.main`: no polling, no idle
        /// work. Views do this by themselves; an app calls it where it awaits on the main actor before its first view.
        /// Calling again does nothing.
        ///
        /// The app's `main` must be synchronous: after the first `await` of an asynchronous one the main actor has left the
        /// process's main thread for good (swiftlang/swift#90851).
        ///
        /// - Returns: false where this is not the process's main thread; nothing was done then.
        @discardableResult
        public static func install() -> Bool {
            guard wi_gtk_is_process_main_thread() else { return false }
            return MainActor.assumeIsolated {
                if isInstalled { return true }
                guard let source = wi_gtk_main_queue_source_new()?.assumingMemoryBound(to: GSource.self) else {
                    return false
                }
                // At a higher priority a chain of blocks on the main queue would keep frames from ever being drawn.
                g_source_set_priority(source, GDK_PRIORITY_REDRAW)
                g_source_attach(source, nil)
                g_source_unref(source)
                isInstalled = true
                SystemMonitors.shared.start()
                return true
            }
        }
    }
#endif
