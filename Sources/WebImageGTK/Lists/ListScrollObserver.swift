// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// An object that follows the scroll position and the model of a GtkListView or GtkGridView.
    ///
    /// It has an unowned reference to the widget, which it clears when the widget is destroyed.
    @MainActor
    final class ListScrollObserver {
        private(set) var widget: UnsafeMutablePointer<GtkWidget>?
        var onSettle: @MainActor () -> Void = {}
        var onItemsChange: @MainActor () -> Void = {}

        private let view: OpaquePointer
        private let isGrid: Bool
        private var follower: ScrollObserver?
        private var model: (pointer: OpaquePointer, handler: gulong)?
        /// The scroll position for which the signal was emitted again, or `nil` if the list has shown cells since.
        private var repeatedPosition: Double?

        /// Returns `nil` if `view` is neither a list view nor a grid view.
        init?(_ view: OpaquePointer) {
            let raw = UnsafeMutableRawPointer(view)
            isGrid = WidgetKind.isA(raw, gtk_grid_view_get_type())
            guard isGrid || WidgetKind.isA(raw, gtk_list_view_get_type()) else { return nil }
            self.view = view
            widget = raw.assumingMemoryBound(to: GtkWidget.self)
            follower = ScrollObserver(raw.assumingMemoryBound(to: GtkWidget.self)) { [weak self] in self?.onSettle() }
            listen(raw, "notify::hadjustment") { $0.followAdjustments() }
            listen(raw, "notify::vadjustment") { $0.followAdjustments() }
            listen(raw, "notify::model") { $0.followModel() }
            // These handlers retain this object because the view releases its factory, the only other owner, before it
            // emits `destroy`.
            listen(raw, "destroy") { $0.letGo() }
            listen(raw, "map") { $0.schedule() }
            followAdjustments()
            followModel()
        }

        private func listen(
            _ object: UnsafeMutableRawPointer, _ signal: String,
            _ action: @escaping @MainActor (ListScrollObserver) -> Void
        ) {
            let call = SignalAction<Void> { action(self) }
            let function: GCallback
            if signal.hasPrefix("notify") {
                let three: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { ListScrollObserver.call($2) }
                function = unsafeBitCast(three, to: GCallback.self)
            } else {
                let two: @convention(c) (gpointer?, gpointer?) -> Void = { ListScrollObserver.call($1) }
                function = unsafeBitCast(two, to: GCallback.self)
            }
            connect(object, signal, function, action: call)
        }

        nonisolated private static func call(_ data: gpointer?) {
            guard let data else { return }
            // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
            nonisolated(unsafe) let action = data
            MainActor.assumeIsolated { SignalAction<Void>.of(action)?.call(()) }
        }

        nonisolated private static func isolated(_ data: gpointer?, _ body: @MainActor (ListScrollObserver) -> Void) {
            guard let data else { return }
            let scroll = Unmanaged<ListScrollObserver>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { body(scroll) }
        }

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

        /// Emits `value-changed` again if a list that has items shows none of them.
        ///
        /// In GTK 4.8, a GtkGridView stays empty after the first jump outside of the area that it has laid out. The
        /// signal makes it update its layout after the next frame. The signal isn't repeated for the same scroll
        /// position.
        func settled(isEmpty: Bool) {
            guard isEmpty else { return repeatedPosition = nil }
            guard let widget, gtk_widget_get_mapped(widget) != 0, count > 0 else { return }
            guard let adjustment, repeatedPosition != gtk_adjustment_get_value(adjustment) else { return }
            repeatedPosition = gtk_adjustment_get_value(adjustment)
            var instance = GValue()
            g_value_init(&instance, gtk_adjustment_get_type())
            g_value_set_object(&instance, UnsafeMutableRawPointer(adjustment))
            defer { g_value_unset(&instance) }
            var result = GValue()
            g_signal_emitv(&instance, g_signal_lookup("value-changed", gtk_adjustment_get_type()), 0, &result)
        }

        /// The position, the visible length, and the total length along the scrolling axis, in points.
        var extent: (value: Double, page: Double, upper: Double)? {
            guard widget != nil, let adjustment else { return nil }
            return (
                gtk_adjustment_get_value(adjustment), gtk_adjustment_get_page_size(adjustment),
                gtk_adjustment_get_upper(adjustment)
            )
        }

        var isAcross: Bool { gtk_orientable_get_orientation(view) == GTK_ORIENTATION_HORIZONTAL }

        /// A closure that replaces the frame clock of the widget in tests. The default is `nil`.
        var clock: (@MainActor () -> Double)?

        /// The time of the current frame, in seconds.
        var frameTime: Double {
            if let clock { return clock() }
            guard let widget, let clock = gtk_widget_get_frame_clock(widget) else {
                return Double(g_get_monotonic_time()) / 1e6
            }
            return Double(gdk_frame_clock_get_frame_time(clock)) / 1e6
        }

        private var adjustment: UnsafeMutablePointer<GtkAdjustment>? {
            isAcross ? gtk_scrollable_get_hadjustment(view) : gtk_scrollable_get_vadjustment(view)
        }

        private func followAdjustments() {
            guard widget != nil else { return }
            follower?.follow([gtk_scrollable_get_hadjustment(view), gtk_scrollable_get_vadjustment(view)])
        }

        private func followModel() {
            letGoOfModel()
            guard widget != nil, let current = currentModel else { return }
            let changed: @convention(c) (gpointer?, guint, guint, guint, gpointer?) -> Void = { _, _, _, _, data in
                ListScrollObserver.isolated(data) { scroll in
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
