// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// A short message on top of the window that disappears automatically.
    @MainActor
    final class Toast {
        let widget: Widget = gtk_revealer_new()
        private let label = WidgetFactory.label("")
        private var timer: LoopTimer?

        init() {
            let box = WidgetFactory.box(GTK_ORIENTATION_HORIZONTAL).styled("osd", "toast")
            WidgetFactory.append(box, label)
            gtk_revealer_set_child(widget.opaque, box)
            gtk_revealer_set_transition_type(widget.opaque, GTK_REVEALER_TRANSITION_TYPE_CROSSFADE)
            gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
            gtk_widget_set_valign(widget, GTK_ALIGN_START)
            gtk_widget_set_can_target(widget, 0)
        }

        func show(_ text: String) {
            gtk_label_set_text(label.opaque, text)
            gtk_revealer_set_reveal_child(widget.opaque, 1)
            timer = LoopTimer(every: 2_500) { [weak self] in
                guard let self else { return false }
                gtk_revealer_set_reveal_child(widget.opaque, 0)
                return false
            }
        }

        func stop() { timer = nil }
    }

    /// A highlight that indicates that the dragged content can be dropped on the window.
    @MainActor
    final class DropIndicator {
        let widget: Widget = WidgetFactory.box(GTK_ORIENTATION_VERTICAL).styled("drop-here")

        init() {
            gtk_widget_set_can_target(widget, 0)
            isVisible = false
        }

        var isVisible: Bool {
            get { gtk_widget_get_visible(widget) != 0 }
            set { gtk_widget_set_visible(widget, newValue ? 1 : 0) }
        }
    }
#endif
