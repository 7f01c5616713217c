// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageUI

    /// The chrome of a widget that accepts a paintable.
    @MainActor
    final class PaintableAdapter: WidgetAdapter {
        private let show: @MainActor (OpaquePointer) -> Void
        private var displayed: OpaquePointer?

        init(_ show: @escaping @MainActor (OpaquePointer) -> Void) { self.show = show }

        func update(_ controller: WidgetController) {
            guard let paintable = controller.paintables[.image]?.pointer, paintable != displayed else { return }
            displayed = paintable
            show(paintable)
        }

        func redraw(_ slot: ImageSlot) {}

        func disconnect() {}
    }
#endif
