// SPDX-License-Identifier: MIT

#if GTK
    import WebImage

    /// A state of a button that can have its own image.
    public enum ButtonState: String, Sendable, Hashable, CaseIterable {
        /// The button is in none of the other states.
        case normal
        /// The pointer is over the button.
        case hover
        /// The button is pressed or checked, or its popover is open.
        case active
        /// The button is insensitive.
        case disabled
    }

    extension ImageSlot {
        /// Returns the slot for the image of a button in `state`. A state without an image shows the image of
        /// ``ButtonState/normal``.
        public static func image(_ state: ButtonState) -> ImageSlot { .image.in(state) }

        /// Returns the slot for the background of a button in `state`. A state without a background shows the
        /// background of ``ButtonState/normal``.
        public static func background(_ state: ButtonState) -> ImageSlot { .background.in(state) }

        private func `in`(_ state: ButtonState) -> ImageSlot {
            state == .normal ? self : ImageSlot("\(name).\(state.rawValue)")
        }

        /// The slot with the same position for the normal state.
        var normalSlot: ImageSlot {
            for state in ButtonState.allCases where name.hasSuffix(".\(state.rawValue)") {
                return ImageSlot(String(name.dropLast(state.rawValue.count + 1)))
            }
            return self
        }
    }
#endif
