// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Glibc
    import WebImagePrograms

    /// Scrolling, pinching, double-clicking, and dragging in the large view.
    extension GalleryWindow {
        /// Returns the distance by which an arrow key pans a zoomed image, in points, or `nil` for other keys.
        static func pan(forKey key: UInt32) -> (x: Double, y: Double)? {
            switch Int32(bitPattern: key) {
            case GDK_KEY_Right, GDK_KEY_KP_Right: (-80, 0)
            case GDK_KEY_Left, GDK_KEY_KP_Left: (80, 0)
            case GDK_KEY_Down, GDK_KEY_KP_Down: (0, -80)
            case GDK_KEY_Up, GDK_KEY_KP_Up: (0, 80)
            default: nil
            }
        }

        func addZoomActions(_ action: (String, @escaping @MainActor (GalleryWindow) -> Void) -> Void) {
            let step = ImageZoom.step
            action("zoom-in") { window in window.full.area.change { $0.zoom(by: step, at: window.full.area.middle) } }
            action("zoom-out") { window in
                window.full.area.change { $0.zoom(by: 1 / step, at: window.full.area.middle) }
            }
            action("zoom-fit") { $0.full.area.change { $0.fit() } }
            action("zoom-actual") { window in window.full.area.change { $0.show(scale: 1, at: window.full.area.middle) }
            }
        }

        func addZooming() {
            let area = full.area
            let pointer = Pointer()
            follow(pointer, area.widget)
            addWheel(area, pointer)
            addPinch(area)
            addDoubleClick(area)
            addDrag(area)
        }

        /// The position of the pointer in a widget, or the accumulated offset of a drag.
        @MainActor
        private final class Pointer {
            var position = ImageZoom.Point()
        }

        private func follow(_ pointer: Pointer, _ widget: Widget) {
            guard let motion = gtk_event_controller_motion_new() else { return }
            for signal in ["enter", "motion"] {
                onPosition(motion, signal) { pointer.position = $0 }
            }
            gtk_widget_add_controller(widget, motion)
        }

        /// Handles scroll events with the Control key before the scrolled window receives them.
        private func addWheel(_ area: ZoomArea, _ pointer: Pointer) {
            guard let scroll = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL) else { return }
            gtk_event_controller_set_propagation_phase(scroll, GTK_PHASE_CAPTURE)
            let function: @convention(c) (OpaquePointer?, Double, Double, gpointer?) -> gboolean = {
                controller, _, down, data in
                guard let data,
                    gtk_event_controller_get_current_event_state(controller).rawValue & GDK_CONTROL_MASK.rawValue != 0
                else { return 0 }
                // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
                nonisolated(unsafe) let callback = data
                MainActor.assumeIsolated { Callback<Double, Void>.of(callback)?.call(down) }
                return 1
            }
            connect(
                UnsafeMutableRawPointer(scroll), "scroll", unsafeBitCast(function, to: GCallback.self),
                Callback<Double, Void> { down in
                    area.change { $0.zoom(by: pow(ImageZoom.step, -down), at: pointer.position) }
                })
            gtk_widget_add_controller(full.widget, scroll)
        }

        private func addPinch(_ area: ZoomArea) {
            guard let pinch = gtk_gesture_zoom_new() else { return }
            let begin = PinchStart()
            onNotify(UnsafeMutableRawPointer(pinch), "begin") { _ in begin.scale = area.zoom.current }
            let function: @convention(c) (gpointer?, Double, gpointer?) -> Void = { _, factor, data in
                guard let data else { return }
                // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
                nonisolated(unsafe) let callback = data
                MainActor.assumeIsolated { Callback<Double, Void>.of(callback)?.call(factor) }
            }
            connect(
                UnsafeMutableRawPointer(pinch), "scale-changed", unsafeBitCast(function, to: GCallback.self),
                Callback<Double, Void> { factor in
                    var place = area.middle
                    if gtk_gesture_is_recognized(pinch) != 0 {
                        gtk_gesture_get_bounding_box_center(pinch, &place.x, &place.y)
                    }
                    area.change { $0.show(scale: begin.scale * factor, at: place) }
                })
            gtk_widget_add_controller(area.widget, pinch)
        }

        private func addDoubleClick(_ area: ZoomArea) {
            guard let click = gtk_gesture_click_new() else { return }
            let function: @convention(c) (gpointer?, gint, Double, Double, gpointer?) -> Void = {
                _, count, x, y, data in
                guard let data, count == 2 else { return }
                // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
                nonisolated(unsafe) let callback = data
                MainActor.assumeIsolated {
                    Callback<ImageZoom.Point, Void>.of(callback)?.call(ImageZoom.Point(x: x, y: y))
                }
            }
            connect(
                UnsafeMutableRawPointer(click), "pressed", unsafeBitCast(function, to: GCallback.self),
                Callback<ImageZoom.Point, Void> { place in area.change { $0.toggle(at: place) } })
            gtk_widget_add_controller(area.widget, click)
        }

        /// Pans the image if a part of it is hidden. Otherwise, dragging copies the image to another program.
        private func addDrag(_ area: ZoomArea) {
            guard let drag = gtk_gesture_drag_new() else { return }
            let last = Pointer()
            onPosition(drag, "drag-begin") { _ in
                last.position = ImageZoom.Point()
                if !area.zoom.isCut { gtk_gesture_set_state(drag, GTK_EVENT_SEQUENCE_DENIED) }
            }
            onPosition(drag, "drag-update") { moved in
                guard area.zoom.isCut else { return }
                gtk_gesture_set_state(drag, GTK_EVENT_SEQUENCE_CLAIMED)
                area.change { $0.pan(x: moved.x - last.position.x, y: moved.y - last.position.y) }
                last.position = moved
            }
            gtk_widget_add_controller(area.widget, drag)
        }

        /// The scale of the image at the beginning of a pinch gesture.
        @MainActor
        private final class PinchStart {
            var scale = 1.0
        }

        /// Connects a signal that has two `Double` arguments.
        private func onPosition(
            _ controller: OpaquePointer, _ signal: String, _ action: @escaping @MainActor (ImageZoom.Point) -> Void
        ) {
            let function: @convention(c) (gpointer?, Double, Double, gpointer?) -> Void = { _, x, y, data in
                guard let data else { return }
                // Safe: `assumeIsolated` runs synchronously, so the pointer never leaves the main thread.
                nonisolated(unsafe) let callback = data
                MainActor.assumeIsolated {
                    Callback<ImageZoom.Point, Void>.of(callback)?.call(ImageZoom.Point(x: x, y: y))
                }
            }
            connect(
                UnsafeMutableRawPointer(controller), signal, unsafeBitCast(function, to: GCallback.self),
                Callback<ImageZoom.Point, Void> { action($0) })
        }
    }
#endif
