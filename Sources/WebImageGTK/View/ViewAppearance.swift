// SPDX-License-Identifier: MIT

#if GTK
    import WebImage
    import WebImageUI

    /// The appearance that all renderers of a view share.
    struct ViewAppearance {
        var fit = ContentFit.contain
        var cornerRadius = 0.0
        var indicator = ImageIndicator.none
        var playback = AnimationPlayer.Options()
        var autoplays = true
        var scaleFactor = 1.0
        var animates = true

        /// Returns how the image of a slot fits. The background of a button always covers it.
        func fit(of slot: ImageSlot) -> ContentFit { slot.normalSlot == .background ? .cover : fit }

        @MainActor
        func apply(to renderer: SlotRenderer) {
            renderer.playback = playback
            renderer.autoplays = autoplays
            renderer.fit = fit(of: renderer.slot)
            renderer.cornerRadius = cornerRadius
            renderer.indicator = indicator
            renderer.scaleFactor = scaleFactor
            if renderer.animates != animates { renderer.animates = animates }
        }
    }
#endif
