// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageUI

    /// The adapter of a widget that accepts a paintable. It shows the paintable of the slot for the state of the
    /// widget.
    @MainActor
    final class PaintableAdapter: WidgetAdapter {
        private let show: @MainActor (OpaquePointer) -> Void
        private var displayed: OpaquePointer?

        init(_ show: @escaping @MainActor (OpaquePointer) -> Void) { self.show = show }

        func update(_ controller: WidgetController) {
            guard let slot = controller.displayedSlot(at: .image),
                let paintable = controller.paintables[slot]?.pointer, paintable != displayed
            else { return }
            displayed = paintable
            show(paintable)
        }

        func redraw(_ slot: ImageSlot) {}

        func disconnect() {}
    }
#endif
