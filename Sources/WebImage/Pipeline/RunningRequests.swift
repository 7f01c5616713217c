// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The running tasks of a manager. This class is thread-safe.
///
/// Each entry belongs to an ``ImageTask``, also if the application receives data or nothing, because such a task can be
/// canceled from any thread.
final class RunningTaskRegistry: Sendable {
    /// A running task.
    struct Entry: Sendable {
        /// The number of the task, in the order of the starts.
        let number: Int
        let task: ImageTask
        let kind: ImageManager.RunningTask.Kind
        /// Whether the task is a part of another one and isn't listed.
        let isPart: Bool
    }

    private struct State {
        var last = 0
        var entries: [ObjectIdentifier: Entry] = [:]
    }

    private let state = Lock(State())

    /// The tasks that aren't finished, in the order in which they started.
    var unfinished: [Entry] {
        let entries = state.withLock { Array($0.entries.values) }
        // A canceled task is finished although its work may still be ending.
        return entries.filter { $0.task.result == nil }.sorted { $0.number < $1.number }
    }

    func begin(_ task: ImageTask, _ kind: ImageManager.RunningTask.Kind, isPart: Bool = false) {
        state.withLock { state in
            state.last += 1
            state.entries[ObjectIdentifier(task)] = Entry(
                number: state.last, task: task, kind: kind, isPart: isPart)
        }
    }

    func end(_ task: ImageTask) {
        state.discard { $0.entries.removeValue(forKey: ObjectIdentifier(task)) }
    }
}

/// The different requests in flight, if their number is limited. This class is thread-safe.
final class InFlightLimiter: Sendable {
    /// The key of a request. Requests with equal keys count as one.
    struct Key: Hashable, Sendable {
        let final: CacheKey.Digest
        let encoding: ImageEncoding?
    }

    private let requests = Lock<[Key: Int]>([:])

    /// The number of different requests in flight.
    var count: Int { requests.withLock { $0.count } }

    /// Admits a request if an equal request is in flight or fewer than `limit` different requests are.
    func enter(_ key: Key, limit: Int) throws(ImageError) {
        let full = requests.withLock { requests -> Int? in
            guard requests[key] != nil || requests.count < limit else { return requests.count }
            requests[key, default: 0] += 1
            return nil
        }
        if let full { throw .limitExceeded(ImageError.LimitFailure(.overloaded, limit: limit, actual: full + 1)) }
    }

    func leave(_ key: Key) {
        requests.withLock { requests in
            guard let count = requests[key] else { return }
            requests[key] = count > 1 ? count - 1 : nil
        }
    }
}

/// The state that indicates whether callers are waiting for requests. Prefetch requests don't count. This class is
/// thread-safe.
final class VisibleRequestTracker: Sendable {
    /// The count is atomic because every request changes it twice, on different threads. The observed value changes
    /// only with the first and the last of concurrent requests.
    private let count = Atomic(0)
    private let busy = ObservableValue(false)

    var isBusy: Bool { busy.value }

    func enter() {
        if count.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue == 0 { publish() }
    }

    func leave() {
        if count.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue == 0 { publish() }
    }

    /// Updates the observed value. It reads the count under the lock of the observed value, so the later of two
    /// concurrent calls publishes the current state.
    private func publish() { busy.update { $0 = count.load(ordering: .sequentiallyConsistent) > 0 } }

    /// Calls `observer` after every change of ``isBusy`` until ``stopObserving(_:)``. The observer reads the value
    /// itself.
    func observe(_ observer: @escaping @Sendable () -> Void) -> Int { busy.observe(observer) }

    func stopObserving(_ token: Int) { busy.stopObserving(token) }
}
