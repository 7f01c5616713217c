// SPDX-License-Identifier: MIT

#if GTK
    /// How far a picture has to come for its load to have ended.
    public enum LoadGoal: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// It is there; the next frame shows it.
        case loaded
        /// A frame with it has been drawn.
        case shown
        /// Its transition is over: a frame has been drawn in which there is nothing else.
        case transitioned

        /// In the order in which they are reached.
        public static func < (left: LoadGoal, right: LoadGoal) -> Bool { left.rawValue < right.rawValue }
    }
#endif
