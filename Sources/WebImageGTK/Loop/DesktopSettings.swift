// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK

    /// The user's desktop settings, as GtkSettings reports them.
    @MainActor
    final class DesktopSettings {
        static let shared = DesktopSettings()

        /// A Boolean value that indicates whether animations are enabled (`gtk-enable-animations`).
        private(set) var animates = true
        private var settings: OpaquePointer?

        /// Reads the settings and starts to observe them. Does nothing before a display is open.
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
            for controller in ControllerRegistry.shared.all { controller.motionChanged() }
        }
    }
#endif
