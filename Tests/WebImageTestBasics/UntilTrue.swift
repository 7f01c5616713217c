// SPDX-License-Identifier: MIT

/// Suspends and lets other tasks run until `condition` returns `true` or the current task is canceled.
///
/// Use this function for states that have no signal to wait for. If the condition is never met, the timeout of the
/// suite ends the wait.
public func untilTrue(isolation: isolated (any Actor)? = #isolation, _ condition: () -> Bool) async {
    var looks = 0
    while !condition(), !Task.isCancelled {
        looks += 1
        // During a longer wait, leave the processor to the tasks that the condition depends on. The condition is an
        // arbitrary closure, so no signal can end the pause early.
        if looks < 100 { await Task.yield() } else { try? await Task.sleep(for: .milliseconds(1)) }
    }
}
