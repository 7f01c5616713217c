// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImagePrograms

    /// The style sheet of the gallery. All colors come from the GTK theme, so it works with light and dark themes.
    @MainActor
    enum Style {
        private static var isInstalled = false

        static func install() {
            guard !isInstalled, let display = gdk_display_get_default() else { return }
            isInstalled = true
            let provider = gtk_css_provider_new()
            gtk_css_provider_load_from_data(provider, css, -1)
            gtk_style_context_add_provider_for_display(
                display, OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
            g_object_unref(provider.map { UnsafeMutableRawPointer($0) })
        }

        /// Applies a color theme. The system theme restores the value from before the first call.
        static func apply(_ theme: GallerySettings.Theme) {
            guard let settings = gtk_settings_get_default() else { return }
            let object = UnsafeMutableRawPointer(settings)
            switch theme {
            case .system: gtk_settings_reset_property(settings, "gtk-application-prefer-dark-theme")
            case .light: Property.set(object, "gtk-application-prefer-dark-theme", false)
            case .dark: Property.set(object, "gtk-application-prefer-dark-theme", true)
            }
        }

        private static let css = """
            .gallery-grid { padding: 10px; background: @theme_base_color; }
            .gallery-grid > child { padding: 8px 6px 6px 6px; border-radius: 14px; margin: 2px; }
            .gallery-grid > child:hover { background: alpha(currentColor, 0.06); }
            .gallery-grid > child:selected { background: alpha(@theme_selected_bg_color, 0.28); color: inherit; }
            .thumbnail { background: alpha(currentColor, 0.06); border-radius: 10px; }
            .caption { font-size: 0.86em; }
            .gallery-cell .caption { opacity: 0.85; }
            .failure { padding: 10px; border-radius: 10px; background: alpha(@theme_bg_color, 0.92);
                color: @theme_fg_color; }
            .gallery-cell .failure .caption { opacity: 1; }
            .numeric { font-feature-settings: "tnum"; }
            .empty-page { padding: 24px; opacity: 0.6; }
            .title-2 { font-weight: 800; font-size: 1.3em; }
            .title-4 { font-weight: 700; font-size: 1.12em; }
            .figures { padding: 18px; background: @theme_bg_color; border-left: 1px solid @borders; }
            .figures levelbar trough { min-height: 5px; padding: 0; border: none; border-radius: 3px; }
            .figures levelbar block { min-height: 5px; border: none; border-radius: 3px; }
            .figures levelbar block.filled { background: @theme_selected_bg_color; }
            .settings { padding: 12px; }
            .full-page { background: shade(@theme_bg_color, 0.92); }
            .full-page .zoom-area { margin: 18px 18px 6px 18px; }
            .full-page .empty-page { opacity: 1; border-radius: 14px; background: alpha(@theme_bg_color, 0.92);
                color: @theme_fg_color; }
            .full-page .arrow { min-width: 44px; min-height: 44px; margin: 18px; opacity: 0.82; }
            .full-page .arrow:disabled { opacity: 0; }
            .full-page .information { padding: 6px 18px 14px 18px; }
            .toast { padding: 9px 20px; margin: 24px; border-radius: 99px; }
            .drop-here { border: 3px dashed @theme_selected_bg_color; border-radius: 14px; margin: 8px;
                background: alpha(@theme_selected_bg_color, 0.12); }
            .pill { border-radius: 99px; padding: 7px 26px; }
            """
    }
#endif
