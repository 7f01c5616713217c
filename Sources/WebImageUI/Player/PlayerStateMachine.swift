// SPDX-License-Identifier: MIT

import WebImageCore

/// The frame to display at each time, as a pure state machine on the caller's clock, in nanoseconds.
///
/// Frames follow the clock, and late frames are skipped. After a stall (no tick or no decoded frame for longer than
/// ``stallLimit``), playback continues from its previous position, at most one frame later.
struct PlayerStateMachine {
    struct Position: Equatable {
        var step = 0
        /// The number of completed loops.
        var loops = 0
    }

    struct Tick: Equatable {
        /// The index of the frame to display next, or `nil` if it doesn't change.
        var frame: Int?
        /// The time of the next required tick, or `nil` if the machine isn't waiting for a time.
        var deadline: Int?
        /// The number of completed loops, if it changed.
        var loops: Int?
        var hasFinished = false
    }

    /// The stall limit, which is a quarter of a second. People notice a longer stall, and a subsequent jump would be a
    /// second visible fault.
    static let stallLimit = 250_000_000

    var durations: [Int]
    var imageLoopCount: Int
    var isComplete = true
    var state = AnimationPlayer.State.stopped
    var position = Position()
    /// The time since `position` was reached, in nanoseconds of the animation's time.
    var elapsed = 0
    var displayed = Position()
    var lastTick: Int?
    var missingSince: Int?
    var reportedLoops = 0
    /// The time at which the clock of a synchronized player started.
    var origin: Int?
    /// A Boolean value that indicates whether the player has selected the clock that it follows. A seek selects the
    /// player's own clock.
    var hasClock = false
    var loopCount: Int?
    var reducesMotion = false
    var rate = 1.0 { didSet { rate = rate.isFinite ? min(max(0, rate), 100) : 0 } }
    var mode: AnimationPlayer.Mode {
        didSet { if mode != oldValue { remap(from: Self.cycle(durations, oldValue, isComplete)) } }
    }
    /// A Boolean value that indicates whether playback hasn't left its initial position.
    var isFresh = true

    /// Creates a machine that shows the poster frame before the first tick.
    init(_ timeline: AnimationTimeline, mode: AnimationPlayer.Mode = .forward, isComplete: Bool = true) {
        durations = Self.nanoseconds(timeline)
        imageLoopCount = timeline.loopCount
        self.mode = mode
        self.isComplete = isComplete
        displayed.step = Self.cycle(durations, mode, isComplete).step(of: 0)
    }

    // MARK: - State

    /// The index of the displayed frame.
    var displayedIndex: Int { reducesMotion ? 0 : cycle.index(at: displayed.step) }
    /// The index of the frame that is due.
    var dueIndex: Int { reducesMotion ? 0 : cycle.index(at: isFresh ? displayed.step : position.step) }
    var loopsCompleted: Int { state == .finished ? max(1, total) : position.loops }

    /// Returns the due frame and the frames after it, each only once, up to `limit` frames.
    func upcoming(_ limit: Int) -> [Int] {
        guard !reducesMotion else { return [] }
        var list: [Int] = []
        var seen: Set<Int> = []
        var place: Position? = position
        for _ in 0..<cycle.length {
            guard list.count < limit, let next = place else { break }
            let index = cycle.index(at: next.step)
            if seen.insert(index).inserted { list.append(index) }
            place = successor(of: next)
        }
        return list
    }

    // MARK: - Inputs

    mutating func play() {
        if state == .finished { rewind() }
        if state == .stopped { restartLoops() }
        state = .playing
        isFresh = false
        lastTick = nil
    }

    mutating func pause() {
        if state == .playing { state = .paused }
        lastTick = nil
    }

    mutating func stop(resets: Bool) {
        state = .stopped
        lastTick = nil
        missingSince = nil
        guard resets else { return }
        rewind()
        displayed = Position(step: cycle.step(of: 0))
    }

    /// Follows the clock that started at `origin`, or a separate clock if `origin` is `nil`.
    mutating func follow(_ origin: Int?) {
        self.origin = origin
        hasClock = true
    }

    /// Pauses the clock until the next tick.
    mutating func suspend() {
        lastTick = nil
        missingSince = nil
    }

    /// Seeks to a frame in the current loop or in the loop after `loops` completed ones. Returns `false` if there's no
    /// frame with this index.
    mutating func seek(to index: Int, loops: Int? = nil) -> Bool {
        guard durations.indices.contains(index) else { return false }
        if state == .finished { state = .paused }
        isFresh = false
        position.step = cycle.step(of: index)
        if let loops { position.loops = max(0, loops) }
        if position.loops > 0, total > 0 { position.loops = min(position.loops, total - 1) }
        if loops != nil { reportedLoops = position.loops }
        elapsed = 0
        suspend()
        follow(nil)
        return true
    }

    /// Seeks to a time in nanoseconds, measured in normal playback order. A time past the end wraps around.
    mutating func seek(toTime time: Int) {
        let all = durations.reduce(0, +)
        var rest = max(0, time) % max(1, all)
        for (index, duration) in durations.enumerated() {
            if rest < duration {
                if seek(to: index) { elapsed = rest }
                return
            }
            rest -= duration
        }
    }

    /// Replaces the timeline with that of a version of the same image with more frames.
    mutating func grow(_ timeline: AnimationTimeline, isComplete: Bool) {
        let old = cycle
        // Don't compensate for the time in which no frame was available.
        if successor(of: position) == nil, elapsed >= duration(position) { lastTick = nil }
        durations = Self.nanoseconds(timeline)
        imageLoopCount = timeline.loopCount
        self.isComplete = isComplete
        remap(from: old)
    }

    /// Returns the actions for `now`. `isAvailable` returns whether a frame is decoded.
    mutating func tick(at now: Int, isAvailable: (Int) -> Bool) -> Tick {
        guard !reducesMotion, !isFresh else { return Tick() }
        var tick = Tick()
        let isRunning = state == .playing && rate > 0
        if isRunning {
            let gap = Self.time(from: lastTick ?? now, to: now)
            lastTick = now
            if let origin { locate(scaled(Self.time(from: origin, to: now))) } else { advance(gap, now) }
        }
        tick.frame = show(now, isAvailable)
        let isAtEnd = successor(of: position) == nil
        if isRunning, isAtEnd, isComplete, displayed == position, elapsed >= duration(position) {
            state = .finished
            tick.hasFinished = true
        } else if isRunning, missingSince == nil, !isAtEnd || isComplete {
            tick.deadline = now &+ wait
        }
        if loopsCompleted != reportedLoops {
            reportedLoops = loopsCompleted
            if reportedLoops > 0 { tick.loops = reportedLoops }
        }
        return tick
    }
}
