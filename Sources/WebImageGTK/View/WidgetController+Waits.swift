// SPDX-License-Identifier: MIT

#if GTK
    import WebImage
    import WebImageCore
    import WebImageUI

    extension WidgetController {
        /// Calls `action`, which may change widgets. If a frame is being drawn, the call follows it. The calls are
        /// made in the order of their requests.
        func afterDrawing(_ action: @escaping @MainActor () -> Void) {
            callsAfterDrawing.append(action)
            if isDrawing { Task { @MainActor in callAfterDrawing() } } else { callAfterDrawing() }
        }

        private var isDrawing: Bool { renderers.values.contains(where: \.isDrawing) }

        private func callAfterDrawing() { callsAfterDrawing.callAll { isDrawing } }

        /// Returns a completion that calls `completion` outside of drawing, and with an image only after the image has
        /// reached `goal`.
        func deferred(
            _ completion: @escaping ImageBinder.Completion, _ slot: ImageSlot, until goal: WebImageView.CompletionPoint
        ) -> ImageBinder.Completion {
            { [weak self] result in
                guard let self else { return completion(result) }
                guard goal > .loaded, case .success(let response) = result else {
                    return afterDrawing { completion(result) }
                }
                let wait = CompletionWaiter(completionPoint: goal, response: response, completion: completion)
                guard !isComplete(wait, in: slot) else { return afterDrawing { completion(result) } }
                waits.add(wait, for: slot)
                requestTick()
            }
        }

        /// Unbinds a slot. A load that waits for its image to be drawn is canceled.
        func unbind(_ slot: ImageSlot) {
            waits.cancel(slot)
            if binders.slots.contains(slot) { binders[slot].unbind() }
        }

        /// Cancels the load of a slot and keeps its content. A load that waits for its image to be drawn is canceled,
        /// too.
        func cancel(_ slot: ImageSlot) {
            waits.cancel(slot)
            if binders.slots.contains(slot) { binders[slot].cancel() }
        }

        /// Returns `true` if the goal is reached, if the widget isn't visible, or if another image has replaced the
        /// awaited one.
        private func isComplete(_ wait: CompletionWaiter, in slot: ImageSlot) -> Bool {
            guard isVisible, !isDestroyed, let renderer = renderers[slot],
                renderer.current?.image === wait.response.image
            else {
                return true
            }
            return renderer.reached >= wait.completionPoint || wait.framesUnseen >= CompletionWaiter.unseenLimit
        }

        /// Completes the finished waits. This happens after the current call from GTK returns because completions
        /// may change widgets.
        func settleWaits() {
            guard !waits.isEmpty else { return }
            Task { @MainActor [weak self] in
                guard let self else { return }
                waits.complete { isComplete($0, in: $1) }
            }
        }

        /// Counts a frame for all waits. Returns `false` if there's none.
        func countUnseenFrame() -> Bool {
            let reachesLimit = waits.countFrame { slot in
                guard let renderer = renderers[slot] else { return false }
                return !renderer.isWaiting && renderer.transition?.start == nil
            }
            if reachesLimit { settleWaits() }
            return !waits.isEmpty
        }

        /// Binds a request and waits for its completion. Canceling the current task unbinds the slot unless something
        /// else was loaded into it.
        func bindAndWait(
            _ request: ImageRequest, _ slot: ImageSlot, _ options: ImageViewOptions,
            until goal: WebImageView.CompletionPoint
        ) async throws(ImageError) -> ImageResponse {
            guard !Task.isCancelled else { throw .cancelled }
            let binding = Binding(controller: self, slot: slot)
            let result = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    binding.generation = bind(request, slot, options, until: goal) {
                        continuation.resume(returning: $0)
                    }
                }
            } onCancel: {
                Task { @MainActor in binding.end() }
            }
            return try result.get()
        }
    }

    /// A binding whose caller waits for its completion.
    @MainActor
    private final class Binding {
        private weak var controller: WidgetController?
        private let slot: ImageSlot
        var generation: Int?

        init(controller: WidgetController, slot: ImageSlot) {
            self.controller = controller
            self.slot = slot
        }

        func end() {
            guard let controller, controller.binders.slots.contains(slot),
                controller.binders[slot].snapshot.generation == generation
            else { return }
            controller.unbind(slot)
        }
    }
#endif
