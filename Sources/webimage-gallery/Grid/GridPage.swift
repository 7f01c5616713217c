// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageGTK
    import WebImagePrograms

    /// The grid of all images, with reused cells.
    @MainActor
    final class GridPage {
        let widget: Widget
        /// A closure that's called with the position of the image to open.
        var onOpen: ((Int) -> Void)?

        /// A closure that's called when an image appears, a load fails, or other positions become visible.
        var onChange: (() -> Void)?

        var isClosed = false

        /// The timer until the cells are described.
        private var descriptionTimer: LoopTimer?
        private var preparedSinceTimer = 0
        private let model: GalleryModel
        private let grid: OpaquePointer
        private let names: OpaquePointer
        private let selection: OpaquePointer
        private let empty: Widget
        private let emptyTitle: Widget
        private let emptyText: Widget
        private let emptyButton: Widget
        private let factory: ImageListFactory<GalleryCell>

        init(_ model: GalleryModel) {
            self.model = model
            names = gtk_string_list_new(nil)
            selection = gtk_single_selection_new(names)
            gtk_single_selection_set_autoselect(selection, 0)
            let view: Widget = gtk_grid_view_new(selection, nil).styled("gallery-grid")
            grid = view.opaque
            gtk_grid_view_set_min_columns(grid, 2)
            gtk_grid_view_set_single_click_activate(grid, 1)
            Property.setAccessible(view, label: "Images")
            weak var page: GridPage?
            factory = ImageListFactory(
                manager: model.manager,
                makeCell: {
                    let cell = GalleryCell.make(model.manager)
                    cell.onSettle = { page?.onChange?() }
                    return cell
                },
                content: { position in
                    guard model.contents.visibleItems.indices.contains(position) else { return ImageListContent(nil) }
                    let item = model.contents.visibleItems[position]
                    let scale = Int(gtk_widget_get_scale_factor(view))
                    return ImageListContent(
                        model.settings.thumbnail(item, scale: scale), options: model.settings.cellOptions(item))
                },
                willShow: { cell, position in
                    guard model.contents.visibleItems.indices.contains(position) else { return }
                    cell.prepare(model.contents.visibleItems[position], size: model.settings.cellSize)
                    page?.scheduleDescriptions()
                })

            let scroller: Widget = gtk_scrolled_window_new()
            gtk_scrolled_window_set_policy(scroller.opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
            gtk_scrolled_window_set_child(scroller.opaque, view)
            (empty, emptyTitle, emptyText, emptyButton) = Self.makeEmpty()
            let overlay: Widget = gtk_overlay_new()
            gtk_overlay_set_child(overlay.opaque, scroller)
            gtk_overlay_add_overlay(overlay.opaque, empty)
            gtk_widget_set_hexpand(overlay, 1)
            gtk_widget_set_vexpand(overlay, 1)
            widget = overlay
            page = self
            factory.onVisibleRangeChange = { _ in page?.onChange?() }
            factory.install(on: grid)
            fitColumns(1_120)
            let across = gtk_scrolled_window_get_hadjustment(scroller.opaque)
            on(across.map { UnsafeMutableRawPointer($0) }, "changed") { [weak self] _ in
                let width = gtk_adjustment_get_page_size(across)
                // Don't change the number of columns during the layout that emits this signal.
                Task { self?.fitColumns(width) }
            }
            let activated: @convention(c) (gpointer?, guint, gpointer?) -> Void = { _, position, data in
                guard let data else { return }
                // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
                nonisolated(unsafe) let pointer = data
                MainActor.assumeIsolated { Callback<Int, Void>.of(pointer)?.call(Int(position)) }
            }
            connect(
                view.raw, "activate", unsafeBitCast(activated, to: GCallback.self),
                Callback<Int, Void> { [weak self] in self?.onOpen?($0) })
            showContents()
        }

        /// Describes the cells when no cell has been prepared for a while.
        private func scheduleDescriptions() {
            preparedSinceTimer += 1
            guard descriptionTimer?.isActive != true else { return }
            descriptionTimer = LoopTimer(every: 200) { [weak self] in
                guard let self, !isClosed else { return false }
                guard preparedSinceTimer == 0 else {
                    preparedSinceTimer = 0
                    return true
                }
                for (_, cell) in factory.cells { cell.describe() }
                return false
            }
        }

        /// Creates the page that's shown if there are no images.
        private static func makeEmpty() -> (page: Widget, title: Widget, text: Widget, button: Widget) {
            let box = WidgetFactory.box(GTK_ORIENTATION_VERTICAL, spacing: 12).styled("empty-page")
            gtk_widget_set_halign(box, GTK_ALIGN_CENTER)
            gtk_widget_set_valign(box, GTK_ALIGN_CENTER)
            let icon: Widget = gtk_image_new_from_icon_name("image-x-generic-symbolic")
            gtk_image_set_pixel_size(icon.opaque, 96)
            let title = WidgetFactory.label("", "title-2")
            let text = WidgetFactory.label("", wraps: true)
            let button: Widget = gtk_button_new_with_label("Open…").styled("pill")
            gtk_actionable_set_action_name(button.opaque, "win.open")
            for child in [title, text, button] { gtk_widget_set_halign(child, GTK_ALIGN_CENTER) }
            WidgetFactory.append(box, icon, title, text, button)
            return (page: box, title: title, text: text, button: button)
        }

        /// Limits the number of columns to the number that fits into `width` points. The grid creates 30 rows of cells,
        /// and the length of a row is the maximum number of columns, even if they don't fit.
        private func fitColumns(_ width: Double) {
            guard width > 0, !isClosed else { return }
            let columns = guint(max(2, width / Double(model.settings.cellSize + 20)))
            if gtk_grid_view_get_max_columns(grid) != columns { gtk_grid_view_set_max_columns(grid, columns) }
        }

        // MARK: - Contents

        /// Updates the grid from the model and scrolls to the top.
        func showContents() {
            let old = g_list_model_get_n_items(names)
            var titles = model.contents.visibleItems.map { strdup($0.title).map { UnsafePointer($0) } } + [nil]
            gtk_string_list_splice(names, 0, old, &titles)
            for title in titles { free(UnsafeMutableRawPointer(mutating: title)) }
            let isEmpty = model.contents.visibleItems.isEmpty
            gtk_widget_set_visible(empty, isEmpty ? 1 : 0)
            let hasItems = !model.contents.items.isEmpty
            gtk_label_set_text(emptyTitle.opaque, hasItems ? "No Results Found" : "No Images")
            gtk_label_set_text(
                emptyText.opaque,
                hasItems ? "Try a different search." : "Drop images here or press Ctrl+O to open some.")
            gtk_widget_set_visible(emptyButton, hasItems ? 0 : 1)
        }

        /// Reloads the same images with the current settings.
        func reload() {
            fitColumns(Double(gtk_widget_get_width(grid.widget)))
            factory.reload()
        }

        func retry() { for (_, cell) in factory.cells { cell.view.retry() } }

        // MARK: - Positions

        var visible: Range<Int> { factory.visibleRange }

        /// The number of visible cells whose load finished, and the number of all visible cells.
        var progress: (ready: Int, all: Int) {
            let seen = factory.cells.filter { $0.cell.isVisible }
            let ready = seen.count { cell in
                switch cell.cell.view.snapshot().state {
                case .showing, .failed: true
                default: false
                }
            }
            return (ready, seen.count)
        }

        var prefetching: Int { factory.prefetcher?.runningCount ?? 0 }

        /// The cells that show an item, ordered by position.
        var cells: [(position: Int, view: WebImageView)] { factory.cells.map { ($0.position, $0.cell.view) } }

        var selected: Int? {
            get {
                let position = gtk_single_selection_get_selected(selection)
                return position == GTK_INVALID_LIST_POSITION ? nil : Int(position)
            }
            set {
                gtk_single_selection_set_selected(selection, newValue.map { guint($0) } ?? GTK_INVALID_LIST_POSITION)
            }
        }

        /// Scrolls to `position`, selects it, and moves the keyboard focus to it.
        func reveal(_ position: Int) {
            guard model.contents.visibleItems.indices.contains(position) else { return }
            selected = position
            // GTK scrolls to the item and moves the keyboard focus. GTK 4.8 has no `gtk_grid_view_scroll_to`.
            gtk_widget_activate_action_variant(
                grid.widget, "list.scroll-to-item", g_variant_new_uint32(guint(position)))
            gtk_widget_grab_focus(grid.widget)
        }

        /// The geometry of the grid, or `nil` before the first layout.
        var layout: ScrollMeasurementStateMachine.Layout? {
            guard let adjustment = gtk_scrollable_get_vadjustment(grid) else { return nil }
            let columns = Int(gtk_grid_view_get_max_columns(grid))
            let rows = (model.contents.visibleItems.count + columns - 1) / max(1, columns)
            let (viewport, upper) = (gtk_adjustment_get_page_size(adjustment), gtk_adjustment_get_upper(adjustment))
            guard rows > 0, viewport > 0, upper > 0 else { return nil }
            return ScrollMeasurementStateMachine.Layout(
                columns: columns, rowHeight: upper / Double(rows), viewport: viewport,
                value: gtk_adjustment_get_value(adjustment))
        }

        /// The scroll position and the height of the content, in points.
        var scroll: (value: Double, upper: Double) {
            get {
                let adjustment = gtk_scrollable_get_vadjustment(grid)
                return (gtk_adjustment_get_value(adjustment), gtk_adjustment_get_upper(adjustment))
            }
            set { gtk_adjustment_set_value(gtk_scrollable_get_vadjustment(grid), newValue.value) }
        }
    }

    extension OpaquePointer {
        var widget: Widget { gtkCast(self) }
    }
#endif
