// SPDX-License-Identifier: MIT

#if GTK
    import WebImage
    import WebImageUI

    /// The appearance that all stages of a view share.
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
        func apply(to stage: SlotRenderer) {
            stage.playback = playback
            stage.autoplays = autoplays
            stage.fit = fit(of: stage.slot)
            stage.cornerRadius = cornerRadius
            stage.indicator = indicator
            stage.scaleFactor = scaleFactor
            if stage.animates != animates { stage.animates = animates }
        }
    }
#endif
