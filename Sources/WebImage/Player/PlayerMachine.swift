// SPDX-License-Identifier: MIT

import WebImageCore

/// Which frame is shown when: a pure state machine on the caller's clock, in nanoseconds.
///
/// Frames follow the clock: what comes late is left out. After a stall (no tick, or no decoded frame, for longer than
/// ``stallLimit``) it goes on where it was, at most one frame further.
struct PlayerMachine {
    struct Position: Equatable {
        var step = 0
        /// Loops that lie behind it.
        var loops = 0
    }

    struct Tick: Equatable {
        /// The frame to show instead of the one that is shown.
        var frame: Int?
        /// When there is something to do again; nil when it is not time that is waited for.
        var deadline: Int?
        /// Loops completed, where that has changed.
        var loops: Int?
        var hasFinished = false
    }

    /// A quarter of a second: beyond that people see a halt, and a jump after it would be a second fault.
    static let stallLimit = 250_000_000

    var durations: [Int]
    var pictureLoops: Int
    var isComplete = true
    var state = PlaybackState.stopped
    var position = Position()
    /// Nanoseconds of the picture's time since `position` was reached.
    var elapsed = 0
    var shown = Position()
    var lastTick: Int?
    var missingSince: Int?
    var reportedLoops = 0
    /// Where the clock of a synchronised player began.
    var origin: Int?
    /// Whether it was decided which clock it follows; seeking leaves its own.
    var hasClock = false
    var loopCount: Int?
    var reducesMotion = false
    var rate = 1.0 { didSet { rate = rate.isFinite ? min(max(0, rate), 100) : 0 } }
    var mode: PlaybackMode {
        didSet { if mode != oldValue { remap(from: Self.cycle(durations, oldValue, isComplete)) } }
    }
    /// Whether it is still where it begins, wherever that is.
    var isFresh = true

    /// What is shown before the first tick is the poster.
    init(_ timeline: AnimationTimeline, mode: PlaybackMode = .normal, isComplete: Bool = true) {
        durations = Self.nanoseconds(timeline)
        pictureLoops = timeline.loopCount
        self.mode = mode
        self.isComplete = isComplete
        shown.step = Self.cycle(durations, mode, isComplete).step(of: 0)
    }

    // MARK: - What can be seen

    /// The frame that is shown.
    var shownIndex: Int { reducesMotion ? 0 : cycle.index(at: shown.step) }
    /// The frame that is to be shown.
    var dueIndex: Int { reducesMotion ? 0 : cycle.index(at: isFresh ? shown.step : position.step) }
    var loopsCompleted: Int { state == .finished ? max(1, total) : position.loops }

    /// The frame to be shown and those after it, each once, at most `limit`.
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
        shown = Position(step: cycle.step(of: 0))
    }

    /// Follows the clock that began at `origin`, its own where that is nil.
    mutating func follow(_ origin: Int?) {
        self.origin = origin
        hasClock = true
    }

    /// The clock stands until the next tick.
    mutating func suspend() {
        lastTick = nil
        missingSince = nil
    }

    /// Goes to a frame within the present loop; false where there is none of that index.
    mutating func seek(to index: Int) -> Bool {
        guard durations.indices.contains(index) else { return false }
        if state == .finished { state = .paused }
        isFresh = false
        position.step = cycle.step(of: index)
        if position.loops > 0, total > 0 { position.loops = min(position.loops, total - 1) }
        elapsed = 0
        suspend()
        follow(nil)
        return true
    }

    /// Goes to a time of the picture played normally, in nanoseconds; what is beyond the end begins again.
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

    /// More of the same picture is there.
    mutating func grow(_ timeline: AnimationTimeline, isComplete: Bool) {
        let old = cycle
        // What passed while there was nothing to show is not made up for.
        if successor(of: position) == nil, elapsed >= duration(position) { lastTick = nil }
        durations = Self.nanoseconds(timeline)
        pictureLoops = timeline.loopCount
        self.isComplete = isComplete
        remap(from: old)
    }

    /// What is to be done at `now`; `isHeld` tells whether a frame is decoded.
    mutating func tick(at now: Int, isHeld: (Int) -> Bool) -> Tick {
        guard !reducesMotion, !isFresh else { return Tick() }
        var tick = Tick()
        let isRunning = state == .playing && rate > 0
        if isRunning {
            let gap = Self.time(from: lastTick ?? now, to: now)
            lastTick = now
            if let origin { locate(scaled(Self.time(from: origin, to: now))) } else { advance(gap, now) }
        }
        tick.frame = show(now, isHeld)
        let isAtEnd = successor(of: position) == nil
        if isRunning, isAtEnd, isComplete, shown == position, elapsed >= duration(position) {
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
