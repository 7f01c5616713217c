// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageCore
    import WebImageUI

    extension WidgetController: SlotRendererDelegate {
        var frameTime: Int {
            if let time = Self.manualTime { return time }
            guard !isDestroyed, let clock = gtk_widget_get_frame_clock(widget) else {
                return Int(g_get_monotonic_time()) * 1_000
            }
            return Int(gdk_frame_clock_get_frame_time(clock)) * 1_000
        }

        var foreground: PixelColor {
            guard !isDestroyed else { return .black }
            var color = GdkRGBA()
            gtk_style_context_get_color(gtk_widget_get_style_context(widget), &color)
            func channel(_ value: Float) -> UInt8 { UInt8(min(1, max(0, value)) * 255) }
            return PixelColor(red: channel(color.red), green: channel(color.green), blue: channel(color.blue))
        }

        var style: DrawingStyle {
            guard !isDestroyed else { return DrawingStyle() }
            return DrawingStyle(
                isRightToLeft: gtk_widget_get_direction(widget) == GTK_TEXT_DIR_RTL,
                hasHighContrast: DesktopSettings.shared.hasHighContrast, showsFocus: accessibility.showsFocus)
        }

        func rendererChanged(_ renderer: SlotRenderer, size: Bool) {
            paintables[renderer.slot]?.invalidate(size: size)
            adapter.redraw(renderer.slot)
        }

        func rendererNeedsTick(_ renderer: SlotRenderer) { requestTick() }

        func rendererReached(_ renderer: SlotRenderer) { settleWaits() }

        func renderer(_ renderer: SlotRenderer, hasBounds width: Double, _ height: Double) {
            frames.endSizeWait()
            let place = ViewAllocation(width: width, height: height, scaleFactor: appearance.scaleFactor)
            // The slots of the other button states have the same bounds. Load their images in advance.
            for slot in renderers.keys where slot.normalSlot == renderer.slot.normalSlot {
                binder(slot).allocate(place)
            }
        }

        // MARK: - Ticks

        /// Requests a call of ``tick()`` before the next frame. Does nothing while the widget isn't visible.
        func requestTick() { if isVisible { frames.addTick(for: self) } }

        /// Advances all renderers. Returns `false` if no tick is needed in the next frame.
        func tick() -> Bool {
            GTKMainLoop.callbacks += 1
            let now = frameTime
            let deadline = renderers.values.compactMap { $0.advance(to: now) }.min()
            if frames.countFrameWithoutSize() { allocateWithoutSize() }
            let isAwaited = countUnseenFrame()
            if frames.isAwaitingSize || isAwaited { return true }
            guard isVisible, let deadline else {
                frames.tickEnded()
                return false
            }
            // A timer isn't worthwhile for a deadline that's at most two frames away.
            let nanoseconds = deadline - now
            guard nanoseconds > 34_000_000 else { return true }
            frames.tickEnded()
            // Wake up one frame early, so that the next frame is the one that's due.
            frames.startTimer(milliseconds: min(nanoseconds / 1_000_000 - 16, 3_600_000), for: self)
            return false
        }

        // MARK: - Widgets without a size

        /// Starts to count frames to detect a deadlock. The widget may get no size before it has an image, and the
        /// image isn't loaded before the widget has a size.
        func awaitSize() {
            guard isVisible, binders.slots.contains(where: { binders[$0].snapshot.state == .waiting }) else { return }
            frames.beginSizeWait()
            requestTick()
        }

        private func allocateWithoutSize() {
            var width = Double(gtk_widget_get_width(widget))
            var height = Double(gtk_widget_get_height(widget))
            if width <= 0, height <= 0, let root = gtk_widget_get_root(widget) {
                // The image can't be larger than the window.
                let window = UnsafeMutableRawPointer(root).assumingMemoryBound(to: GtkWidget.self)
                width = Double(gtk_widget_get_width(window))
                height = Double(gtk_widget_get_height(window))
            }
            binders.allocate(ViewAllocation(width: width, height: height, scaleFactor: appearance.scaleFactor))
        }
    }
#endif
