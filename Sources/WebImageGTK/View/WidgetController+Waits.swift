// SPDX-License-Identifier: MIT

#if GTK
    import WebImage
    import WebImageCore

    /// A load whose picture is there, and which ends when it has come further than that.
    struct LoadWait {
        let goal: LoadGoal
        let response: ImageResponse
        let completion: ImageBinder.Completion
        /// Frames in which nobody asked for the picture to be drawn.
        var framesUnseen = 0

        /// After so many of them the picture is not to be seen: covered by a state of a button, or without opacity.
        static let unseenLimit = 10
    }

    extension WidgetController {
        /// Calls `action`, which may change widgets: not before the frame that is being drawn, if any, has been.
        func afterDrawing(_ action: @escaping @MainActor () -> Void) {
            if stages.values.contains(where: \.isDrawing) { Task { @MainActor in action() } } else { action() }
        }

        /// `completion`, called outside of drawing, and with a picture only when that has reached `goal`.
        func deferred(
            _ completion: @escaping ImageBinder.Completion, _ slot: ImageSlot, until goal: LoadGoal
        ) -> ImageBinder.Completion {
            { [weak self] result in
                guard let self else { return completion(result) }
                guard goal > .loaded, case .success(let response) = result else {
                    return afterDrawing { completion(result) }
                }
                let wait = LoadWait(goal: goal, response: response, completion: completion)
                guard !isOver(wait, in: slot) else { return afterDrawing { completion(result) } }
                giveUpWait(slot)
                waits[slot] = wait
                requestTick()
            }
        }

        /// Ends the binding of a slot: what waits for its picture to be shown does so in vain.
        func unbind(_ slot: ImageSlot) {
            giveUpWait(slot)
            if binders.slots.contains(slot) { binders[slot].unbind() }
        }

        func giveUpWait(_ slot: ImageSlot) {
            waits.removeValue(forKey: slot)?.completion(.failure(.request(.cancelled)))
        }

        func giveUpWaits() { for slot in waits.keys { giveUpWait(slot) } }

        /// A widget that cannot be seen is not waited for, nor a picture that another one has taken the place of.
        private func isOver(_ wait: LoadWait, in slot: ImageSlot) -> Bool {
            guard isVisible, !isDestroyed, let stage = stages[slot], stage.current?.image === wait.response.image else {
                return true
            }
            return stage.reached >= wait.goal || wait.framesUnseen >= LoadWait.unseenLimit
        }

        /// Ends what has waited long enough, once the present call from GTK has returned: completions may change widgets.
        func settleWaits() {
            guard !waits.isEmpty else { return }
            Task { @MainActor [weak self] in
                guard let self else { return }
                for slot in waits.keys {
                    // Looked up anew: a completion may have loaded something else.
                    guard let wait = waits[slot], isOver(wait, in: slot) else { continue }
                    waits[slot] = nil
                    wait.completion(.success(wait.response))
                }
            }
        }

        /// Counts a frame for those who wait; false where nobody does.
        func countUnseenFrame() -> Bool {
            for slot in waits.keys {
                guard let stage = stages[slot], !stage.isWaiting, stage.transition?.start == nil else { continue }
                waits[slot]?.framesUnseen += 1
            }
            if waits.values.contains(where: { $0.framesUnseen == LoadWait.unseenLimit }) { settleWaits() }
            return !waits.isEmpty
        }

        /// Loads, and waits for the end. Cancelling the Swift task unbinds, unless something else was loaded.
        func bindAndWait(
            _ request: ImageRequest, _ slot: ImageSlot, _ options: BindingOptions, until goal: LoadGoal
        ) async throws(ImageError) -> ImageResponse {
            guard !Task.isCancelled else { throw .request(.cancelled) }
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

    /// A binding that somebody waits for.
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
