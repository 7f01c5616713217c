// SPDX-License-Identifier: MIT

#if GTK
    extension WebImageView {
        /// The stage that an image must reach before its load counts as finished.
        public enum CompletionPoint: Int, Sendable, Hashable, Comparable, CaseIterable {
            /// The image is loaded. The next frame shows it.
            case loaded
            /// A frame with the image was drawn.
            case displayed
            /// The transition finished. A frame was drawn that shows only the image.
            case transitionFinished

            /// Returns a Boolean value that indicates whether the left goal is reached before the right one.
            public static func < (left: WebImageView.CompletionPoint, right: WebImageView.CompletionPoint) -> Bool {
                left.rawValue < right.rawValue
            }
        }
    }
#endif
