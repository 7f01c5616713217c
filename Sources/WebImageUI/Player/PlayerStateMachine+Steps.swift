// SPDX-License-Identifier: MIT

import WebImageCore

/// The internal steps of the state machine.
extension PlayerStateMachine {
    var cycle: PlaybackOrder { Self.cycle(durations, mode, isComplete) }
    var total: Int { max(0, loopCount ?? imageLoopCount) }
    /// The time until the next frame, in nanoseconds of the caller's clock.
    var wait: Int { max(1, Self.clamped((Double(max(0, duration(position) - elapsed)) / rate).rounded(.up))) }

    /// Returns the elapsed time. It's 0 if the clock runs backward.
    static func time(from start: Int, to now: Int) -> Int {
        let (time, overflow) = now.subtractingReportingOverflow(start)
        return overflow ? 0 : max(0, time)
    }

    static func cycle(_ durations: [Int], _ mode: AnimationPlayer.Mode, _ isComplete: Bool) -> PlaybackOrder {
        // Playback can't start at the last frame until it's known.
        PlaybackOrder(count: max(1, durations.count), mode: isComplete ? mode : .forward)
    }

    static func nanoseconds(_ timeline: AnimationTimeline) -> [Int] {
        // Limit each duration to one day, which is longer than any useful duration and prevents an overflow.
        timeline.durations.map { min(max(1, $0), 86_400_000) * 1_000_000 }
    }

    private static func clamped(_ value: Double) -> Int { value < 4e18 ? Int(value) : 4_000_000_000_000_000_000 }

    func scaled(_ time: Int) -> Int { Self.clamped(Double(time) * rate) }

    func duration(_ position: Position) -> Int {
        let index = cycle.index(at: position.step)
        return durations.indices.contains(index) ? durations[index] : 1
    }

    func successor(of position: Position) -> Position? {
        guard total == 0 || position.loops < total else { return nil }
        if position.step + 1 < cycle.length { return Position(step: position.step + 1, loops: position.loops) }
        guard isComplete else { return nil }
        let loops = position.loops + 1
        if total > 0, loops >= total { return cycle.returns ? Position(step: 0, loops: loops) : nil }
        return Position(step: 0, loops: loops)
    }

    mutating func advance(_ gap: Int, _ now: Int) {
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
    mutating func locate(_ time: Int) {
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
    mutating func show(_ now: Int, _ isHeld: (Int) -> Bool) -> Int? {
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

    mutating func rewind() {
        position = Position()
        isFresh = true
        hasClock = false
        origin = nil
        elapsed = 0
        reportedLoops = 0
        missingSince = nil
    }

    mutating func restartLoops() {
        position.loops = 0
        displayed.loops = 0
        reportedLoops = 0
    }

    mutating func remap(from old: PlaybackOrder) {
        let isShown = displayed == position && !isFresh
        displayed.step = cycle.step(of: old.index(at: displayed.step))
        if isFresh { return }
        position.step = cycle.step(of: old.index(at: position.step))
        if isShown { displayed = position }
    }
}
