// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization
import WebImage
import WebImageCommand
import WebImageConcurrency
import WebImageCore

/// Shows on a terminal how far long work is; says nothing elsewhere. Thread-safe.
final class WorkPrinter: Sendable {
    private struct State {
        var board: WorkBoard
        var region = LiveRegion()
        var drawn: DispatchTime
        var isOver = false
    }

    private let console: Console
    private let state: Lock<State>

    init(_ board: WorkBoard, _ console: Console) {
        self.console = console
        // Fast work is over before anything is drawn, so that nothing flickers.
        state = Lock(State(board: board, drawn: .now() + 0.1))
    }

    func update(done: Int, total: Int) {
        guard console.error.isTerminal else { return }
        state.withLock { state in
            state.board.update(done: done, total: total)
            let now = DispatchTime.now()
            guard !state.isOver, now > state.drawn else { return }
            state.drawn = now + 0.08
            // The console only queues what it is given; within the lock the order of what is drawn stays.
            console.writeError(state.region.draw(state.board.lines(console.error)))
        }
    }

    /// Takes everything off the terminal.
    func end() {
        state.withLock { state in
            state.isOver = true
            let text = state.region.clear()
            if !text.isEmpty { console.writeError(text) }
        }
    }
}
