// SPDX-License-Identifier: MIT

extension AnimationPlayer {
    /// The playback order of the frames of an animation.
    public enum Mode: String, Sendable, CaseIterable {
        /// From the first frame to the last, restarting with the first.
        case forward
        /// From the last frame to the first, restarting with the last.
        case reverse
        /// From the first frame to the last and back. One loop consists of both directions, and the frames at the ends
        /// appear only once.
        case bounce
        /// From the last frame to the first and back.
        case reverseBounce
    }
}

extension AnimationPlayer {
    /// The options for playing an animation. They're a value, so you can change a copy freely.
    public struct Options: Sendable, Hashable {
        /// The order of the frames. The default is ``AnimationPlayer/Mode/forward``. An image that doesn't have all of
        /// its frames yet plays forward until it's complete.
        public var mode = AnimationPlayer.Mode.forward
        /// The playback speed. 1 is the normal speed, 2 is twice as fast, and 0 or less pauses the animation. The
        /// maximum is 100, and the default is 1.
        public var rate = 1.0
        /// The number of times to play the animation. 0 means indefinitely. The default is `nil`, which means the loop
        /// count of the image.
        public var loopCount: Int?
        /// The budget for cached frames in addition to the displayed frame, in bytes.
        ///
        /// All players of the image share the largest budget that one of them sets. If it's 0, no frames are cached.
        /// All images together share a budget of half of the default cost limit of a memory cache. The default is
        /// 64 MiB.
        public var frameBufferLimit = 64 << 20
        /// A Boolean value that indicates whether a visible player that doesn't play decodes the frames that it would display
        /// next, as many as ``frameBufferLimit`` permits, so that playback starts without waiting for them. With a limit of
        /// `.max`, it decodes all frames. The default is `false`.
        public var preloadsFrames = false
        /// A Boolean value that indicates whether the player follows the clock of all players of the same image with
        /// this option, so that they show the same frame at the same time.
        ///
        /// The default is `false`, which means that playback starts a separate clock.
        public var isSynchronized = false
        /// A Boolean value that indicates whether only the poster frame is shown, for people who prefer reduced motion.
        /// The default is `false`.
        public var reducesMotion = false

        /// Creates options with the default values.
        public init() {}
    }
}

extension AnimationPlayer {
    /// The state of a player.
    public enum State: Sendable, Hashable {
        /// Playback hasn't started or was stopped.
        case stopped
        /// Playback is running.
        case playing
        /// Playback is paused at a frame and can resume from there.
        case paused
        /// All loops were played, and the last frame remains.
        case finished
    }
}
