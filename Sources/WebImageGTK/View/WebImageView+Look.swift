// SPDX-License-Identifier: MIT

#if GTK
    import WebImage
    import WebImageUI

    extension WebImageView {
        /// A value that describes how images fit into the bounds of the widget.
        ///
        /// The default is the content fit that a GtkPicture has when its view is created, and ``ContentFit/contain``
        /// for other widgets. The background of a button always covers it. With ``ContentFit/cover``, images are
        /// decoded at a size that covers the bounds.
        public var contentFit: ContentFit {
            get { controller.appearance.fit }
            nonmutating set { controller.appearance.fit = newValue }
        }

        /// The radius of the corners, in points. The default is 0.
        ///
        /// Unlike an ``ImageTransformer`` that rounds corners, this property doesn't add another image to the caches.
        public var cornerRadius: Double {
            get { controller.appearance.cornerRadius }
            nonmutating set { controller.appearance.cornerRadius = newValue.isFinite ? max(0, newValue) : 0 }
        }

        /// The indicator on top of the content while the view loads. The default is no indicator.
        public var indicator: ImageIndicator {
            get { controller.appearance.indicator }
            nonmutating set { controller.appearance.indicator = newValue }
        }

        /// The playback options of animations. A change applies to the next image.
        public var playback: AnimationPlayer.Options {
            get { controller.appearance.playback }
            nonmutating set { controller.appearance.playback = newValue }
        }

        /// A Boolean value that indicates whether animations start automatically. The default is `true`.
        ///
        /// A change applies to the next image. Animations pause while the widget isn't visible.
        public var autoplays: Bool {
            get { controller.appearance.autoplays }
            nonmutating set { controller.appearance.autoplays = newValue }
        }

        /// A Boolean value that indicates whether a click on a widget that shows a failure retries the load. The
        /// default is `true`.
        ///
        /// Such a widget can also receive the keyboard focus, and Enter and the space bar retry the load.
        public var retriesOnClick: Bool {
            get { controller.retriesOnClick }
            nonmutating set { controller.retriesOnClick = newValue }
        }
    }
#endif
