// SPDX-License-Identifier: MIT

/// The steps of one loop and the frame at each of them. Pure.
struct PlaybackCycle: Equatable {
    /// Frames; at least one.
    var count: Int
    var mode: PlaybackMode

    /// Steps of one loop.
    var length: Int {
        switch mode {
        case .normal, .reverse: count
        case .bounce, .reverseBounce: max(1, 2 * count - 2)
        }
    }

    /// Whether the end is where the beginning was.
    var returns: Bool { mode == .bounce || mode == .reverseBounce }

    /// The frame at `step`.
    func index(at step: Int) -> Int {
        let forth = step < count ? step : 2 * count - 2 - step
        switch mode {
        case .normal, .bounce: return forth
        case .reverse, .reverseBounce: return count - 1 - forth
        }
    }

    /// The first step that shows the frame `index`.
    func step(of index: Int) -> Int {
        let index = min(max(0, index), count - 1)
        switch mode {
        case .normal, .bounce: return index
        case .reverse, .reverseBounce: return count - 1 - index
        }
    }
}
