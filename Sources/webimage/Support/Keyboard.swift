// SPDX-License-Identifier: MIT

import CTerminal
import Foundation
import WebImageCommand

/// An object that waits for a time, a key, or an interruption, whichever comes first. During its lifetime, the terminal
/// delivers keys immediately and doesn't echo them. ``end()`` restores the terminal.
final class Keyboard: Sendable {
    private let hasKeys: Bool
    private let reading: Int32
    private let writing: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        // Without a pipe, an interruption can't wake the object. It then waits only for keys and time.
        if pipe(&ends) != 0 { ends = [-1, -1] }
        (reading, writing) = (ends[0], ends[1])
        hasKeys = wi_keys_begin(STDIN_FILENO)
    }

    deinit {
        // Both descriptors are valid, or neither is.
        guard reading >= 0 else { return }
        close(reading)
        close(writing)
    }

    /// Restores the terminal. You can call this method from any thread and more than once.
    func end() { if hasKeys { wi_keys_end(STDIN_FILENO) } }

    /// Ends the current wait and all future waits.
    func interrupt() {
        guard writing >= 0 else { return }
        var byte: UInt8 = 0
        _ = write(writing, &byte, 1)
    }

    /// Blocks for `milliseconds`, or until a key is pressed or an interruption occurs.
    func wait(_ milliseconds: Int) -> WaitResult {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        while true {
            var sources = [
                pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
                // poll(2) ignores negative descriptors.
                pollfd(fd: hasKeys ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
            ]
            let left = ContinuousClock.now.duration(to: end) / .milliseconds(1)
            let count = poll(&sources, nfds_t(sources.count), Int32(min(max(0, left.rounded(.up)), 60_000)))
            if count > 0, sources[0].revents != 0 { return .interrupted }
            if count > 0, sources[1].revents != 0 {
                var keys = [UInt8](repeating: 0, count: 64)
                return read(STDIN_FILENO, &keys, keys.count) > 0 ? .key : .interrupted
            }
            if left <= 0 { return .time }
        }
    }
}
