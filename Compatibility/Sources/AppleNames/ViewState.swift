// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// Values that a compatibility module stores with a widget, which releases them.
    @MainActor
    package final class ViewState {
        private static let key = "webimage-compatibility"
        private var values: [String: any Sendable] = [:]

        /// Returns the state of a widget, which is created on demand.
        package static func of(_ widget: UnsafeMutablePointer<GtkWidget>) -> ViewState {
            let object = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GObject.self)
            if let data = g_object_get_data(object, key) {
                return Unmanaged<ViewState>.fromOpaque(data).takeUnretainedValue()
            }
            let state = ViewState()
            g_object_set_data_full(
                object, key, Unmanaged.passRetained(state).toOpaque(),
                { data in if let data { Unmanaged<ViewState>.fromOpaque(data).release() } })
            return state
        }

        /// The value with a name, if it has the requested type.
        package subscript<Value: Sendable>(_ name: String) -> Value? {
            get { values[name] as? Value }
            set { values[name] = newValue }
        }
    }
#endif
