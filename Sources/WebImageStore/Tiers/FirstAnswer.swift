// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// The first of several questions that is answered; who asked does not wait for the others, which are cancelled.
final class FirstAnswer<Value: Sendable>: Sendable {
    private struct State {
        var waiter: CheckedContinuation<Value?, Never>?
        var result: Value??
        var open: Int
        var tasks: [Task<Void, Never>] = []
    }

    private let state: Lock<State>

    private init(count: Int) { state = Lock(State(open: count)) }

    /// Asks all `questions` at once; nil when none has an answer, or when the calling task is cancelled first.
    static func of(_ questions: [@Sendable () async -> Value?]) async -> Value? {
        guard !questions.isEmpty else { return nil }
        let race = FirstAnswer(count: questions.count)
        for question in questions {
            let task = Task { race.take(await question()) }
            let isOver = race.state.withLock { state -> Bool in
                state.tasks.append(task)
                return state.result != nil
            }
            if isOver { task.cancel() }
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { race.wait($0) }
        } onCancel: {
            race.end(with: nil)
        }
    }

    private func wait(_ continuation: CheckedContinuation<Value?, Never>) {
        let result = state.withLock { state -> Value?? in
            if state.result == nil { state.waiter = continuation }
            return state.result
        }
        if let result { continuation.resume(returning: result) }
    }

    private func take(_ value: Value?) {
        let isLast = state.withLock { state -> Bool in
            state.open -= 1
            return state.open == 0
        }
        if value != nil || isLast { end(with: value) }
    }

    private func end(with value: Value?) {
        let (waiter, tasks) = state.withLock { state -> (CheckedContinuation<Value?, Never>?, [Task<Void, Never>]) in
            guard state.result == nil else { return (nil, []) }
            state.result = .some(value)
            defer {
                state.waiter = nil
                state.tasks = []
            }
            return (state.waiter, state.tasks)
        }
        waiter?.resume(returning: value)
        for task in tasks { task.cancel() }
    }
}
