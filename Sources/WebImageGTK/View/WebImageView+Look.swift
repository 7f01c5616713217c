// SPDX-License-Identifier: MIT

#if GTK
    import WebImage

    extension WebImageView {
        /// How pictures take their place. Default that of a GtkPicture when its view is made, else ``ContentFit/contain``; what
        /// is behind a button covers it. With ``ContentFit/cover`` pictures are decoded to cover the place.
        public var fit: ContentFit {
            get { controller.look.fit }
            nonmutating set { controller.look.fit = newValue }
        }

        /// Radius of the corners in points. Default 0. Unlike ``ImageTransformer``s that round corners it costs no other
        /// picture in the caches.
        public var cornerRadius: Double {
            get { controller.look.cornerRadius }
            nonmutating set { controller.look.cornerRadius = newValue.isFinite ? max(0, newValue) : 0 }
        }

        /// What is shown on top while something is loaded. Default none.
        public var indicator: ImageIndicator {
            get { controller.look.indicator }
            nonmutating set { controller.look.indicator = newValue }
        }

        /// How animations play, from the next picture on.
        public var playback: PlaybackOptions {
            get { controller.look.playback }
            nonmutating set { controller.look.playback = newValue }
        }

        /// Whether animations begin by themselves, from the next picture on. Default true. While the widget cannot be seen they
        /// stand.
        public var autoplays: Bool {
            get { controller.look.autoplays }
            nonmutating set { controller.look.autoplays = newValue }
        }

        /// Whether a click on a widget that shows a failure tries again. Default true.
        public var retriesOnClick: Bool {
            get { controller.retriesOnClick }
            nonmutating set { controller.retriesOnClick = newValue }
        }
    }
#endif
