// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageUI

    extension WidgetController {
        /// Returns the slot to show at the position of `normal`, or `nil` if none was used: the best slot for the state
        /// of the widget that has content. If there's none, it's the best slot that loads an image, so that the image is
        /// loaded at the size at which it's drawn.
        func displayedSlot(at normal: ImageSlot) -> ImageSlot? {
            let slots = normal.candidates(in: state).filter { renderers[$0] != nil && binders.slots.contains($0) }
            return slots.first { binders[$0].snapshot.content != nil }
                ?? slots.first { binders[$0].snapshot.request != nil }
                ?? (renderers[normal] == nil ? nil : normal)
        }

        private var state: ButtonState {
            guard !isDestroyed else { return .normal }
            let state = ButtonState(gtk_widget_get_state_flags(widget))
            return isHighlighted && state != .disabled ? .active : state
        }

        /// Retries the failed loads of some slots, and restarts the canceled ones.
        func retry(_ slots: some Sequence<ImageSlot>) {
            for slot in slots where binders.slots.contains(slot) { binders[slot].retry() }
            // A canceled load may have ended the wait for a size.
            awaitSize()
        }
    }
#endif
