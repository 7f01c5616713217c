// SPDX-License-Identifier: MIT

#if GTK
    import WebImage
    import WebImageCore

    extension WebImageView {
        /// The phrases that views give to assistive technologies. Replace them to translate them.
        public struct AccessiblePhrases: Sendable, Hashable {
            /// The phrase while an image loads.
            public var loading = "Loading."
            /// The phrase after a load that the user retried.
            public var loaded = "Loaded."
            /// The phrase after a load failed.
            public var failed = "The image can’t be loaded."
            /// The phrase after a load failed if the user can retry it.
            public var failedWithRetry = "The image can’t be loaded. Press Enter to try again."

            /// Creates the English phrases.
            public init() {}
        }

        /// The phrases of all views. A change applies to the next change of a load.
        public static var phrases: AccessiblePhrases {
            get { phraseStorage }
            set { phraseStorage = newValue }
        }

        private static var phraseStorage = AccessiblePhrases()

        /// The description of the image for people who can't see it, or `nil` for the one of the image file. The default
        /// is `nil`.
        ///
        /// The text becomes the accessible label and description of the widget if ``describesImages`` is `true`.
        public var alternativeText: String? {
            get { controller.accessibility.alternativeText }
            nonmutating set { controller.accessibility.alternativeText = newValue }
        }

        /// A Boolean value that indicates whether the view sets the accessible label and description of its widget.
        ///
        /// If ``alternativeText`` is `nil`, the label is the ``ImageMetadata/alternativeText`` of the displayed image, and
        /// the description is its ``ImageMetadata/extendedDescription``. While an image loads and after a failure, the
        /// description begins with one of the ``phrases``. The default is `true` for ``WebPicture`` and for the class
        /// that ``WebPicture/registerType(manager:)`` registers. It's `false` for other widgets, whose texts belong to
        /// the application.
        public var describesImages: Bool {
            get { controller.accessibility.isManaged }
            nonmutating set { controller.accessibility.isManaged = newValue }
        }
    }
#endif
