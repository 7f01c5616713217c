// SPDX-License-Identifier: MIT

import Synchronization
import WebImage
import WebImageConcurrency

/// The running responses of a handler, which a shutdown waits for and then cancels. This class is thread-safe.
final class RunningResponses: Sendable {
    private struct State {
        var isStopping = false
        var isStopped = false
        var count = 0
        var tasks: [Int: Task<ServerResponse, Never>] = [:]
        var idle: [Promise<Void>] = []
        var stopped: [Promise<Void>] = []
    }

    private let state = Lock(State())
    private let time: TimeSource

    init(time: TimeSource = .system) { self.time = time }

    /// Whether the handler accepts no further responses.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Runs the work of a response, and returns its result, or `nil` if the handler doesn't accept responses or canceled
    /// this one.
    func perform(_ work: @escaping @Sendable () async -> ServerResponse) async -> ServerResponse? {
        let started = state.withLock { state -> (number: Int, task: Task<ServerResponse, Never>)? in
            guard !state.isStopping else { return nil }
            state.count += 1
            // An unstructured task can be canceled from outside. It inherits the priority and the task-local values.
            let task = Task(operation: work)
            state.tasks[state.count] = task
            return (state.count, task)
        }
        guard let started else { return nil }
        let response = await withTaskCancellationHandler {
            await started.task.value
        } onCancel: {
            started.task.cancel()
        }
        let idle = state.withLock { state -> [Promise<Void>]? in
            // A canceled response was removed before.
            guard state.tasks.removeValue(forKey: started.number) != nil else { return nil }
            guard state.tasks.isEmpty else { return [] }
            defer { state.idle = [] }
            return state.idle
        }
        for promise in idle ?? [] { promise.resolve(()) }
        return idle == nil ? nil : response
    }

    /// Waits until the handler is stopped. If the current task is canceled, this method stops it immediately.
    func waitUntilStopped() async {
        let promise = Promise<Void>()
        let isStopped = state.withLock { state in
            if !state.isStopped { state.stopped.append(promise) }
            return state.isStopped
        }
        guard !isStopped else { return }
        await promise.outcome { self.finish() }
    }

    func stop(deadline: Duration) async {
        let promise = Promise<Void>()
        let isIdle = state.withLock { state in
            state.isStopping = true
            if !state.tasks.isEmpty { state.idle.append(promise) }
            return state.tasks.isEmpty
        }
        if !isIdle {
            let timer = Task { [time] in
                await time.sleep(seconds: deadline / .seconds(1))
                promise.resolve(())
            }
            await promise.outcome { promise.resolve(()) }
            timer.cancel()
        }
        finish()
    }

    private func finish() {
        let (tasks, waiting) = state.withLock { state in
            (state.isStopping, state.isStopped) = (true, true)
            defer { (state.tasks, state.stopped) = ([:], []) }
            return (Array(state.tasks.values), state.stopped)
        }
        for task in tasks { task.cancel() }
        for promise in waiting { promise.resolve(()) }
    }
}
