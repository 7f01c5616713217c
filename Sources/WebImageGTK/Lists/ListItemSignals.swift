// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// A type that handles the life cycle of the items in a GtkListView or GtkGridView.
    @MainActor
    protocol ListItemHandler: AnyObject {
        func setUp(_ item: OpaquePointer)
        func bind(_ item: OpaquePointer)
        func unbind(_ item: OpaquePointer)
        func tearDown(_ item: OpaquePointer)
    }

    /// A GtkSignalListItemFactory that notifies a handler and retains it.
    ///
    /// This type is separate from the generic factory because a C function can't capture a type parameter.
    @MainActor
    final class ListItemSignals {
        private let handler: any ListItemHandler

        private init(_ handler: any ListItemHandler) { self.handler = handler }

        /// Returns a new GtkListItemFactory. The caller must release the reference.
        static func factory(_ handler: any ListItemHandler) -> OpaquePointer? {
            guard let factory = gtk_signal_list_item_factory_new() else { return nil }
            let raw = UnsafeMutableRawPointer(factory)
            connect(raw, "setup", handler) { $0.setUp($1) }
            connect(raw, "bind", handler) { $0.bind($1) }
            connect(raw, "unbind", handler) { $0.unbind($1) }
            connect(raw, "teardown", handler) { $0.tearDown($1) }
            return factory
        }

        private static func connect(
            _ factory: UnsafeMutableRawPointer, _ signal: String, _ handler: any ListItemHandler,
            _ call: @escaping @MainActor (any ListItemHandler, OpaquePointer) -> Void
        ) {
            let action = SignalAction<OpaquePointer> { item in call(handler, item) }
            let function: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, item, data in
                guard let item, let data else { return }
                // Safe: `assumeIsolated` runs synchronously, so the pointers never leave the main thread.
                nonisolated(unsafe) let (pointer, action) = (OpaquePointer(item), data)
                MainActor.assumeIsolated { SignalAction<OpaquePointer>.of(action)?.call(pointer) }
            }
            WebImageGTK.connect(factory, signal, unsafeBitCast(function, to: GCallback.self), action: action)
        }
    }
#endif
