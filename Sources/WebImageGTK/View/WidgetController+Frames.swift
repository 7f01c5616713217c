// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageCore

    /// When a controller is called next.
    struct FrameSchedule {
        /// The tick callback; 0 for none.
        var tick: guint = 0
        /// The timer that adds it again; 0 for none.
        var timer: guint = 0
        /// Frames since a place was first waited for; nil where it is not.
        var framesWithoutPlace: Int?

        mutating func cancelTimer() {
            guard timer != 0 else { return }
            g_source_remove(timer)
            timer = 0
        }
    }

    extension WidgetController: ImageStageHost {
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

        func stageChanged(_ stage: ImageStage, size: Bool) {
            paintables[stage.slot]?.invalidate(size: size)
            chrome.redraw(stage.slot)
        }

        func stageNeedsTick(_ stage: ImageStage) { requestTick() }

        func stageReached(_ stage: ImageStage) { settleWaits() }

        func stage(_ stage: ImageStage, hasPlace width: Double, _ height: Double) {
            frames.framesWithoutPlace = nil
            let place = ViewAllocation(width: width, height: height, scaleFactor: look.scaleFactor)
            // States that are not shown yet have the same place; their pictures are to be there when they are.
            for slot in stages.keys where slot.place == stage.slot.place { binder(slot).allocate(place) }
        }

        // MARK: - Ticks

        /// Has ``tick()`` called before the next frame. Does nothing while the widget cannot be seen.
        func requestTick() {
            guard frames.tick == 0, isVisible else { return }
            frames.cancelTimer()
            frames.tick = gtk_widget_add_tick_callback(
                widget,
                { _, _, data in
                    var goesOn = false
                    WidgetController.isolated(data) { goesOn = $0.tick() }
                    return goesOn ? 1 : 0
                }, unretained, nil)
        }

        func cancelTick() {
            guard frames.tick != 0 else { return }
            gtk_widget_remove_tick_callback(widget, frames.tick)
            frames.tick = 0
        }

        /// Lets time pass for all stages; false where no tick is needed for now.
        func tick() -> Bool {
            GTKMainLoop.callbacks += 1
            let now = frameTime
            let deadline = stages.values.compactMap { $0.advance(to: now) }.min()
            if let count = frames.framesWithoutPlace { waitForPlace(count) }
            let isAwaited = countUnseenFrame()
            if frames.framesWithoutPlace != nil || isAwaited { return true }
            guard isVisible, let deadline else {
                frames.tick = 0
                return false
            }
            // Two frames: what is nearer is not worth a timer.
            let nanoseconds = deadline - now
            guard nanoseconds > 34_000_000 else { return true }
            frames.tick = 0
            frames.cancelTimer()
            // The frame that follows it is to be the one that is due.
            frames.timer = g_timeout_add_full(
                G_PRIORITY_DEFAULT, guint(min(nanoseconds / 1_000_000 - 16, 3_600_000)),
                { data in
                    WidgetController.isolated(data) { controller in
                        GTKMainLoop.callbacks += 1
                        controller.frames.timer = 0
                        controller.requestTick()
                    }
                    return 0
                }, unretained, nil)
            return false
        }

        // MARK: - Widgets without a place

        /// Watches for a widget that is given no place before it has a picture, and has no picture before it has a place.
        func awaitPlace() {
            guard isVisible, binders.slots.contains(where: { binders[$0].snapshot.state == .waiting }) else { return }
            frames.framesWithoutPlace = frames.framesWithoutPlace ?? 0
            requestTick()
        }

        private func waitForPlace(_ count: Int) {
            // Layout comes after ticks, and drawing after layout.
            guard count >= 3 else {
                frames.framesWithoutPlace = count + 1
                return
            }
            frames.framesWithoutPlace = nil
            var width = Double(gtk_widget_get_width(widget))
            var height = Double(gtk_widget_get_height(widget))
            if width <= 0, height <= 0, let root = gtk_widget_get_root(widget) {
                // As large as the window at most.
                let window = UnsafeMutableRawPointer(root).assumingMemoryBound(to: GtkWidget.self)
                width = Double(gtk_widget_get_width(window))
                height = Double(gtk_widget_get_height(window))
            }
            binders.allocate(ViewAllocation(width: width, height: height, scaleFactor: look.scaleFactor))
        }
    }
#endif
