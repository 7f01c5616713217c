// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage

    /// The chrome of a widget that accepts a paintable.
    @MainActor
    final class PaintableChrome: WidgetChrome {
        private let show: @MainActor (OpaquePointer) -> Void
        private var shown: OpaquePointer?

        init(_ show: @escaping @MainActor (OpaquePointer) -> Void) { self.show = show }

        func update(_ controller: WidgetController) {
            guard let paintable = controller.paintables[.image]?.pointer, paintable != shown else { return }
            shown = paintable
            show(paintable)
        }

        func redraw(_ slot: ImageSlot) {}

        func disconnect() {}
    }
#endif
