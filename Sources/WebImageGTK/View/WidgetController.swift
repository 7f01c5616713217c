// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageUI

    /// A type that shows the slots of a controller in a kind of widget.
    @MainActor
    protocol WidgetAdapter: AnyObject {
        /// Updates the widget after a slot was used for the first time or after the state that selects the visible slot
        /// changed.
        func update(_ controller: WidgetController)
        func redraw(_ slot: ImageSlot)
        /// Disconnects from the widget, which is being destroyed.
        func disconnect()
    }

    /// The connection between a widget and its binders. The widget retains the controller, and the controller has an
    /// unowned reference to the widget.
    @MainActor
    final class WidgetController {
        /// The widget. The pointer is valid until GTK finalizes the widget, which also releases its reference to the
        /// controller.
        let widget: UnsafeMutablePointer<GtkWidget>
        private(set) var binders: ImageBinderGroup<ImageSlot>
        let adapter: any WidgetAdapter
        private(set) var renderers: [ImageSlot: SlotRenderer] = [:]
        private(set) var paintables: [ImageSlot: ImagePaintable] = [:]
        var appearance = ViewAppearance() {
            didSet { for renderer in renderers.values { appearance.apply(to: renderer) } }
        }
        var retriesOnClick = true { didSet { accessibility.update() } }
        /// The texts and the keys for assistive technologies and for the keyboard.
        private(set) lazy var accessibility = ViewAccessibility(self)
        /// Whether the widget shows the images of ``ButtonState/active``.
        var isHighlighted = false { didSet { if isHighlighted != oldValue { updateAdapterAfterDrawing() } } }
        /// The progress objects of the application, which remain if the manager changes.
        var progressObjects: [ImageSlot: Progress] = [:] {
            didSet { for slot in binders.slots { binders[slot].progress = progressObjects[slot] } }
        }
        var observers: [ImageSlot: @MainActor (ImageBinder.Snapshot) -> Void] = [:]
        let frames = FrameSchedule()
        let waits = CompletionWaits()
        let callsAfterDrawing = CallsAfterDrawing()
        private(set) var isVisible = false
        /// Whether the widget was destroyed or is being destroyed. Views may still call the controller, but it must not
        /// access the widget.
        private(set) var isDestroyed = false
        private var surface: (pointer: OpaquePointer, handler: gulong)?
        /// The state that screen readers know. Every chunk of a download reports the state, which rarely changes.
        private var isReportedBusy = false

        /// The time of all frames, in nanoseconds, which replaces the time of the frame clocks in tests.
        static var manualTime: Int?

        private static let key = "webimage-controller"

        init(_ widget: UnsafeMutablePointer<GtkWidget>, _ manager: ImageManager, _ adapter: any WidgetAdapter) {
            self.widget = widget
            self.adapter = adapter
            binders = ImageBinderGroup(manager: manager, isMapped: false) { _, _ in }
            binders = makeBinders(manager)
            GTKTexture.makeAhead(manager)
            DesktopSettings.shared.follow()
            appearance.animates = DesktopSettings.shared.animates
            appearance.scaleFactor = Double(gtk_widget_get_scale_factor(widget))
            ControllerRegistry.shared.add(self)
            connectSignals()
            g_object_set_data_full(
                object, Self.key, Unmanaged.passRetained(self).toOpaque(),
                { data in
                    if let data { Unmanaged<WidgetController>.fromOpaque(data).release() }
                })
            mappingChanged()
        }

        isolated deinit {
            frames.cancelTimer()
            ControllerRegistry.shared.remove(ObjectIdentifier(self))
        }

        /// Returns the controller of a widget, or `nil` if it has none.
        static func of(_ widget: UnsafeMutablePointer<GtkWidget>) -> WidgetController? {
            g_object_get_data(UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GObject.self), key)
                .map { Unmanaged<WidgetController>.fromOpaque($0).takeUnretainedValue() }
        }

        var object: UnsafeMutablePointer<GObject> {
            UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GObject.self)
        }

        // MARK: - Slots

        var manager: ImageManager { binders.manager }

        /// Replaces the manager and unbinds all slots.
        func use(_ manager: ImageManager) {
            guard manager !== binders.manager else { return }
            waits.cancelAll()
            binders.unbindAll()
            binders = makeBinders(manager)
            GTKTexture.makeAhead(manager)
            renderers = [:]
            paintables = [:]
            updateAdapter()
        }

        private func makeBinders(_ manager: ImageManager) -> ImageBinderGroup<ImageSlot> {
            // An icon in the slot of a state would replace the image of the normal state.
            ImageBinderGroup(manager: manager, isMapped: isVisible, showsMissingImage: { $0 == .image }) {
                [weak self] slot, presentation in
                self?.renderer(slot).present(presentation)
                self?.updateAdapterAfterDrawing()
            }
        }

        func renderer(_ slot: ImageSlot) -> SlotRenderer {
            if let renderer = renderers[slot] { return renderer }
            let renderer = SlotRenderer(slot: slot, manager: manager)
            renderer.host = self
            appearance.apply(to: renderer)
            renderer.isVisible = isVisible
            renderers[slot] = renderer
            paintables[slot] = ImagePaintable(renderer)
            updateAdapter()
            return renderer
        }

        /// Returns the binder of a slot. Its state updates the renderer.
        func binder(_ slot: ImageSlot) -> ImageBinder {
            let isNew = !binders.slots.contains(slot)
            let binder = binders[slot]
            if isNew {
                binder.progress = progressObjects[slot]
                binder.onChange = { [weak self] snapshot in self?.changed(slot, snapshot) }
            }
            return binder
        }

        func bind(
            _ request: ImageRequest?, _ slot: ImageSlot, _ options: ImageViewOptions,
            until goal: WebImageView.CompletionPoint,
            _ completion: ImageBinder.Completion?
        ) -> Int {
            let completion = completion.map { deferred($0, slot, until: goal) }
            waits.cancel(slot)
            let adapted = request.map {
                options.adapted(
                    $0, canShowDisplayP3: GTKTexture.supportsDisplayP3, canShowPQ: GTKTexture.supportsHighDynamicRange)
            }
            let generation = prepared(slot).bind(adapted, options: adjusted(options, slot), completion: completion)
            updateAdapterAfterDrawing()
            awaitSize()
            return generation
        }

        private func prepared(_ slot: ImageSlot) -> ImageBinder {
            GTKMainLoop.installOrWarn()
            let binder = binder(slot)
            _ = renderer(slot)
            return binder
        }

        /// Adjusts the options so that an image that's to cover the widget is decoded at a size that covers it, and so
        /// that the handler is called outside of drawing and not for a destroyed widget.
        private func adjusted(_ options: ImageViewOptions, _ slot: ImageSlot) -> ImageViewOptions {
            var options = options
            if appearance.fit(of: slot) == .cover, options.sizing == .fit { options.sizing = .fill }
            if let handler = options.onPresentation {
                options.onPresentation = { [weak self] presentation in
                    // The widgets that the handler changes may no longer exist when this widget is destroyed.
                    self?.afterDrawing { [weak self] in if self?.isDestroyed == false { handler(presentation) } }
                }
            }
            return options
        }

        private func changed(_ slot: ImageSlot, _ snapshot: ImageBinder.Snapshot) {
            switch snapshot.state {
            case .loading, .previewing:
                var load = renderers[slot]?.load ?? IndicatorState()
                load.fraction = snapshot.progress?.fraction
                renderers[slot]?.load = load
            default: renderers[slot]?.load = nil
            }
            let isBusy = binders.slots.contains { slot in
                let state = binders[slot].snapshot.state
                return state == .loading || state == .previewing
            }
            if !isDestroyed, isBusy != isReportedBusy {
                isReportedBusy = isBusy
                wi_gtk_set_accessible_busy(widget, isBusy)
            }
            accessibility.update()
            if let action = observers[slot] { afterDrawing { action(snapshot) } }
        }

        // MARK: - Widget state

        func mappingChanged() {
            guard !isDestroyed else { return }
            let isMapped = gtk_widget_get_mapped(widget) != 0
            if isMapped { follow(gtk_widget_get_native(widget)) } else { unfollow() }
            isVisible = isMapped && !isMinimized
            for renderer in renderers.values { renderer.isVisible = isVisible }
            binders.isMapped = isVisible
            if isVisible {
                scaleChanged()
                awaitSize()
                requestTick()
            } else {
                // GTK retains the tick callbacks of widgets that aren't visible but doesn't call them.
                frames.removeTick(from: widget)
                frames.cancelTimer()
                settleWaits()
            }
        }

        private var isMinimized: Bool {
            guard let surface, GDK_IS_TOPLEVEL(UnsafeMutableRawPointer(surface.pointer)) != 0 else { return false }
            return gdk_toplevel_get_state(surface.pointer).rawValue & GDK_TOPLEVEL_STATE_MINIMIZED.rawValue != 0
        }

        private func follow(_ native: OpaquePointer?) {
            unfollow()
            guard let native, let pointer = gtk_native_get_surface(native),
                GDK_IS_TOPLEVEL(UnsafeMutableRawPointer(pointer)) != 0
            else { return }
            let changed: @convention(c) (OpaquePointer?, OpaquePointer?, gpointer?) -> Void = { _, _, data in
                WidgetController.isolated(data) { $0.mappingChanged() }
            }
            let handler = g_signal_connect_data(
                UnsafeMutableRawPointer(pointer), "notify::state", unsafeBitCast(changed, to: GCallback.self),
                unretained,
                nil, GConnectFlags(rawValue: 0))
            g_object_ref(UnsafeMutableRawPointer(pointer))
            surface = (pointer, handler)
        }

        private func unfollow() {
            guard let surface else { return }
            self.surface = nil
            g_signal_handler_disconnect(UnsafeMutableRawPointer(surface.pointer), surface.handler)
            g_object_unref(UnsafeMutableRawPointer(surface.pointer))
        }

        func scaleChanged() {
            guard !isDestroyed else { return }
            appearance.scaleFactor = Double(gtk_widget_get_scale_factor(widget))
        }

        func updateAdapter() {
            if !isDestroyed { adapter.update(self) }
        }

        /// Updates the widget after a slot received or lost its content, which can happen while a frame is drawn.
        func updateAdapterAfterDrawing() { afterDrawing { [weak self] in self?.updateAdapter() } }

        func settingsChanged() {
            appearance.animates = DesktopSettings.shared.animates
            redrawAll()
        }

        /// Redraws all slots, for example because the text direction changed.
        func redrawAll() { for renderer in renderers.values { rendererChanged(renderer, size: false) } }

        func destroyed() {
            guard !isDestroyed else { return }
            isDestroyed = true
            unfollow()
            frames.removeTick(from: widget)
            frames.cancelTimer()
            isVisible = false
            for renderer in renderers.values { renderer.host = nil }
            adapter.disconnect()
            waits.cancelAll()
            binders.unbindAll()
            observers = [:]
        }

        func networkReturned(afterSeconds seconds: Double) {
            guard seconds > 0 else { return networkReturned() }
            Task { [weak self] in
                try? await Task.sleep(for: .seconds(saturating: seconds))
                self?.networkReturned()
            }
        }

        private func networkReturned() {
            binders.networkReturned()
            awaitSize()
        }

        var unretained: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

        /// Runs `body` on the main actor with the controller that's the user data of a C callback. The caller must be
        /// on the main thread.
        nonisolated static func isolated(_ data: gpointer?, _ body: @MainActor (WidgetController) -> Void) {
            guard let data else { return }
            let controller = Unmanaged<WidgetController>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { body(controller) }
        }
    }
#endif
