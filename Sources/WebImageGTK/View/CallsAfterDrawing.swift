// SPDX-License-Identifier: MIT

#if GTK
    /// The calls of closures of the application that follow the current frame, in order.
    @MainActor
    final class CallsAfterDrawing {
        private var calls: [@MainActor () -> Void] = []

        func append(_ call: @escaping @MainActor () -> Void) { calls.append(call) }

        /// Makes the calls until a frame is being drawn. A call can append further ones.
        func callAll(until isDrawing: () -> Bool) {
            while !isDrawing(), !calls.isEmpty { calls.removeFirst()() }
        }
    }
#endif
