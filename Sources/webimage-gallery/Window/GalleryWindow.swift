// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageGTK
    import WebImagePrograms

    /// The window, with a header bar, a search bar, the grid or the large view, and a panel with statistics.
    @MainActor
    final class GalleryWindow {
        let window: UnsafeMutablePointer<GtkWindow>
        let model: GalleryModel
        let grid: GridPage
        let full: ImagePage
        let figures: StatisticsPanel
        let settings: PreferencesPopover
        let settingsButton: Widget = gtk_menu_button_new()
        let figuresButton = WidgetFactory.toggle(
            icon: "power-profile-performance-symbolic", tooltip: "Show Statistics", action: "win.figures")
        let search = SearchBar()
        let toast = Toast()
        let dropTarget = DropIndicator()

        private let stack: Widget = gtk_stack_new()
        private let title = WidgetFactory.label("WebImage Gallery", "title")
        private let subtitle = WidgetFactory.label("", "subtitle")
        private let back: Widget

        init(_ model: GalleryModel, application: UnsafeMutablePointer<GtkApplication>?) {
            self.model = model
            let widget: Widget =
                application.map { gtk_application_window_new($0) } ?? gtk_window_new()
            window = gtkCast(widget)
            grid = GridPage(model)
            full = ImagePage(model)
            settings = PreferencesPopover(model)
            back = WidgetFactory.button(icon: "go-previous-symbolic", tooltip: "Back", action: "win.back")
            let (grid, full) = (grid, full)
            figures = StatisticsPanel {
                var figures = GalleryStatistics(model.manager)
                (figures.visibleReady, figures.visible) =
                    full.item == nil ? grid.progress : (full.image == nil ? 0 : 1, 1)
                figures.prefetching = grid.prefetching + full.prefetching
                return figures
            }
            gtk_window_set_title(window, "WebImage Gallery")
            gtk_window_set_default_size(window, 1_120, 780)
            addActions()
            gtk_window_set_titlebar(window, makeHeader())
            gtk_window_set_child(window, makeContent())
            follow()
            Style.apply(model.settings.theme)
            // Property observers don't run in an initializer.
            gtk_widget_hide(back)
            updateActions()
            showTitle()
        }

        func present() { gtk_window_present(window) }

        func close() { gtk_window_close(window) }

        /// Whether the widgets were destroyed. Tasks must check it before they access widgets.
        private(set) var isClosed = false

        private func closed() {
            isClosed = true
            grid.isClosed = true
            figures.stop()
            toast.stop()
            model.onContentsChange = nil
            model.onSettingsChange = nil
        }

        // MARK: - Layout

        private func makeHeader() -> Widget {
            let bar: Widget = gtk_header_bar_new()
            let titles = WidgetFactory.box(GTK_ORIENTATION_VERTICAL)
            gtk_widget_set_valign(titles, GTK_ALIGN_CENTER)
            for label in [title, subtitle] { gtk_label_set_xalign(label.opaque, 0.5) }
            gtk_label_set_single_line_mode(title.opaque, 1)
            WidgetFactory.append(titles, title, subtitle)
            gtk_header_bar_set_title_widget(bar.opaque, titles)
            gtk_header_bar_pack_start(bar.opaque, back)
            gtk_header_bar_pack_start(
                bar.opaque,
                WidgetFactory.toggle(icon: "system-search-symbolic", tooltip: "Search", action: "win.search"))
            gtk_menu_button_set_icon_name(settingsButton.opaque, "emblem-system-symbolic")
            WidgetFactory.describe(settingsButton, "Preferences")
            let popover: Widget = gtk_popover_new()
            gtk_popover_set_child(gtkCast(popover), settings.widget)
            gtk_widget_set_halign(popover, GTK_ALIGN_END)
            gtk_menu_button_set_popover(settingsButton.opaque, popover)
            gtk_header_bar_pack_end(bar.opaque, settingsButton)
            gtk_header_bar_pack_end(bar.opaque, figuresButton)
            return bar
        }

        private func makeContent() -> Widget {
            gtk_stack_set_transition_type(stack.opaque, GTK_STACK_TRANSITION_TYPE_CROSSFADE)
            gtk_stack_set_transition_duration(stack.opaque, 140)
            gtk_stack_add_named(stack.opaque, grid.widget, "grid")
            gtk_stack_add_named(stack.opaque, full.widget, "full")
            let main = WidgetFactory.box(GTK_ORIENTATION_VERTICAL)
            WidgetFactory.append(main, search.widget, stack)
            let overlay: Widget = gtk_overlay_new()
            gtk_widget_set_hexpand(overlay, 1)
            gtk_overlay_set_child(overlay.opaque, main)
            gtk_overlay_add_overlay(overlay.opaque, toast.widget)
            gtk_overlay_add_overlay(overlay.opaque, dropTarget.widget)
            let row = WidgetFactory.box(GTK_ORIENTATION_HORIZONTAL)
            WidgetFactory.append(row, overlay, figures.widget)
            return row
        }

        private func follow() {
            grid.onOpen = { [weak self] in self?.open($0) }
            full.onChange = { [weak self] in self?.updateActions() }
            model.onContentsChange = { [weak self] in self?.contentsChanged() }
            model.onSettingsChange = { [weak self] in self?.settingsChanged(from: $0) }
            search.onText = { [weak self] in self?.model.setFilter($0) }
            search.onOrder = { [weak self] in self?.model.setOrder($0) }
            search.show(model.contents)
            addKeys()
            addCopying()
            addDropping()
            on(UnsafeMutableRawPointer(window), "destroy") { [weak self] _ in self?.closed() }
        }

        // MARK: - Grid and large view

        /// Whether the large view is visible.
        private(set) var isFull = false {
            didSet {
                gtk_widget_set_visible(back, isFull ? 1 : 0)
                gtk_stack_set_visible_child_name(stack.opaque, isFull ? "full" : "grid")
                updateActions()
                showTitle()
            }
        }

        /// The position of the image in the large view.
        var index: Int? { full.item.flatMap(model.contents.index) }

        /// Shows the image at a position in the large view.
        func open(_ position: Int) {
            let shown = model.contents.visibleItems
            guard shown.indices.contains(position) else { return }
            full.show(shown[position], index: position, count: shown.count)
            grid.selected = position
            if isFull { showTitle() } else { isFull = true }
            gtk_widget_grab_focus(full.widget)
            updateActions()
        }

        /// Moves by `count` images, but not beyond the first and the last image.
        func step(by count: Int) {
            guard let index else { return }
            open(min(max(index + count, 0), model.contents.visibleItems.count - 1))
        }

        /// Returns to the grid and scrolls to the image that was shown.
        func goBack() {
            guard isFull else { return }
            let place = index
            full.close()
            isFull = false
            if let place { grid.reveal(place) }
        }

        private func contentsChanged() {
            grid.showContents()
            if isFull { if let index { open(index) } else { goBack() } }
            showTitle()
        }

        private func settingsChanged(from old: GallerySettings) {
            let new = model.settings
            settings.show(new)
            if new.theme != old.theme { Style.apply(new.theme) }
            var before = old
            // These settings don't affect the visible images.
            (before.theme, before.network) = (new.theme, new.network)
            if before != new {
                grid.reload()
                if isFull, let index { full.reload(index: index, count: model.contents.visibleItems.count) }
            }
        }

        private func showTitle() {
            let count = model.contents.visibleItems.count
            if isFull, let item = full.item, let index {
                gtk_label_set_text(title.opaque, item.title)
                gtk_label_set_text(subtitle.opaque, "\(index + 1) of \(count)")
            } else {
                gtk_label_set_text(title.opaque, "WebImage Gallery")
                gtk_label_set_text(subtitle.opaque, model.contents.summary)
            }
        }
    }
#endif
