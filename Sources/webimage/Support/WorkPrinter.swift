// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization
import WebImage
import WebImageCommand
import WebImageConcurrency
import WebImageCore

/// An object that shows the progress of a long operation on a terminal. It prints nothing elsewhere. The class is
/// thread-safe.
final class WorkPrinter: Sendable {
    private struct State {
        var board: TaskProgressDisplay
        var region = LiveRegion()
        var drawn: DispatchTime
        var isFinished = false
    }

    private let console: Console
    private let state: Lock<State>

    init(_ board: TaskProgressDisplay, _ console: Console) {
        self.console = console
        // Fast operations finish before the first drawing, which avoids flicker.
        state = Lock(State(board: board, drawn: .now() + 0.1))
    }

    func update(done: Int, total: Int) {
        guard console.error.isTerminal, !console.isQuiet else { return }
        state.withLock { state in
            state.board.update(done: done, total: total)
            let now = DispatchTime.now()
            guard !state.isFinished, now > state.drawn else { return }
            state.drawn = now + 0.08
            // The console only enqueues the text, so writing under the lock is cheap and preserves the order of
            // drawing.
            console.writeError(state.region.draw(state.board.lines(console.error)))
        }
    }

    /// Removes all lines from the terminal.
    func end() {
        state.withLock { state in
            state.isFinished = true
            let text = state.region.clear()
            if !text.isEmpty { console.writeError(text) }
        }
    }
}
