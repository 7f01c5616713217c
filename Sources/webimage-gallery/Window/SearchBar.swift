// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImagePrograms

    /// The search bar, which contains the search entry and the order.
    @MainActor
    final class SearchBar {
        let widget: Widget = gtk_search_bar_new()
        var onText: ((String) -> Void)?
        var onOrder: ((GalleryContents.Order) -> Void)?
        private let entry: Widget = gtk_search_entry_new()
        private let order: Widget

        init() {
            let names = gtk_string_list_new(nil)
            for order in GalleryContents.Order.allCases { gtk_string_list_append(names, order.title) }
            order = gtk_drop_down_new(names, nil)
            Property.setAccessible(order, label: "Sort Order")
            Property.setAccessible(entry, label: "Search")
            gtk_widget_set_size_request(entry, 320, -1)
            let box = WidgetFactory.box(GTK_ORIENTATION_HORIZONTAL, spacing: 8)
            WidgetFactory.append(box, entry, order)
            gtk_search_bar_set_child(widget.opaque, box)
            gtk_search_bar_connect_entry(widget.opaque, entry.opaque)
            on(entry.raw, "search-changed") { [weak self] _ in
                guard let self else { return }
                onText?(gtk_editable_get_text(entry.opaque).map { String(cString: $0) } ?? "")
            }
            onNotify(order.raw, "notify::selected") { [weak self] _ in
                guard let self else { return }
                let index = Int(gtk_drop_down_get_selected(order.opaque))
                if GalleryContents.Order.allCases.indices.contains(index) {
                    onOrder?(GalleryContents.Order.allCases[index])
                }
            }
        }

        func show(_ contents: GalleryContents) {
            gtk_editable_set_text(entry.opaque, contents.filter)
            gtk_drop_down_set_selected(
                order.opaque, guint(GalleryContents.Order.allCases.firstIndex(of: contents.order) ?? 0))
            if !contents.filter.isEmpty { isOpen = true }
        }

        var isOpen: Bool {
            get { gtk_search_bar_get_search_mode(widget.opaque) != 0 }
            set {
                gtk_search_bar_set_search_mode(widget.opaque, newValue ? 1 : 0)
                if newValue { gtk_widget_grab_focus(entry) }
            }
        }

        var hasFocus: Bool { gtk_widget_get_state_flags(entry).rawValue & GTK_STATE_FLAG_FOCUS_WITHIN.rawValue != 0 }

        /// Sets a closure that's called after the search bar opens or closes, for example because of the Escape key.
        func onOpenChange(_ action: @escaping (Bool) -> Void) {
            onNotify(widget.raw, "notify::search-mode-enabled") { [weak self] _ in
                if let self { action(isOpen) }
            }
        }
    }
#endif
