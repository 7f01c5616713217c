// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization
import WebImage
import WebImageCommand
import WebImageConcurrency

/// An object that shows the progress of downloads, either in place on a terminal or with a line for each image that
/// was loaded. The class is thread-safe.
final class ProgressPrinter: Sendable {
    /// The way in which progress is shown.
    enum Mode {
        case inPlace
        case lines
        case none
    }

    private struct State {
        var board: DownloadProgressDisplay
        var region = LiveRegion()
        var hasChanged = true
        var isFinished = false
    }

    private let console: Console
    private let mode: Mode
    private let state: Lock<State>
    // Safe: dispatch sources can be used from any thread (dispatch_source_create(3)), and the constant is never
    // replaced.
    nonisolated(unsafe) private let timer: (any DispatchSourceTimer)?

    init(total: Int, mode: Mode, console: Console) {
        self.console = console
        self.mode = mode
        state = Lock(State(board: DownloadProgressDisplay(total: total)))
        guard mode == .inPlace else {
            timer = nil
            return
        }
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "webimage.progress"))
        self.timer = timer
        // Fast loads finish before the first drawing, which avoids flicker.
        timer.schedule(deadline: .now() + 0.15, repeating: 0.08)
        timer.setEventHandler { [weak self] in self?.draw() }
        timer.resume()
    }

    func start(_ id: Int, name: String) { change { $0.start(id, name: name) } }

    func update(_ id: Int, received: Int, expected: Int?) {
        change { $0.update(id, received: received, expected: expected) }
    }

    func finish(_ id: Int, _ row: FetchRow) {
        change { $0.finish(id, bytes: row.bytes ?? 0, failed: row.error != nil) }
        if mode == .lines, row.error == nil { console.writeError(row.plainLine + "\n") }
    }

    /// Removes all lines from the terminal.
    func end() {
        timer?.cancel()
        // The console only enqueues the text, so writing under the lock is cheap and preserves the order of drawing.
        state.withLock {
            $0.isFinished = true
            let text = $0.region.clear()
            if !text.isEmpty { console.writeError(text) }
        }
    }

    private func change(_ body: (inout DownloadProgressDisplay) -> Void) {
        state.withLock {
            body(&$0.board)
            $0.hasChanged = true
        }
    }

    private func draw() {
        state.withLock {
            guard $0.hasChanged, !$0.isFinished else { return }
            $0.hasChanged = false
            console.writeError($0.region.draw($0.board.lines(console.error)))
        }
    }
}
