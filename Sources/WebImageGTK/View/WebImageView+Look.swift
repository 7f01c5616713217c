// SPDX-License-Identifier: MIT

#if GTK
    import WebImage

    extension WebImageView {
        /// A value that describes how images fit into the bounds of the widget.
        ///
        /// The default is the content fit that a GtkPicture has when its view is created, and ``ContentFit/contain``
        /// for other widgets. The background of a button always covers it. With ``ContentFit/cover``, images are
        /// decoded at a size that covers the bounds.
        public var fit: ContentFit {
            get { controller.look.fit }
            nonmutating set { controller.look.fit = newValue }
        }

        /// The radius of the corners, in points. The default is 0.
        ///
        /// Unlike an ``ImageTransformer`` that rounds corners, this property doesn't add another image to the caches.
        public var cornerRadius: Double {
            get { controller.look.cornerRadius }
            nonmutating set { controller.look.cornerRadius = newValue.isFinite ? max(0, newValue) : 0 }
        }

        /// The indicator on top of the content while the view loads. The default is no indicator.
        public var indicator: ImageIndicator {
            get { controller.look.indicator }
            nonmutating set { controller.look.indicator = newValue }
        }

        /// The playback options of animations. A change applies to the next image.
        public var playback: PlaybackOptions {
            get { controller.look.playback }
            nonmutating set { controller.look.playback = newValue }
        }

        /// A Boolean value that indicates whether animations start automatically. The default is `true`.
        ///
        /// A change applies to the next image. Animations pause while the widget isn't visible.
        public var autoplays: Bool {
            get { controller.look.autoplays }
            nonmutating set { controller.look.autoplays = newValue }
        }

        /// A Boolean value that indicates whether a click on a widget that shows a failure retries the load. The
        /// default is `true`.
        public var retriesOnClick: Bool {
            get { controller.retriesOnClick }
            nonmutating set { controller.retriesOnClick = newValue }
        }
    }
#endif
