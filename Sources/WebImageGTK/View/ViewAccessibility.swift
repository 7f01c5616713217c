// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import CWebImageGTK
    import WebImage
    import WebImageCore
    import WebImageUI

    /// The texts that a view gives to assistive technologies, and the keyboard control of a view that shows a failure.
    @MainActor
    final class ViewAccessibility {
        /// The features that need the keyboard focus.
        struct FocusClaims: OptionSet {
            let rawValue: Int
            static let menu = FocusClaims(rawValue: 1)
            static let retry = FocusClaims(rawValue: 2)
        }

        /// The description that the application gives, or `nil` if the view uses that of the image.
        var alternativeText: String? { didSet { if alternativeText != oldValue { update() } } }
        /// Whether the view sets the accessible label and description of the widget. Otherwise, they belong to the
        /// application.
        var isManaged = false { didSet { if isManaged != oldValue { update() } } }

        private unowned let controller: WidgetController
        private var texts = Texts()
        private var claims: FocusClaims = []
        /// Whether the widget could receive the focus before the first claim.
        private var wasFocusable: gboolean = 0
        private var hasKeys = false
        private var phase = Phase.other
        /// Whether the user restarted the load, whose result is then announced.
        private var isRetrying = false

        private enum Phase { case loading, loaded, failed, other }

        private struct Texts: Equatable {
            var label: String?
            var description: String?
        }

        init(_ controller: WidgetController) { self.controller = controller }

        /// Whether the widget shows a failure that the focused user can retry.
        var showsFocus: Bool {
            guard phase == .failed, claims.contains(.retry), !controller.isDestroyed else { return false }
            return gtk_widget_get_state_flags(controller.widget).rawValue & GTK_STATE_FLAG_FOCUS_VISIBLE.rawValue != 0
        }

        /// Updates the texts and the focus after a change of a load or of a setting.
        func update() {
            guard !controller.isDestroyed else { return }
            let old = phase
            phase = currentPhase
            claimFocus(.retry, phase == .failed && controller.retriesOnClick)
            updateTexts()
            guard phase != old else { return }
            announce()
            if old == .failed || phase == .failed { redrawFocus() }
        }

        /// Redraws the view after the focus of the widget changed.
        func stateChanged() { if phase == .failed { redrawFocus() } }

        private func redrawFocus() { controller.afterDrawing { [weak controller] in controller?.redrawAll() } }

        /// Notes that the user restarts the failed loads.
        func userRetries() { isRetrying = true }

        private var currentPhase: Phase {
            let states = controller.binders.slots.map { controller.binders[$0].snapshot.state }
            if states.contains(where: { $0 == .loading || $0 == .previewing }) { return .loading }
            if !controller.failedSlots.isEmpty { return .failed }
            return states.contains(.showing) ? .loaded : .other
        }

        // MARK: - Texts

        private func updateTexts() {
            guard isManaged else { return }
            let metadata = alternativeText == nil ? displayedMetadata : nil
            let label = alternativeText ?? metadata?.alternativeText
            let description = alternativeText ?? metadata?.extendedDescription ?? metadata?.alternativeText
            let status = [statusText, description].compactMap(\.self).joined(separator: " ")
            let texts = Texts(label: label, description: status.isEmpty ? nil : status)
            guard texts != self.texts else { return }
            self.texts = texts
            wi_gtk_set_accessible_text(controller.widget, texts.label, texts.description)
        }

        /// The metadata of the displayed image, which isn't a placeholder.
        private var displayedMetadata: ImageMetadata? {
            guard let slot = controller.displayedSlot(at: .image), controller.binders.slots.contains(slot) else {
                return nil
            }
            return controller.binders[slot].displayedImage?.metadata
        }

        private var statusText: String? {
            let phrases = WebImageView.phrases
            return switch phase {
            case .loading: phrases.loading
            case .failed: controller.retriesOnClick ? phrases.failedWithRetry : phrases.failed
            case .loaded, .other: nil
            }
        }

        /// Announces failures that concern the user, because the widget has the focus or because the user retried the
        /// load. A page with many images would otherwise announce all of them.
        private func announce() {
            let isConcerned = isRetrying || gtk_widget_has_focus(controller.widget) != 0
            if phase == .loaded || phase == .failed { isRetrying = false }
            guard isConcerned else { return }
            let text = phase == .loaded ? WebImageView.phrases.loaded : statusText
            if let text { wi_gtk_announce(controller.widget, text) }
        }

        // MARK: - Focus

        /// Makes the widget focusable while a feature claims the focus. Afterward, it's focusable if it was so before.
        func claimFocus(_ claim: FocusClaims, _ isClaimed: Bool) {
            guard claims.contains(claim) != isClaimed, !controller.isDestroyed else { return }
            let widget = controller.widget
            if isClaimed {
                if claims.isEmpty { wasFocusable = gtk_widget_get_focusable(widget) }
                claims.insert(claim)
                gtk_widget_set_focusable(widget, 1)
                if claim == .retry { connectKeys() }
            } else {
                claims.remove(claim)
                if claims.isEmpty, gtk_widget_has_focus(widget) == 0 { gtk_widget_set_focusable(widget, wasFocusable) }
            }
        }

        /// Restores whether the widget can receive the focus, after it lost the focus.
        private func focusLeft() {
            if claims.isEmpty, !controller.isDestroyed { gtk_widget_set_focusable(controller.widget, wasFocusable) }
        }

        private func connectKeys() {
            guard !hasKeys, let keys = gtk_event_controller_key_new(), let focus = gtk_event_controller_focus_new()
            else {
                return
            }
            hasKeys = true
            // A button with a failed image would otherwise handle the keys first. Clicks retry there, too.
            gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
            let pressed: @convention(c) (OpaquePointer?, guint, guint, GdkModifierType, gpointer?) -> gboolean = {
                _, key, _, modifiers, data in
                let isRetry = [GDK_KEY_Return, GDK_KEY_KP_Enter, GDK_KEY_ISO_Enter, GDK_KEY_space, GDK_KEY_KP_Space]
                    .contains(Int32(bitPattern: key))
                let others = GDK_CONTROL_MASK.rawValue | GDK_ALT_MASK.rawValue | GDK_SUPER_MASK.rawValue
                guard isRetry, modifiers.rawValue & others == 0 else { return 0 }
                var isHandled = false
                WidgetController.isolated(data) { isHandled = $0.clicked() }
                return isHandled ? 1 : 0
            }
            let left: @convention(c) (OpaquePointer?, gpointer?) -> Void = { _, data in
                WidgetController.isolated(data) { $0.accessibility.focusLeft() }
            }
            connect(
                UnsafeMutableRawPointer(keys), "key-pressed", unsafeBitCast(pressed, to: GCallback.self),
                controller.unretained)
            connect(
                UnsafeMutableRawPointer(focus), "leave", unsafeBitCast(left, to: GCallback.self), controller.unretained)
            gtk_widget_add_controller(controller.widget, keys)
            gtk_widget_add_controller(controller.widget, focus)
        }
    }
#endif
