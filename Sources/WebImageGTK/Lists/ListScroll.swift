// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// A GtkListView or GtkGridView: where it is scrolled to, and when its model changes. Holds the widget unowned and lets go
    /// of it when it is destroyed.
    @MainActor
    final class ListScroll {
        private(set) var widget: UnsafeMutablePointer<GtkWidget>?
        var onSettle: @MainActor () -> Void = {}
        var onItemsChange: @MainActor () -> Void = {}

        private let view: OpaquePointer
        private let isGrid: Bool
        private var follower: ScrollFollower?
        private var model: (pointer: OpaquePointer, handler: gulong)?

        /// Nil for what is neither.
        init?(_ view: OpaquePointer) {
            let raw = UnsafeMutableRawPointer(view)
            isGrid = WidgetKind.isA(raw, gtk_grid_view_get_type())
            guard isGrid || WidgetKind.isA(raw, gtk_list_view_get_type()) else { return nil }
            self.view = view
            widget = raw.assumingMemoryBound(to: GtkWidget.self)
            follower = ScrollFollower(raw.assumingMemoryBound(to: GtkWidget.self)) { [weak self] in self?.onSettle() }
            let data = Unmanaged.passUnretained(self).toOpaque()
            listen(raw, "notify::hadjustment", data) { $0.followAdjustments() }
            listen(raw, "notify::vadjustment", data) { $0.followAdjustments() }
            listen(raw, "notify::model", data) { $0.followModel() }
            let destroyed: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
                ListScroll.isolated(data) { $0.letGo() }
            }
            connect(raw, "destroy", unsafeBitCast(destroyed, to: GCallback.self), data)
            let mapped: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
                ListScroll.isolated(data) { $0.schedule() }
            }
            connect(raw, "map", unsafeBitCast(mapped, to: GCallback.self), data)
            followAdjustments()
            followModel()
        }

        private func listen(
            _ object: UnsafeMutableRawPointer, _ signal: String, _ data: gpointer,
            _ action: @escaping @MainActor (ListScroll) -> Void
        ) {
            let call = SignalAction<Void> { [weak self] in
                if let self { action(self) }
            }
            let function: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, _, data in
                guard let data else { return }
                // Sendable: used right here, on the main thread.
                nonisolated(unsafe) let action = data
                MainActor.assumeIsolated { SignalAction<Void>.of(action)?.call(()) }
            }
            connect(object, signal, unsafeBitCast(function, to: GCallback.self), action: call)
        }

        nonisolated private static func isolated(_ data: gpointer?, _ body: @MainActor (ListScroll) -> Void) {
            guard let data else { return }
            let scroll = Unmanaged<ListScroll>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { body(scroll) }
        }

        /// Items of the model.
        var count: Int {
            guard widget != nil, let model = currentModel else { return 0 }
            return Int(g_list_model_get_n_items(model))
        }

        private var currentModel: OpaquePointer? {
            isGrid ? gtk_grid_view_get_model(view) : gtk_list_view_get_model(view)
        }

        func setFactory(_ factory: OpaquePointer) {
            if isGrid { gtk_grid_view_set_factory(view, factory) } else { gtk_list_view_set_factory(view, factory) }
        }

        func schedule() { if widget != nil { follower?.schedule() } }

        private func followAdjustments() {
            guard widget != nil else { return }
            follower?.follow([gtk_scrollable_get_hadjustment(view), gtk_scrollable_get_vadjustment(view)])
        }

        private func followModel() {
            letGoOfModel()
            guard widget != nil, let current = currentModel else { return }
            let changed: @convention(c) (gpointer?, guint, guint, guint, gpointer?) -> Void = { _, _, _, _, data in
                ListScroll.isolated(data) { scroll in
                    scroll.onItemsChange()
                    scroll.schedule()
                }
            }
            let raw = UnsafeMutableRawPointer(current)
            g_object_ref(raw)
            let handler = g_signal_connect_data(
                raw, "items-changed", unsafeBitCast(changed, to: GCallback.self),
                Unmanaged.passUnretained(self).toOpaque(),
                nil, GConnectFlags(rawValue: 0))
            model = (current, handler)
            onItemsChange()
            schedule()
        }

        private func letGoOfModel() {
            guard let model else { return }
            self.model = nil
            g_signal_handler_disconnect(UnsafeMutableRawPointer(model.pointer), model.handler)
            g_object_unref(UnsafeMutableRawPointer(model.pointer))
        }

        private func letGo() {
            widget = nil
            follower?.stop()
            follower = nil
            letGoOfModel()
        }
    }
#endif
