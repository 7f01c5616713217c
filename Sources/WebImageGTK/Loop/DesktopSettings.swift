// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK

    /// What the desktop's user wants, as GtkSettings tells it.
    @MainActor
    final class DesktopSettings {
        static let shared = DesktopSettings()

        /// Whether things may move (`gtk-enable-animations`).
        private(set) var animates = true
        private var settings: OpaquePointer?

        /// Reads the settings once there is a display, and follows them from then on.
        func follow() {
            guard settings == nil, let settings = gtk_settings_get_default() else { return }
            self.settings = settings
            read()
            let changed: @convention(c) (OpaquePointer?, OpaquePointer?, gpointer?) -> Void = { _, _, _ in
                MainActor.assumeIsolated { DesktopSettings.shared.read() }
            }
            connect(
                UnsafeMutableRawPointer(settings), "notify::gtk-enable-animations",
                unsafeBitCast(changed, to: GCallback.self), nil)
        }

        private func read() {
            guard let settings else { return }
            let animates = wi_gtk_flag(UnsafeMutableRawPointer(settings), "gtk-enable-animations", true)
            guard animates != self.animates else { return }
            self.animates = animates
            for controller in LivingControllers.shared.all { controller.motionChanged() }
        }
    }
#endif
