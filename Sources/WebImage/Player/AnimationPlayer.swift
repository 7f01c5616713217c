// SPDX-License-Identifier: MIT

import WebImageCore

/// Plays an animated picture on the clock of a view: the view calls ``tick(at:)`` before it draws, and draws
/// ``pixels``.
///
/// Frames follow the clock: late ones are left out; after a stall of more than a quarter of a second it goes on where it
/// was, at most one frame further. Frames are decoded ahead on the manager's worker threads, once for all players of the
/// picture, and held within a byte budget; when memory is short, only those that are shown. Until ``play()`` the poster
/// is shown.
@MainActor
public final class AnimationPlayer {
    /// What a tick came to.
    public struct Tick: Sendable {
        /// The picture to draw from now on; nil when it stays the same.
        public let pixels: PixelBuffer?
        /// Index of the frame that is shown.
        public let index: Int
        /// When ``AnimationPlayer/tick(at:)`` is next needed, in nanoseconds of the caller's clock; nil when not before
        /// ``AnimationPlayer/needsTick`` is called. Calling it more often does no harm.
        public let deadline: Int?
    }

    /// Bytes of frames that all animations of the process may hold together, in equal shares; the frames that are shown
    /// come on top. Default half of ``MemoryCache/defaultCostLimit``.
    public static var totalFrameBytes: Int {
        get { FramePools.shared.totalBudget }
        set { FramePools.shared.totalBudget = max(0, newValue) }
    }

    /// The picture that is played.
    public private(set) var image: Image
    /// The frame to draw.
    public private(set) var pixels: PixelBuffer
    /// Its index.
    public private(set) var frameIndex = 0
    /// Called when a tick is needed although no deadline has come: after ``play()`` and other calls, and when a frame has
    /// been decoded that was waited for. Default nil.
    public var needsTick: (@MainActor () -> Void)?
    /// Called with every frame that is shown, during the tick. The poster before the first tick is not told. Default nil.
    public var onFrame: (@MainActor (_ index: Int, _ pixels: PixelBuffer) -> Void)?
    /// Called with the number of completed loops whenever it grows, during the tick. Default nil.
    public var onLoop: (@MainActor (_ count: Int) -> Void)?
    /// Called when it has played as often as it was to. Default nil.
    public var onFinish: (@MainActor () -> Void)?

    private let manager: ImageManager
    private let options: PlaybackOptions
    private var machine: PlayerMachine
    private var pool: FramePool
    private var membership = 0
    private var told: Need?

    /// A player that shows the poster of `image`; nil for stills.
    ///
    /// - Parameters:
    ///   - image: the animated picture.
    ///   - manager: whose worker threads decode. Default ``ImageManager/shared``.
    ///   - options: how it is played.
    ///   - isComplete: false where more of the picture is to come (``update(_:isComplete:)``). Default true.
    public init?(
        _ image: Image, manager: ImageManager = .shared, options: PlaybackOptions = PlaybackOptions(),
        isComplete: Bool = true
    ) {
        guard let animation = image.animation else { return nil }
        self.image = image
        self.manager = manager
        self.options = options
        pixels = image.pixels
        machine = PlayerMachine(animation.timeline, mode: options.mode, isComplete: isComplete)
        machine.rate = options.rate
        machine.loopCount = options.loopCount
        machine.reducesMotion = options.reducesMotion
        pool = FramePools.shared.pool(for: animation, poster: image.pixels, manager: manager)
        join()
    }

    isolated deinit { pool.leave(membership) }

    // MARK: - Control

    /// What it does.
    public var state: PlaybackState { machine.state }
    /// Loops that lie behind it.
    public var loopsCompleted: Int { machine.loopsCompleted }

    /// Plays on from the frame it holds; from the beginning when it had finished.
    public func play() {
        machine.play()
        changed()
    }

    /// Holds the frame; ``play()`` goes on from there.
    public func pause() {
        machine.pause()
        changed()
    }

    /// Stops.
    ///
    /// - Parameters:
    ///   - resets: whether it goes back to the beginning; else the frame stays, and loops are counted anew. Default true.
    ///   - clears: whether the frames are dropped that no other player needs. Default false.
    public func stop(resets: Bool = true, clears: Bool = false) {
        machine.stop(resets: resets)
        if resets { display(0, image.pixels) }
        changed()
        if clears { pool.clear() }
    }

    /// Goes to a frame, whether it plays or not; a synchronised player goes its own way from then on.
    ///
    /// - Returns: false where there is no frame of that index.
    @discardableResult
    public func seek(toFrame index: Int) -> Bool {
        guard machine.seek(to: index) else { return false }
        changed()
        return true
    }

