// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The memory of response bodies in flight. All transfers with the same limit share one budget, regardless of their
/// downloader. This class is thread-safe.
package final class BodyBudget: Sendable {
    /// The default limit in bytes, which is 256 MiB or one eighth of the memory, whichever is less.
    package static let defaultLimit = min(256 << 20, SystemMemory.limit() / 8)

    private struct State {
        var machine: BodyBudgetStateMachine
        var wakers: [Int: @Sendable () -> Void] = [:]

        /// Returns the closures that resume the transfers. The caller calls them after unlocking.
        func wakers(_ ids: [Int]) -> [@Sendable () -> Void] { ids.compactMap { wakers[$0] } }
    }

    private static let budgets = Lock<[Int: BodyBudget]>([:])
    private let state: Lock<State>

    init(limit: Int) { state = Lock(State(machine: BodyBudgetStateMachine(limit: limit))) }

    /// Returns the budget of the process with a limit.
    package static func shared(limit: Int) -> BodyBudget {
        budgets.withLock { budgets in
            if let known = budgets[limit] { return known }
            let budget = BodyBudget(limit: limit)
            budgets[limit] = budget
            return budget
        }
    }

    /// The limit in bytes.
    var limit: Int { state.withLock { $0.machine.limit } }

    /// The size of all bodies in flight, in bytes.
    package var used: Int { state.withLock { $0.machine.used } }

    /// The number of paused transfers.
    package var pausedCount: Int { state.withLock { $0.machine.pausedCount } }

    /// Adds a transfer. `wake` is called on any thread when the transfer must be resumed.
    func enter(_ priority: RequestPriority, wake: @escaping @Sendable () -> Void) -> BodyCharge {
        let id = state.withLock { state in
            let id = state.machine.add(priority)
            state.wakers[id] = wake
            return id
        }
        return BodyCharge(self, id)
    }

    fileprivate func arrive(_ id: Int, group: Int?) -> BodyBudgetStateMachine.Decision {
        let (decision, wakers) = state.withLock { state in
            let (decision, resumed) = state.machine.arrive(id, group: group)
            return (decision, state.wakers(resumed))
        }
        // The closures post commands to network threads, so they run after unlocking.
        for wake in wakers { wake() }
        return decision
    }

    fileprivate func charge(_ id: Int, _ bytes: Int) { state.withLock { $0.machine.charge(id, bytes) } }

    fileprivate func change(_ body: (inout BodyBudgetStateMachine) -> [Int]) {
        let wakers = state.withLock { state in
            let resumed = body(&state.machine)
            return state.wakers(resumed)
        }
        for wake in wakers { wake() }
    }

    fileprivate func end(_ id: Int, _ body: (inout BodyBudgetStateMachine) -> [Int]) {
        let (waker, wakers) = state.withLock { state in
            let resumed = body(&state.machine)
            // Release the waker after unlocking.
            return (state.wakers.removeValue(forKey: id), state.wakers(resumed))
        }
        withExtendedLifetime(waker) {}
        for wake in wakers { wake() }
    }
}

/// The part of a budget that one body uses, until this object is deallocated. This class is thread-safe.
package final class BodyCharge: Sendable {
    private let budget: BodyBudget
    private let id: Int

    fileprivate init(_ budget: BodyBudget, _ id: Int) {
        self.budget = budget
        self.id = id
    }

    deinit { budget.end(id) { [id] in $0.remove(id) } }

    /// The limit of the budget and the size of all bodies, in bytes.
    var limit: Int { budget.limit }
    var used: Int { budget.used }

    func arrive(group: Int?) -> BodyBudgetStateMachine.Decision { budget.arrive(id, group: group) }

    func record(_ bytes: Int) { budget.charge(id, bytes) }

    func setPriority(_ priority: RequestPriority) { budget.change { [id] in $0.setPriority(id, priority) } }

    /// Ends the transfer. The body remains charged.
    func finish() { budget.end(id) { [id] in $0.finish(id) } }
}
