// SPDX-License-Identifier: MIT

import WebImageCore

/// A schedule that maps times to the frames of an animation. Times are in milliseconds since the first frame appeared.
package struct PlaySchedule: Sendable, Hashable {
    /// A frame and the time at which the next frame replaces it.
    package struct Slot: Sendable, Hashable {
        package let frame: Int
        package let end: Int
    }

    /// The end of each frame within one pass.
    private let ends: [Int]
    /// The total duration, or `nil` if the animation repeats indefinitely.
    package let total: Int?

    /// Creates a schedule. If `loops` is 0, the animation repeats indefinitely.
    package init(_ timeline: AnimationTimeline, loops: Int) {
        var ends: [Int] = []
        var time = 0
        for duration in timeline.durations {
            time += min(max(1, duration), 86_400_000)
            ends.append(time)
        }
        self.ends = ends
        let (total, overflow) = time.multipliedReportingOverflow(by: loops)
        self.total = loops == 0 || overflow ? nil : total
    }

    /// Returns the frame at `time`, or `nil` after the end of the animation.
    package func slot(at time: Int) -> Slot? {
        guard let pass = ends.last, time >= 0, time < total ?? .max else { return nil }
        let within = time % pass
        guard let frame = ends.firstIndex(where: { within < $0 }) else { return nil }
        return Slot(frame: frame, end: time - within + ends[frame])
    }
}

/// The reason that a wait ended.
package enum WaitResult: Sendable, Hashable {
    /// The time expired.
    case time
    /// A key was pressed.
    case key
    /// The process received a signal to terminate.
    case interrupted
}

/// A player that follows a schedule in real time. It skips frames whose time has already passed, but never the last
/// frame.
package struct FramePlayer {
    private let schedule: PlaySchedule
    private let now: () -> Int
    private let wait: (Int) -> WaitResult

    /// Creates a player. `now` returns the current time in milliseconds since an arbitrary point. `wait` waits for a
    /// number of milliseconds.
    package init(_ schedule: PlaySchedule, now: @escaping () -> Int, wait: @escaping (Int) -> WaitResult) {
        self.schedule = schedule
        self.now = now
        self.wait = wait
    }

    /// Plays the animation and calls `show` with each frame. Returns the reason that the playback ended, and throws the
    /// errors of `show`. Blocks.
    package func play(_ show: (Int) throws(ImageError) -> Void) throws(ImageError) -> WaitResult {
        let start = now()
        var time = 0
        while let slot = schedule.slot(at: time) {
            try show(slot.frame)
            let wake = wait(max(0, slot.end - (now() - start)))
            guard wake == .time else { return wake }
            time = max(slot.end, now() - start)
            if let total = schedule.total, slot.end < total { time = min(time, total - 1) }
        }
        return .time
    }
}
