// SPDX-License-Identifier: MIT

/// Lets other tasks run until `condition` holds. For states that have no signal to wait for; the suite's time limit
/// ends a wait that never does.
public func untilTrue(isolation: isolated (any Actor)? = #isolation, _ condition: () -> Bool) async {
    var looks = 0
    while !condition(), !Task.isCancelled {
        looks += 1
        // A wait that lasts must not take the processor from those it waits for.
        if looks < 100 { await Task.yield() } else { try? await Task.sleep(for: .milliseconds(1)) }
    }
}
