// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore

/// A lookup that continues while other work that can replace it runs. The lookup is canceled when this object is
/// deallocated. This class is thread-safe.
final class HedgedLookup<Value: Sendable>: Sendable {
    /// The state of the lookup when the request stops waiting for it alone.
    enum FirstAnswer: Sendable {
        case finished(Value?)
        case delayed
    }

    private let first = Promise<FirstAnswer>()
    private let result = Promise<Value?>()
    private let task: Task<Void, Never>

    /// Starts a lookup. The closure calls its argument if the lookup takes longer than usual.
    init(_ body: @escaping @Sendable (_ onDelay: @escaping @Sendable () -> Void) async -> Value?) {
        task = inheritingTask { [first, result] in
            let value = await body { first.resolve(.delayed) }
            result.resolve(value)
            first.resolve(.finished(value))
        }
    }

    deinit { task.cancel() }

    func firstAnswer() async -> FirstAnswer { await first.outcome { [first] in first.resolve(.finished(nil)) } }

    private enum Answer: Sendable {
        case lookup(Value?)
        case other
    }

    /// Returns the first usable result: that of the work, or that of the lookup if `accept` returns one. The slower of
    /// them is canceled. If the work fails, the lookup can still replace it.
    ///
    /// If `accept` returned nothing for the value of the lookup, this value is returned, too.
    func race<Output: Sendable>(
        _ work: @escaping @Sendable () async throws(ImageError) -> Output, accept: (Value) -> Output?
    ) async -> (result: Result<Output, ImageError>, rejected: Value?) {
        let output = Promise<Result<Output, ImageError>>()
        let answer = Promise<Answer>()
        // Only one task at a time can wait for a promise, so the lookup's result has a second one.
        let late = Promise<Value?>()
        let running = inheritingTask {
            do throws(ImageError) {
                output.resolve(.success(try await work()))
            } catch {
                output.resolve(.failure(error))
            }
            answer.resolve(.other)
        }
        let waiting = inheritingTask { [result] in
            let value = await result.outcome { result.resolve(nil) }
            late.resolve(value)
            answer.resolve(.lookup(value))
        }
        defer {
            running.cancel()
            waiting.cancel()
        }
        let cancel: @Sendable () -> Void = {
            output.resolve(.failure(.cancelled))
            answer.resolve(.other)
        }
        var rejected: Value?
        if case .lookup(let value) = await answer.outcome(onCancel: cancel) {
            if let value, let found = accept(value) { return (.success(found), nil) }
            rejected = value
            return (await output.outcome(onCancel: cancel), rejected)
        }
        let finished = await output.outcome(onCancel: cancel)
        guard case .failure(let error) = finished, error != .cancelled else { return (finished, nil) }
        let value = await late.outcome { late.resolve(nil) }
        if let value, let found = accept(value) { return (.success(found), nil) }
        return (finished, value)
    }
}

/// The report that a tier takes longer than usual to look up an entry.
struct LookupDelay: Sendable {}
