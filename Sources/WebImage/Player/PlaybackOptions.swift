// SPDX-License-Identifier: MIT

/// The order in which the frames of an animation are shown.
public enum PlaybackMode: Sendable, Hashable, CaseIterable {
    /// From the first to the last, and again from the first.
    case normal
    /// From the last to the first, and again from the last.
    case reverse
    /// From the first to the last and back; there and back is one loop, and the frames at the ends come once.
    case bounce
    /// From the last to the first and back.
    case reverseBounce
}

/// Which clock an animation follows.
public enum PlaybackSynchronization: Sendable, Hashable {
    /// Its own: it begins when it is played.
    case none
    /// That of all players of the same picture which say so too: they show the same frame at the same time.
    case withOthers
    /// That which began at this time, in nanoseconds of the clock that ticks are given in.
    case origin(Int)
}

/// How an animation is played. A value; change a copy freely.
public struct PlaybackOptions: Sendable, Hashable {
    /// The order of the frames. Default normal. A picture of which more is still coming plays normally until all of it is
    /// there.
    public var mode = PlaybackMode.normal
    /// Speed: 1 is the picture's own, 2 twice as fast; 0 and less stands still. At most 100. Default 1.
    public var rate = 1.0
    /// How often it plays, 0 for ever. Default nil: as the picture says.
    public var loopCount: Int?
    /// Bytes of frames that are held besides the one that is shown, for all players of the picture together (the largest
    /// value counts). 0 holds none. Default 64 MiB. All pictures together share ``AnimationPlayer/totalFrameBytes``.
    public var bufferBytes = 64 << 20
    /// Which clock it follows. Default its own.
    public var synchronization = PlaybackSynchronization.none
    /// Whether only the poster is shown, for people who want no motion. Default false.
    public var reducesMotion = false

    /// The defaults.
    public init() {}
}

/// What a player does.
public enum PlaybackState: Sendable, Hashable {
    /// It has not been played, or was stopped.
    case stopped
    /// It plays.
    case playing
    /// It holds a frame, and goes on from there.
    case paused
    /// It has played as often as it was to; the last frame stays.
    case finished
}
