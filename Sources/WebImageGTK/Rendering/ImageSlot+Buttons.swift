// SPDX-License-Identifier: MIT

#if GTK
    import WebImage

    /// A state of a button, a GtkPicture, or another widget that can have its own image.
    public enum ButtonState: String, Sendable, Hashable, CaseIterable {
        /// The widget is in none of the other states.
        case normal
        /// The pointer is over the widget.
        case hover
        /// The widget is pressed, checked, or selected, its popover is open, or ``WebImageView/isHighlighted`` is `true`.
        case active
        /// The widget is insensitive.
        case disabled
    }

    extension ImageSlot {
        /// Returns the slot for the image of a widget in `state`.
        ///
        /// If the slot has no content, for example while its image loads or after its load failed, the widget shows
        /// ``highlighted`` in the states ``ButtonState/hover`` and ``ButtonState/active``, and otherwise the image of
        /// ``ButtonState/normal``.
        public static func image(_ state: ButtonState) -> ImageSlot { .image.in(state) }

        /// Returns the slot for the background of a button in `state`. If the slot has no content, the button shows the
        /// background of ``ButtonState/normal``.
        public static func background(_ state: ButtonState) -> ImageSlot { .background.in(state) }

        /// The image in the states ``ButtonState/hover`` and ``ButtonState/active``, unless the state has its own image.
        ///
        /// If the slot has no content, the widget shows the image of ``ButtonState/normal``.
        public static let highlighted = ImageSlot("image\(highlightedSuffix)")

        private static let highlightedSuffix = ".highlighted"

        private func `in`(_ state: ButtonState) -> ImageSlot {
            state == .normal ? self : ImageSlot("\(name).\(state.rawValue)")
        }

        /// Returns the slots that the widget can show at this position in `state`, beginning with the best one.
        func candidates(in state: ButtonState) -> [ImageSlot] {
            switch state {
            case .normal: [self]
            case .hover, .active: [self.in(state)] + (self == .image ? [.highlighted] : []) + [self]
            case .disabled: [self.in(state), self]
            }
        }

        /// The slot with the same position for the normal state.
        var normalSlot: ImageSlot {
            if self == .highlighted { return .image }
            for state in ButtonState.allCases where name.hasSuffix(".\(state.rawValue)") {
                return ImageSlot(String(name.dropLast(state.rawValue.count + 1)))
            }
            return self
        }
    }
#endif
