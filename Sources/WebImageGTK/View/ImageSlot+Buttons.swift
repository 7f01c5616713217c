// SPDX-License-Identifier: MIT

#if GTK
    import WebImage

    /// A state in which a button may show a picture of its own.
    public enum ButtonState: String, Sendable, Hashable, CaseIterable {
        /// None of the others.
        case normal
        /// The pointer is over it.
        case hover
        /// It is pressed, checked, or its popover is open.
        case active
        /// It is insensitive.
        case disabled
    }

    extension ImageSlot {
        /// The picture of a button in `state`. States without one show that of ``ButtonState/normal``.
        public static func image(_ state: ButtonState) -> ImageSlot { .image.in(state) }

        /// What lies behind a button in `state`. States without one show that of ``ButtonState/normal``.
        public static func background(_ state: ButtonState) -> ImageSlot { .background.in(state) }

        private func `in`(_ state: ButtonState) -> ImageSlot {
            state == .normal ? self : ImageSlot("\(name).\(state.rawValue)")
        }

        /// The slot of the same place in the normal state.
        var place: ImageSlot {
            for state in ButtonState.allCases where name.hasSuffix(".\(state.rawValue)") {
                return ImageSlot(String(name.dropLast(state.rawValue.count + 1)))
            }
            return self
        }
    }
#endif
