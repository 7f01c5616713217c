// SPDX-License-Identifier: MIT

#if GTK
    import WebImage
    import WebImageCore
    import WebImageUI

    /// A load whose image is available but hasn't reached its goal.
    struct CompletionWaiter {
        let completionPoint: WebImageView.CompletionPoint
        let response: ImageResponse
        let completion: ImageBinder.Completion
        /// The number of frames in which GTK didn't draw the image although it was ready.
        var framesUnseen = 0

        /// The number of frames after which the image counts as not visible, for example because another button state
        /// covers it or because its opacity is 0.
        static let unseenLimit = 10
    }

    /// The loads of a widget that finish when their image was drawn, at most one for each slot.
    @MainActor
    final class CompletionWaits {
        private var waits: [ImageSlot: CompletionWaiter] = [:]

        var isEmpty: Bool { waits.isEmpty }

        /// Adds a load, and cancels the one that waited before.
        func add(_ wait: CompletionWaiter, for slot: ImageSlot) {
            // The completion may add another load, which must replace the new one and not be overwritten by it.
            let earlier = waits.updateValue(wait, forKey: slot)
            earlier?.completion(.failure(.cancelled))
        }

        func cancel(_ slot: ImageSlot) { waits.removeValue(forKey: slot)?.completion(.failure(.cancelled)) }

        func cancelAll() { for slot in waits.keys { cancel(slot) } }

        /// Completes the loads for which a closure returns `true`.
        func complete(where isComplete: (CompletionWaiter, ImageSlot) -> Bool) {
            for slot in waits.keys {
                // Look up the wait again because a completion may have started another load.
                guard let wait = waits[slot], isComplete(wait, slot) else { continue }
                waits[slot] = nil
                wait.completion(.success(wait.response))
            }
        }

        /// Counts a frame for the slots for which a closure returns `true`. Returns whether a wait is now at the limit.
        func countFrame(where isUnseen: (ImageSlot) -> Bool) -> Bool {
            for slot in waits.keys where isUnseen(slot) { waits[slot]?.framesUnseen += 1 }
            return waits.values.contains { $0.framesUnseen == CompletionWaiter.unseenLimit }
        }
    }
#endif
