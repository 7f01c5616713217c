// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImageGTK
    import WebImagePrograms

    /// The panel at the side of the window that shows current statistics of the library. While it's hidden, it collects
    /// no statistics and has no timer.
    @MainActor
    final class StatisticsPanel {
        /// The widget, which slides in and out.
        let widget: Widget
        private let read: () -> GalleryStatistics
        private let grid: Widget
        private var rows: [(value: Widget, bar: Widget?)] = []
        private var displayed: GalleryStatistics?
        private var timer: LoopTimer?

        init(_ read: @escaping () -> GalleryStatistics) {
            self.read = read
            widget = gtk_revealer_new()
            gtk_revealer_set_transition_type(widget.opaque, GTK_REVEALER_TRANSITION_TYPE_SLIDE_LEFT)
            grid = gtk_grid_new()
            gtk_grid_set_row_spacing(gtkCast(grid), 6)
            gtk_grid_set_column_spacing(gtkCast(grid), 12)
            let box = WidgetFactory.box(GTK_ORIENTATION_VERTICAL, spacing: 12).styled("figures")
            WidgetFactory.append(box, WidgetFactory.label("Statistics", "title-4"), grid)
            gtk_widget_set_size_request(box, 320, -1)
            // The values expand within the panel, but the panel doesn't expand within the window.
            gtk_widget_set_hexpand(widget, 0)
            let scroller: Widget = gtk_scrolled_window_new()
            gtk_scrolled_window_set_policy(scroller.opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
            gtk_scrolled_window_set_child(scroller.opaque, box)
            gtk_revealer_set_child(widget.opaque, scroller)
        }

        var isVisible: Bool {
            get { gtk_revealer_get_reveal_child(widget.opaque) != 0 }
            set {
                gtk_revealer_set_reveal_child(widget.opaque, newValue ? 1 : 0)
                timer = nil
                guard newValue else { return }
                update()
                timer = LoopTimer(every: 250) { [weak self] in
                    self?.update()
                    return self != nil
                }
            }
        }

        func stop() { timer = nil }

        func update() {
            let figures = read()
            guard figures != displayed else { return }
            displayed = figures
            let lines = figures.rows
            if rows.count != lines.count { build(lines) }
            for (row, line) in zip(rows, lines) {
                gtk_label_set_text(row.value.opaque, line.value)
                if let bar = row.bar { gtk_level_bar_set_value(bar.opaque, line.fraction ?? 0) }
            }
        }

        private func build(_ lines: [GalleryStatistics.Row]) {
            rows = []
            var place: Int32 = 0
            for line in lines {
                let isMain = line.isMain
                let name = WidgetFactory.label(line.label, isMain ? "heading" : "dim-label")
                let value = WidgetFactory.label(line.value, "numeric", isMain ? "main-figure" : "dim-label")
                gtk_label_set_xalign(value.opaque, 1)
                gtk_widget_set_hexpand(value, 1)
                if isMain, place > 0 { gtk_widget_set_margin_top(name, 10) }
                if isMain, place > 0 { gtk_widget_set_margin_top(value, 10) }
                gtk_grid_attach(gtkCast(grid), name, 0, place, 1, 1)
                gtk_grid_attach(gtkCast(grid), value, 1, place, 1, 1)
                place += 1
                var bar: Widget?
                if line.fraction != nil {
                    let level: Widget = gtk_level_bar_new()
                    for mark in [GTK_LEVEL_BAR_OFFSET_LOW, GTK_LEVEL_BAR_OFFSET_HIGH, GTK_LEVEL_BAR_OFFSET_FULL] {
                        gtk_level_bar_remove_offset_value(level.opaque, mark)
                    }
                    Property.setAccessible(level, label: line.label)
                    gtk_grid_attach(gtkCast(grid), level, 0, place, 2, 1)
                    bar = level
                    place += 1
                }
                rows.append((value, bar))
            }
        }
    }

#endif
