// SPDX-License-Identifier: MIT

#if GTK
    import AppleNames
    import Foundation
    import WebImage
    import WebImageGTK
    import WebImageUI

    /// The playback order of the frames of an animation.
    public enum SDAnimatedImagePlaybackMode: Sendable {
        /// From the first frame to the last.
        case normal
        /// From the last frame to the first.
        case reverse
        /// From the first frame to the last and back.
        case bounce
        /// From the last frame to the first and back.
        case reversedBounce
    }

    /// The members of `SDAnimatedImageView`, which every view has. Changes of options apply to the next image.
    extension WebPicture {
        /// A Boolean value that indicates whether animations start automatically.
        public var autoPlayAnimatedImage: Bool {
            get { view.autoplays }
            set { view.autoplays = newValue }
        }
        /// The speed. 1 is the original speed.
        public var playbackRate: Double {
            get { view.playback.rate }
            set { view.playback.rate = newValue }
        }
        /// The order of the frames.
        public var playbackMode: SDAnimatedImagePlaybackMode {
            get {
                switch view.playback.mode {
                case .forward: .normal
                case .reverse: .reverse
                case .bounce: .bounce
                case .reverseBounce: .reversedBounce
                }
            }
            set {
                switch newValue {
                case .normal: view.playback.mode = .forward
                case .reverse: view.playback.mode = .reverse
                case .bounce: view.playback.mode = .bounce
                case .reversedBounce: view.playback.mode = .reverseBounce
                }
            }
        }
        /// The number of times to play animations. 0 means indefinitely.
        public var animationRepeatCount: Int {
            get { view.playback.loopCount ?? 0 }
            set { view.playback.loopCount = newValue }
        }
        /// The maximum size of decoded frames, in bytes.
        public var maxBufferSize: UInt {
            get { UInt(view.playback.frameBufferLimit) }
            set { view.playback.frameBufferLimit = Int(clamping: newValue) }
        }
        /// A Boolean value that indicates whether the animation plays.
        public var isAnimating: Bool { view.player()?.state == .playing }
        /// The index of the current frame.
        public var currentFrameIndex: UInt { UInt(view.player()?.frameIndex ?? 0) }
        /// The number of completed loops.
        public var currentLoopCount: UInt { UInt(view.player()?.completedLoops ?? 0) }
        /// The current frame of the animation, or `nil` for a still image.
        public var currentFrame: UIImage? {
            guard let player = view.player(), let image = view.displayedImage(), let animation = image.animation,
                let pixels = try? animation.frame(at: player.frameIndex)
            else { return nil }
            return UIImage(decoded: DecodedImage(pixels: pixels, scale: image.scale))
        }

        /// Plays the animation.
        public func startAnimating() { view.player()?.play() }
        /// Pauses the animation at the current frame.
        public func stopAnimating() { view.player()?.pause() }

        /// Not available.
        @available(*, unavailable, message: "Use player(for:) of the property view.")
        public var player: SDAnimatedImagePlayer? { nil }
        /// Not available.
        @available(
            *, unavailable, message: "Set animationRepeatCount only. The default is the loop count of the image."
        )
        public var shouldCustomLoopCount: Bool { false }
        /// Not available.
        @available(*, unavailable, message: "Use AnimationPlayer.clearFrameBuffer() of WebImage.")
        public var clearBufferWhenStopped: Bool { false }
        /// Not available.
        @available(*, unavailable, message: "Use AnimationPlayer.stop() of WebImage, which returns to the first frame.")
        public var resetFrameIndexWhenStopped: Bool { false }
        /// Not available.
        @available(*, unavailable, message: "Use ImageRequest.previews of WebImage.")
        public var shouldIncrementalLoad: Bool { true }
        /// Not available.
        @available(*, unavailable, message: "The frame clock of GTK drives animations. Remove this line.")
        public var runLoopMode: Any? { nil }
    }
#endif
