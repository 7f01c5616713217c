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

    private var durations: [Int]
    private var imageLoopCount: Int
    private var isComplete = true
    private(set) var state = AnimationPlayer.State.stopped
    private(set) var position = Position()
    /// The time since `position` was reached, in nanoseconds of the animation's time.
    private var elapsed = 0
    private var displayed = Position()
    private var lastTick: Int?
    private var missingSince: Int?
    private var reportedLoops = 0
    /// The time at which the clock of a synchronized player started.
    private var origin: Int?
    /// Whether the player has selected the clock that it follows. A seek selects the player's own clock.
    var hasClock = false
    var loopCount: Int?
    var reducesMotion = false
    var rate = 1.0 { didSet { rate = rate.isFinite ? min(max(0, rate), 100) : 0 } }
    var mode: AnimationPlayer.Mode {
        didSet { if mode != oldValue { remap(from: Self.cycle(durations, oldValue, isComplete)) } }
    }
    /// Whether playback hasn't left its initial position.
    private var isFresh = true

    /// Creates a machine that shows the poster frame before the first tick.
    init(_ timeline: AnimationTimeline, mode: AnimationPlayer.Mode = .forward, isComplete: Bool = true) {
        durations = Self.nanoseconds(timeline)
        imageLoopCount = timeline.loopCount
        self.mode = mode
        self.isComplete = isComplete
        displayed.step = Self.cycle(durations, mode, isComplete).step(of: 0)
    }

    // MARK: - State

    var displayedIndex: Int { reducesMotion ? 0 : cycle.index(at: displayed.step) }
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

/// The internal steps of the state machine.
extension PlayerStateMachine {
    private var cycle: PlaybackOrder { Self.cycle(durations, mode, isComplete) }
    private var total: Int { max(0, loopCount ?? imageLoopCount) }
    /// The time until the next frame, in nanoseconds of the caller's clock.
    private var wait: Int { max(1, Self.clamped((Double(max(0, duration(position) - elapsed)) / rate).rounded(.up))) }

    /// Returns the elapsed time. It's 0 if the clock runs backward.
    private static func time(from start: Int, to now: Int) -> Int {
        let (time, overflow) = now.subtractingReportingOverflow(start)
        return overflow ? 0 : max(0, time)
    }

    private static func cycle(_ durations: [Int], _ mode: AnimationPlayer.Mode, _ isComplete: Bool) -> PlaybackOrder {
        // Playback can't start at the last frame until it's known.
        PlaybackOrder(count: max(1, durations.count), mode: isComplete ? mode : .forward)
    }

    private static func nanoseconds(_ timeline: AnimationTimeline) -> [Int] {
        // Limit each duration to one day, which is longer than any useful duration and prevents an overflow.
        timeline.durations.map { min(max(1, $0), 86_400_000) * 1_000_000 }
    }

    private static func clamped(_ value: Double) -> Int { value < 4e18 ? Int(value) : 4_000_000_000_000_000_000 }

    private func scaled(_ time: Int) -> Int { Self.clamped(Double(time) * rate) }

    private func duration(_ position: Position) -> Int {
        let index = cycle.index(at: position.step)
        return durations.indices.contains(index) ? durations[index] : 1
    }

    private func successor(of position: Position) -> Position? {
        guard total == 0 || position.loops < total else { return nil }
        if position.step + 1 < cycle.length { return Position(step: position.step + 1, loops: position.loops) }
        guard isComplete else { return nil }
        let loops = position.loops + 1
        if total > 0, loops >= total { return cycle.returns ? Position(step: 0, loops: loops) : nil }
        return Position(step: 0, loops: loops)
    }

    private mutating func advance(_ gap: Int, _ now: Int) {
        if let missingSince, Self.time(from: missingSince, to: now) > Self.stallLimit {
            // Wait at the first missing frame.
            position = successor(of: displayed) ?? displayed
            elapsed = 0
            return
        }
        let passed = scaled(gap)
        elapsed += gap > Self.stallLimit ? min(passed, max(0, duration(position) - elapsed)) : passed
        while elapsed >= duration(position) {
            guard let next = successor(of: position) else {
                elapsed = duration(position)
                return
            }
            elapsed -= duration(position)
            position = next
        }
    }

    /// Sets the position to `time` after the beginning, in the time of the animation.
    private mutating func locate(_ time: Int) {
        let lengths = (0..<cycle.length).map { duration(Position(step: $0)) }
        let whole = max(1, lengths.reduce(0, +))
        let loops = isComplete ? time / whole : 0
        var rest = isComplete ? time % whole : min(time, whole)
        if total > 0, loops >= total {
            position = Position(step: cycle.returns ? 0 : cycle.length - 1, loops: cycle.returns ? total : total - 1)
            elapsed = duration(position)
            return
        }
        for (step, length) in lengths.enumerated() {
            position = Position(step: step, loops: loops)
            elapsed = min(rest, length)
            if rest < length { return }
            rest -= length
        }
    }

    /// Displays the due frame, or the last decoded frame before it, and returns its index if it changed.
    private mutating func show(_ now: Int, _ isHeld: (Int) -> Bool) -> Int? {
        guard position != displayed else {
            missingSince = nil
            return nil
        }
        guard let best = newest(isHeld) else {
            missingSince = missingSince ?? now
            return nil
        }
        let old = cycle.index(at: displayed.step)
        displayed = best
        missingSince = best == position ? nil : now
        let index = cycle.index(at: best.step)
        return index == old ? nil : index
    }

    private func newest(_ isHeld: (Int) -> Bool) -> Position? {
        if isHeld(cycle.index(at: position.step)) { return position }
        var found: Position?
        var place = displayed
        for _ in 0..<cycle.length {
            guard let next = successor(of: place) else { return nil }
            if next == position { return found }
            if isHeld(cycle.index(at: next.step)) { found = next }
            place = next
        }
        // The position isn't ahead of the displayed frame because of a seek.
        return nil
    }

    private mutating func rewind() {
        position = Position()
        isFresh = true
        hasClock = false
        origin = nil
        elapsed = 0
        reportedLoops = 0
        missingSince = nil
    }

    private mutating func restartLoops() {
        position.loops = 0
        displayed.loops = 0
        reportedLoops = 0
    }

    private mutating func remap(from old: PlaybackOrder) {
        let isShown = displayed == position && !isFresh
        displayed.step = cycle.step(of: old.index(at: displayed.step))
        if isFresh { return }
        position.step = cycle.step(of: old.index(at: position.step))
        if isShown { displayed = position }
    }
}
