// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageGTK
    import WebImagePrograms

    /// The form with all settings, for a popover.
    @MainActor
    final class PreferencesPopover {
        let widget: Widget
        private let model: GalleryModel
        private let grid: Widget
        private var row: Int32 = 0
        /// Whether the controls are being updated from the settings. Meanwhile, changes of controls don't change the
        /// settings.
        private var isFollowing = false
        private var follow: [(GallerySettings) -> Void] = []

        init(_ model: GalleryModel) {
            self.model = model
            grid = gtk_grid_new()
            gtk_grid_set_row_spacing(gtkCast(grid), 8)
            gtk_grid_set_column_spacing(gtkCast(grid), 18)
            widget = WidgetFactory.box(GTK_ORIENTATION_VERTICAL, spacing: 12).styled("settings")
            WidgetFactory.append(widget, grid)
            addAppearance()
            addLoading()
            if model.server != nil { addNetwork() }
            addButtons()
            show(model.settings)
        }

        func show(_ settings: GallerySettings) {
            isFollowing = true
            for action in follow { action(settings) }
            isFollowing = false
        }

        private func change(_ body: (inout GallerySettings) -> Void) {
            guard !isFollowing else { return }
            body(&model.settings)
        }

        private func addAppearance() {
            heading("Appearance")
            choice("Transition", GallerySettings.TransitionChoice.allCases.map { ($0, $0.title) }, \.transition)
            choice("Placeholder", GallerySettings.PlaceholderChoice.allCases.map { ($0, $0.title) }, \.placeholder)
            let sides = GallerySettings.cellSizes
            scale(
                "Thumbnail Size", from: Double(sides.lowerBound), to: Double(sides.upperBound), step: 8,
                format: { "\(Int($0))" }
            ) {
                Double($0.cellSize)
            } set: {
                $0.cellSize = Int($1)
            }
            choice("Style", GallerySettings.Theme.allCases.map { ($0, $0.title) }, \.theme)
        }

        private func addLoading() {
            heading("Loading")
            choice("Cache Policy", CachePolicy.allCases.map { ($0, GallerySettings.title($0)) }, \.policy)
            toggle("Progressive Previews", \.showsPreviews)
            toggle("Retry Failed Loads", \.retries)
        }

        private func addNetwork() {
            heading("Simulated Network")
            scale("Delay", from: 0, to: 5, step: 0.1, format: { "\(Double(Int(($0 * 10).rounded())) / 10) s" }) {
                $0.network.delay
            } set: {
                $0.network.delay = ($1 * 10).rounded() / 10
            }
            scale("Failure Rate", from: 0, to: 100, step: 5, format: { "\(Int($0))%" }) {
                Double($0.network.failures)
            } set: {
                $0.network.failures = Int($1)
            }
            let speeds: [(Int?, String)] = [
                (nil, "Unlimited"), (1_000_000, "1 MB/s"), (200_000, "200 kB/s"), (50_000, "50 kB/s"),
                (10_000, "10 kB/s"),
            ]
            choice("Bandwidth", speeds, \.network.bytesPerSecond)
        }

        private func addButtons() {
            let box = WidgetFactory.box(GTK_ORIENTATION_HORIZONTAL, spacing: 8)
            gtk_box_set_homogeneous(gtkCast(box), 1)
            for (title, action, tip) in [
                ("Clear Memory Cache", "win.forget-memory", "Cached files on disk are kept"),
                ("Clear All Caches", "win.forget-all", "Visible images are loaded again"),
            ] {
                let button: Widget = gtk_button_new_with_label(title)
                gtk_widget_set_tooltip_text(button, tip)
                gtk_actionable_set_action_name(button.opaque, action)
                WidgetFactory.append(box, button)
            }
            WidgetFactory.append(widget, box)
        }

        // MARK: - Rows

        private func heading(_ text: String) {
            let label = WidgetFactory.label(text, "heading")
            if row > 0 { gtk_widget_set_margin_top(label, 8) }
            gtk_grid_attach(gtkCast(grid), label, 0, row, 2, 1)
            row += 1
        }

        private func attach(_ name: String, _ control: Widget) {
            let label = WidgetFactory.label(name)
            gtk_widget_set_hexpand(label, 1)
            gtk_widget_set_valign(control, GTK_ALIGN_CENTER)
            gtk_grid_attach(gtkCast(grid), label, 0, row, 1, 1)
            gtk_grid_attach(gtkCast(grid), control, 1, row, 1, 1)
            gtk_label_set_mnemonic_widget(label.opaque, control)
            Property.setAccessible(control, label: name)
            row += 1
        }

        private func choice<Value: Equatable>(
            _ name: String, _ values: [(Value, String)], _ path: WritableKeyPath<GallerySettings, Value>
        ) {
            let names = gtk_string_list_new(nil)
            for (_, title) in values { gtk_string_list_append(names, title) }
            // The dropdown takes ownership of the list.
            let control: Widget = gtk_drop_down_new(names, nil)
            gtk_widget_set_size_request(control, 190, -1)
            attach(name, control)
            follow.append { settings in
                let index = values.firstIndex { $0.0 == settings[keyPath: path] }
                gtk_drop_down_set_selected(control.opaque, index.map { guint($0) } ?? GTK_INVALID_LIST_POSITION)
            }
            onNotify(control.raw, "notify::selected") { [weak self] _ in
                let index = Int(gtk_drop_down_get_selected(control.opaque))
                if values.indices.contains(index) { self?.change { $0[keyPath: path] = values[index].0 } }
            }
        }

        private func toggle(_ name: String, _ path: WritableKeyPath<GallerySettings, Bool>) {
            let control: Widget = gtk_switch_new()
            gtk_widget_set_halign(control, GTK_ALIGN_END)
            attach(name, control)
            follow.append { gtk_switch_set_active(control.opaque, $0[keyPath: path] ? 1 : 0) }
            onNotify(control.raw, "notify::active") { [weak self] _ in
                self?.change { $0[keyPath: path] = gtk_switch_get_active(control.opaque) != 0 }
            }
        }

        private func scale(
            _ name: String, from: Double, to: Double, step: Double, format: @escaping (Double) -> String,
            get: @escaping (GallerySettings) -> Double, set: @escaping (inout GallerySettings, Double) -> Void
        ) {
            let control: Widget = gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, from, to, step)
            gtk_widget_set_hexpand(control, 1)
            let value = WidgetFactory.label("", "numeric", "dim-label")
            gtk_label_set_width_chars(value.opaque, 5)
            gtk_label_set_xalign(value.opaque, 1)
            let box = WidgetFactory.box(GTK_ORIENTATION_HORIZONTAL)
            gtk_widget_set_size_request(box, 190, -1)
            WidgetFactory.append(box, control, value)
            attach(name, box)
            Property.setAccessible(control, label: name)
            let tell = { (number: Double) in gtk_label_set_text(value.opaque, format(number)) }
            follow.append {
                gtk_range_set_value(gtkCast(control), get($0))
                tell(get($0))
            }
            on(control.raw, "value-changed") { [weak self] _ in
                let number = gtk_range_get_value(gtkCast(control))
                tell(number)
                self?.change { set(&$0, number) }
            }
        }
    }
#endif
