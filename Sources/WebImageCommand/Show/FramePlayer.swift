// SPDX-License-Identifier: MIT

import WebImageCore

/// Which frame of an animation is to be seen when. Times are milliseconds since the first one was shown.
package struct PlaySchedule: Sendable, Hashable {
    /// A frame and when the next one takes its place.
    package struct Slot: Sendable, Hashable {
        package let frame: Int
        package let end: Int
    }

    /// The end of each frame within one pass.
    private let ends: [Int]
    /// The end of all; nil for ever.
    package let total: Int?

    /// `loops` 0 is for ever.
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

    /// What is to be seen at `time`; nil behind the end.
    package func slot(at time: Int) -> Slot? {
        guard let pass = ends.last, time >= 0, time < total ?? .max else { return nil }
        let within = time % pass
        guard let frame = ends.firstIndex(where: { within < $0 }) else { return nil }
        return Slot(frame: frame, end: time - within + ends[frame])
    }
}

/// Why waiting ended.
package enum PlayWake: Sendable, Hashable {
    /// The time is over.
    case time
    /// A key was pressed.
    case key
    /// The process is to end.
    case interrupted
}

/// Plays a schedule against a clock: frames whose time is over before they could be shown are left out, the last one never.
package struct FramePlayer {
    private let schedule: PlaySchedule
    private let now: () -> Int
    private let wait: (Int) -> PlayWake

    /// `now` gives milliseconds since any moment; `wait` waits for so many.
    package init(_ schedule: PlaySchedule, now: @escaping () -> Int, wait: @escaping (Int) -> PlayWake) {
        self.schedule = schedule
        self.now = now
        self.wait = wait
    }

    /// Plays to the end, calling `show` with each frame. Blocks.
    ///
    /// - Returns: why it ended.
    /// - Throws: what `show` throws.
    package func play(_ show: (Int) throws(ImageError) -> Void) throws(ImageError) -> PlayWake {
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
