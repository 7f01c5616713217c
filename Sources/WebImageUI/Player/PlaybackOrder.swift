// SPDX-License-Identifier: MIT

/// The steps of one loop and the frame of each step, as a pure value.
struct PlaybackOrder: Equatable {
    /// The number of frames, which is at least one.
    var count: Int
    var mode: AnimationPlayer.Mode

    /// The number of steps in one loop.
    var length: Int {
        switch mode {
        case .forward, .reverse: count
        case .bounce, .reverseBounce: max(1, 2 * count - 2)
        }
    }

    /// Whether a loop ends with the frame that it began with.
    var returns: Bool { mode == .bounce || mode == .reverseBounce }

    func index(at step: Int) -> Int {
        let forth = step < count ? step : 2 * count - 2 - step
        switch mode {
        case .forward, .bounce: return forth
        case .reverse, .reverseBounce: return count - 1 - forth
        }
    }

    /// Returns the first step that shows the frame `index`.
    func step(of index: Int) -> Int {
        let index = min(max(0, index), count - 1)
        switch mode {
        case .forward, .bounce: return index
        case .reverse, .reverseBounce: return count - 1 - index
        }
    }
}