    /// Goes to a time of the picture as it plays normally; beyond its end it begins again.
    public func seek(toSeconds seconds: Double) {
        guard seconds.isFinite else { return }
        machine.seek(toTime: Int(min(max(0, seconds), 1e9) * 1e9))
        changed()
    }

    /// Whether the view can be seen. While it cannot, nothing is decoded and the clock stands. Default true.
    public var isVisible = true {
        didSet {
            guard isVisible != oldValue else { return }
            machine.suspend()
            changed()
        }
    }

    /// Whether only the poster is shown.
    public var reducesMotion: Bool {
        get { machine.reducesMotion }
        set {
            machine.reducesMotion = newValue
            if newValue { display(0, image.pixels) }
            machine.suspend()
            changed()
        }
    }

    /// Speed; see ``PlaybackOptions/rate``.
    public var rate: Double {
        get { machine.rate }
        set {
            machine.rate = newValue
            changed()
        }
    }

    /// The order of the frames. Changing it keeps the frame that is shown.
    public var mode: PlaybackMode {
        get { machine.mode }
        set {
            machine.mode = newValue
            changed()
        }
    }

    /// How often it plays, 0 for ever; nil for what the picture says.
    public var loopCount: Int? {
        get { machine.loopCount }
        set {
            machine.loopCount = newValue
            changed()
        }
    }

    /// Goes on with `image`, which is the same picture with more frames, or all of them. A player that waited at the end of
    /// what there was goes on.
    ///
    /// - Parameter isComplete: whether nothing more is to come. Default true.
    /// - Returns: false where `image` is a still; nothing has changed then.
    @discardableResult
    public func update(_ image: Image, isComplete: Bool = true) -> Bool {
        guard let animation = image.animation else { return false }
        let old = (pool: pool, membership: membership)
        self.image = image
        machine.grow(animation.timeline, isComplete: isComplete)
        if animation !== old.pool.animation {
            pool = FramePools.shared.pool(for: animation, poster: image.pixels, manager: manager)
            pool.adopt(old.pool)
            join()
            old.pool.leave(old.membership)
        }
        changed()
        return true
    }

    // MARK: - Ticks

    /// Brings what is shown up to date.
    ///
    /// - Parameter nanoseconds: the time of the picture that is about to be drawn, of any clock that does not go back.
    public func tick(at nanoseconds: Int) -> Tick {
        guard isVisible else { return Tick(pixels: nil, index: frameIndex, deadline: nil) }
        synchronize(nanoseconds)
        let old = pixels
        let step = machine.tick(at: nanoseconds) { [pool] in pool.isHeld($0) }
        let index = machine.shownIndex
        if index != frameIndex, let next = pool.frame(at: index) {
            display(index, next)
            onFrame?(index, next)
        }
        tellNeeds()
        if let loops = step.loops { onLoop?(loops) }
        if step.hasFinished { onFinish?() }
        return Tick(pixels: pixels === old ? nil : pixels, index: frameIndex, deadline: step.deadline)
    }

    private func synchronize(_ now: Int) {
        guard machine.state == .playing, !machine.hasClock else { return }
        switch options.synchronization {
        case .none: machine.follow(nil)
        case .origin(let origin): machine.follow(origin)
        case .withOthers:
            pool.origin = pool.origin ?? now
            machine.follow(pool.origin)
        }
    }

    private func display(_ index: Int, _ pixels: PixelBuffer) {
        frameIndex = index
        self.pixels = pixels
    }

    private func join() {
        membership = pool.join(budget: options.bufferBytes) { [weak self] in self?.needsTick?() }
    }

    private func changed() {
        tellNeeds()
        needsTick?()
    }

    private func tellNeeds() {
        let isRunning = machine.state == .playing && machine.rate > 0
        let need = Need(
            current: frameIndex, due: machine.dueIndex, shown: machine.shownIndex, isRunning: isRunning,
            isVisible: isVisible, lookAhead: pool.lookAhead, mode: machine.mode, membership: membership)
        // The list is long; it changes when the frame does. What is due is asked for again and again.
        guard need != told || need.isDue else { return }
        told = need
        var want = FrameLedger.Want(current: frameIndex, isDue: need.isDue)
        if isVisible, isRunning || need.isDue { want.next = machine.upcoming(isRunning ? need.lookAhead : 1) }
        if !need.isDue, want.next.first == frameIndex { want.next.removeFirst() }
        pool.want(want, by: membership)
    }
}

/// What the frames that a player needs follow from.
private struct Need: Equatable {
    var current: Int
    var due: Int
    var shown: Int
    var isRunning: Bool
    var isVisible: Bool
    var lookAhead: Int
    var mode: PlaybackMode
    var membership: Int

    var isDue: Bool { isVisible && due != shown }
}
