// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK
    import WebImage
    import WebImageUI

    /// The adapter of a GtkButton or GtkMenuButton. It shows an image next to the existing child and a background image
    /// below both, depending on the state of the button.
    @MainActor
    final class ButtonAdapter: WidgetAdapter {
        private let button: UnsafeMutablePointer<GtkWidget>
        private weak var controller: WidgetController?
        private var backdrop: UnsafeMutablePointer<GtkWidget>?
        private var pictureWidget: UnsafeMutablePointer<GtkWidget>?
        private var displayedSlots: [ImageSlot: ImageSlot] = [:]
        private let child: @MainActor () -> UnsafeMutablePointer<GtkWidget>?
        private let setChild: @MainActor (UnsafeMutablePointer<GtkWidget>) -> Void

        init(
            _ button: UnsafeMutablePointer<GtkWidget>,
            child: @escaping @MainActor () -> UnsafeMutablePointer<GtkWidget>?,
            setChild: @escaping @MainActor (UnsafeMutablePointer<GtkWidget>) -> Void
        ) {
            self.button = button
            self.child = child
            self.setChild = setChild
        }

        func update(_ controller: WidgetController) {
            self.controller = controller
            build()
            show(controller.displayedSlot(at: .image), at: .image)
            show(controller.displayedSlot(at: .background), at: .background)
        }

        private func show(_ slot: ImageSlot?, at place: ImageSlot) {
            guard displayedSlots[place] != slot else { return }
            displayedSlots[place] = slot
            if place == .background {
                if let backdrop { gtk_widget_queue_draw(backdrop) }
            } else if let pictureWidget {
                gtk_picture_set_paintable(
                    OpaquePointer(pictureWidget), slot.flatMap { controller?.paintables[$0]?.pointer })
                gtk_widget_set_visible(pictureWidget, slot == nil ? 0 : 1)
            }
        }

        func redraw(_ slot: ImageSlot) {
            if displayedSlots[.background] == slot, let backdrop { gtk_widget_queue_draw(backdrop) }
        }

        func disconnect() {
            if let backdrop {
                wi_gtk_backdrop_disconnect(backdrop)
                g_object_unref(UnsafeMutableRawPointer(backdrop))
            }
            backdrop = nil
            pictureWidget = nil
        }

        // MARK: - Building

        private func build() {
            guard backdrop == nil, let picture = gtk_picture_new(), let box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6)
            else { return }
            let made = wi_gtk_backdrop_new(
                { context, snapshot, _, _ in
                    guard let context, let snapshot else { return }
                    let adapter = Unmanaged<ButtonAdapter>.fromOpaque(context).takeUnretainedValue()
                    // Safe: `assumeIsolated` runs synchronously on the main thread, where GTK draws, so the pointer
                    // never leaves it.
                    nonisolated(unsafe) let pointer = OpaquePointer(snapshot)
                    MainActor.assumeIsolated { adapter.drawBackground(RenderSnapshot(pointer: pointer)) }
                }, Unmanaged.passUnretained(self).toOpaque())
            guard let backdrop = made?.assumingMemoryBound(to: GtkWidget.self) else { return }
            wi_gtk_picture_set_fill(picture)
            gtk_widget_set_visible(picture, 0)
            let boxPointer = UnsafeMutableRawPointer(box).assumingMemoryBound(to: GtkBox.self)
            gtk_widget_set_halign(box, GTK_ALIGN_CENTER)
            gtk_box_append(boxPointer, picture)
            wi_gtk_backdrop_set_child(backdrop, box)
            // The backdrop may be destroyed before the button emits `destroy`.
            g_object_ref_sink(UnsafeMutableRawPointer(backdrop))
            let old = child()
            if let old { g_object_ref(old) }
            // Replace the child in one step, because a menu button of GTK 4.8 doesn't accept null as its child.
            setChild(backdrop)
            if let old {
                gtk_box_append(boxPointer, old)
                g_object_unref(old)
            } else {
                // If the image is the only content, it fills the button.
                gtk_widget_set_halign(box, GTK_ALIGN_FILL)
                gtk_widget_set_hexpand(picture, 1)
            }
            self.backdrop = backdrop
            self.pictureWidget = picture
        }

        /// Draws the background. The backdrop is the child of the button, so it excludes the padding. The background
        /// image covers the padding, too.
        private func drawBackground(_ snapshot: RenderSnapshot) {
            guard let backdrop, let slot = displayedSlots[.background], let renderer = controller?.renderers[slot]
            else {
                return
            }
            var bounds = graphene_rect_t()
            guard gtk_widget_compute_bounds(button, backdrop, &bounds) != 0 else { return }
            snapshot.moved(x: Double(bounds.origin.x), y: Double(bounds.origin.y)) {
                renderer.draw(snapshot, width: Double(bounds.size.width), height: Double(bounds.size.height))
            }
        }
    }

    extension ButtonState {
        init(_ flags: GtkStateFlags) {
            func has(_ flag: GtkStateFlags) -> Bool { flags.rawValue & flag.rawValue != 0 }
            if has(GTK_STATE_FLAG_INSENSITIVE) {
                self = .disabled
            } else if has(GTK_STATE_FLAG_ACTIVE) || has(GTK_STATE_FLAG_CHECKED) || has(GTK_STATE_FLAG_SELECTED) {
                self = .active
            } else {
                self = has(GTK_STATE_FLAG_PRELIGHT) ? .hover : .normal
            }
        }
    }
#endif
