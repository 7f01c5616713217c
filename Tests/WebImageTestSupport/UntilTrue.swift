// SPDX-License-Identifier: MIT

/// Lets other tasks run until `condition` holds. For states that have no signal to wait for; the suite's time limit
/// ends a wait that never does.
public func untilTrue(_ condition: @Sendable () -> Bool) async {
    while !condition(), !Task.isCancelled { await Task.yield() }
}
