// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK
    import Glibc

    /// The user's desktop settings, as GtkSettings reports them.
    @MainActor
    final class DesktopSettings {
        static let shared = DesktopSettings()

        /// Whether animations are enabled (`gtk-enable-animations`).
        private(set) var animates = true
        /// Whether the theme has a high contrast (`gtk-theme-name` or `GTK_THEME`).
        private(set) var hasHighContrast = false
        private var settings: OpaquePointer?

        /// Reads the settings and starts to observe them. Does nothing before a display is open.
        func follow() {
            guard settings == nil, let settings = gtk_settings_get_default() else { return }
            self.settings = settings
            read()
            let changed: @convention(c) (OpaquePointer?, OpaquePointer?, gpointer?) -> Void = { _, _, _ in
                MainActor.assumeIsolated { DesktopSettings.shared.read() }
            }
            for name in ["gtk-enable-animations", "gtk-theme-name"] {
                connect(
                    UnsafeMutableRawPointer(settings), "notify::\(name)", unsafeBitCast(changed, to: GCallback.self),
                    nil)
            }
        }

        private func read() {
            guard let settings else { return }
            let animates = wi_gtk_flag(UnsafeMutableRawPointer(settings), "gtk-enable-animations", true)
            let hasHighContrast = Self.isHighContrast(themeName(settings))
            guard animates != self.animates || hasHighContrast != self.hasHighContrast else { return }
            self.animates = animates
            self.hasHighContrast = hasHighContrast
            for controller in ControllerRegistry.shared.all { controller.settingsChanged() }
        }

        private func themeName(_ settings: OpaquePointer) -> String {
            // This variable replaces the setting, and GTK doesn't change the setting then.
            if let name = getenv("GTK_THEME") { return String(cString: name) }
            guard let name = wi_gtk_string(UnsafeMutableRawPointer(settings), "gtk-theme-name") else { return "" }
            defer { g_free(name) }
            return String(cString: name)
        }

        /// Returns whether a theme has a high contrast. The themes of GTK are `Default-hc`, `Default-hc-dark`, and
        /// `HighContrast`.
        static func isHighContrast(_ theme: String) -> Bool {
            let name = theme.lowercased()
            return name.contains("highcontrast") || name.hasSuffix("-hc") || name.contains("-hc-")
        }
    }
#endif
