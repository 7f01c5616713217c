// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImageGTK

    typealias Widget = UnsafeMutablePointer<GtkWidget>

    extension UnsafeMutablePointer where Pointee == GtkWidget {
        var raw: UnsafeMutableRawPointer { UnsafeMutableRawPointer(self) }
        var opaque: OpaquePointer { OpaquePointer(self) }

        @discardableResult
        func styled(_ classes: String...) -> Widget {
            for name in classes { gtk_widget_add_css_class(self, name) }
            return self
        }
    }

    /// A namespace for setting properties of objects.
    @MainActor
    enum Property {
        static func set(_ object: UnsafeMutableRawPointer?, _ name: String, _ value: Bool) {
            guard let object else { return }
            var holder = GValue()
            // The value of G_TYPE_BOOLEAN, which is a macro with a cast. It's the fundamental type 5.
            g_value_init(&holder, GType(5 << 2))
            g_value_set_boolean(&holder, value ? 1 : 0)
            g_object_set_property(object.assumingMemoryBound(to: GObject.self), name, &holder)
            g_value_unset(&holder)
        }

        static func setAccessible(_ widget: Widget, label: String, description: String? = nil) {
            // The value of G_TYPE_STRING, which is a macro with a cast. It's the fundamental type 16.
            let string = GType(16 << 2)
            var texts = [(GTK_ACCESSIBLE_PROPERTY_LABEL, label)]
            if let description { texts.append((GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, description)) }
            for (property, text) in texts {
                var properties = [property]
                var value = GValue()
                g_value_init(&value, string)
                g_value_set_string(&value, text)
                gtk_accessible_update_property_value(widget.opaque, 1, &properties, &value)
                g_value_unset(&value)
            }
        }
    }

    /// Functions that create widgets with common properties.
    @MainActor
    enum WidgetFactory {
        static func box(_ orientation: GtkOrientation, spacing: Int32 = 0) -> Widget {
            gtk_box_new(orientation, spacing)
        }

        static func label(_ text: String, _ classes: String..., wraps: Bool = false) -> Widget {
            let label: Widget = gtk_label_new(text)
            gtk_label_set_xalign(label.opaque, 0)
            if wraps {
                gtk_label_set_wrap(label.opaque, 1)
            } else {
                gtk_label_set_ellipsize(label.opaque, PANGO_ELLIPSIZE_END)
            }
            for name in classes { gtk_widget_add_css_class(label, name) }
            return label
        }

        /// Returns a button that shows only an icon. The tooltip is also its accessible label.
        static func button(icon: String, tooltip: String, action: String? = nil) -> Widget {
            let button: Widget = gtk_button_new_from_icon_name(icon)
            describe(button, tooltip)
            if let action { gtk_actionable_set_action_name(button.opaque, action) }
            return button
        }

        static func toggle(icon: String, tooltip: String, action: String) -> Widget {
            let button: Widget = gtk_toggle_button_new()
            gtk_button_set_icon_name(gtkCast(button), icon)
            describe(button, tooltip)
            gtk_actionable_set_action_name(button.opaque, action)
            return button
        }

        static func describe(_ widget: Widget, _ tooltip: String) {
            gtk_widget_set_tooltip_text(widget, tooltip)
            Property.setAccessible(widget, label: tooltip)
        }

        static func append(_ box: Widget, _ children: Widget...) {
            for child in children { gtk_box_append(gtkCast(box), child) }
        }
    }
#endif
