// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK
    // The C code of the bridge requires libdispatch, so link it even if no other part of the program does.
    import Dispatch
    import Foundation
    import Synchronization

    /// A namespace for functions that run the main actor's work while the GLib loop owns the main thread.
    public enum GTKMainLoop {
        @MainActor private static var isInstalled = false
        /// The number of ticks and timers of views that have run.
        @MainActor static var callbacks = 0

        /// The number of times that the loop has run work of this module: main actor work, ticks, and timers. The
        /// number doesn't change while nothing happens.
        @MainActor package static var wakes: Int { callbacks + Int(wi_gtk_main_queue_dispatches()) }

        private static let hasWarned = Atomic<Bool>(false)

        /// Calls ``install()`` for a view. If the current thread isn't the main thread, this method writes a warning to
        /// standard error, because nothing else would report the problem. It writes the warning only once per process,
        /// and returns `true` if this call wrote it.
        @discardableResult
        static func installOrWarn() -> Bool {
            guard !install(), !hasWarned.exchange(true, ordering: .relaxed) else { return false }
            let line =
                "WebImageGTK: A view was used outside the main thread of the process, so it can’t display images. "
                + "The function “main” must not await. See the article “GTK” of the documentation.\n"
            FileHandle.standardError.write(Data(line.utf8))
            return true
        }

        /// Installs a source in the default main context that runs the work of the main actor and of
        /// `DispatchQueue.main`.
        ///
        /// The source neither polls nor uses idle callbacks. Views call this method automatically. An app needs to call
        /// it only if it awaits on the main actor before it creates its first view. Further calls do nothing.
        ///
        /// The app's `main` must be synchronous. After the first `await` of an asynchronous `main`, the main actor
        /// permanently leaves the main thread of the process (swiftlang/swift#90851).
        ///
        /// - Returns: `false` if the current thread isn't the main thread of the process. In that case, this method
        ///   does nothing.
        @discardableResult
        public static func install() -> Bool {
            guard wi_gtk_is_process_main_thread() else { return false }
            return MainActor.assumeIsolated {
                if isInstalled { return true }
                guard let source = wi_gtk_main_queue_source_new()?.assumingMemoryBound(to: GSource.self) else {
                    return false
                }
                // With a higher priority, a chain of blocks on the main queue would prevent frames from being drawn.
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
