// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import XCTest

    /// Emits signals of event controllers without the corresponding events.
    @MainActor
    enum Emission {
        struct Missing: Error {}

        /// Returns the first event controller of a class in a widget.
        static func controller(_ type: GType, of widget: UnsafeMutablePointer<GtkWidget>) throws -> OpaquePointer {
            let list = try XCTUnwrap(gtk_widget_observe_controllers(widget))
            defer { g_object_unref(UnsafeMutableRawPointer(list)) }
            for index in 0..<g_list_model_get_n_items(list) {
                guard let item = g_list_model_get_item(list, index) else { continue }
                // The widget retains the controller.
                g_object_unref(item)
                if g_type_check_instance_is_a(item.assumingMemoryBound(to: GTypeInstance.self), type) != 0 {
                    return OpaquePointer(item)
                }
            }
            throw Missing()
        }

        /// Emits the signal `name` with at most one boxed value, followed by numbers. The return value of the handlers
        /// is stored in `returnValue`.
        static func emit(
            _ object: OpaquePointer, _ name: String, boxed: UnsafePointer<GValue>? = nil, _ numbers: Double...,
            returnValue: UnsafeMutablePointer<GValue>? = nil
        ) {
            let raw = UnsafeMutableRawPointer(object)
            let type = raw.assumingMemoryBound(to: GTypeInstance.self).pointee.g_class.pointee.g_type
            var values = [GValue()]
            g_value_init(&values[0], type)
            g_value_set_object(&values[0], raw)
            if let boxed {
                var value = GValue()
                g_value_init(&value, g_value_get_type())
                g_value_set_boxed(&value, boxed)
                values.append(value)
            }
            for number in numbers {
                var value = GValue()
                // The value of G_TYPE_DOUBLE, a macro with a cast: fundamental type 15.
                g_value_init(&value, GType(15 << 2))
                g_value_set_double(&value, number)
                values.append(value)
            }
            g_signal_emitv(&values, g_signal_lookup(name, type), 0, returnValue)
            for index in values.indices { g_value_unset(&values[index]) }
        }
    }
#endif
