// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// The processes that decode for this program.
///
/// Each helper serves one request at a time. A thread, the keeper, starts helpers ahead of demand, frees their memory,
/// and ends them after a time without work or after a number of requests.
package final class HelperPool: Sendable {
    /// The settings of a pool.
    package struct Configuration: Sendable, Hashable {
        /// The path of the helper.
        package var path: String
        /// The maximum number of helpers.
        package var maxHelpers: Int
        /// The number of requests after which a helper is replaced.
        package var recycleAfter: Int
        /// The maximum address space of a helper, in bytes. Each request sets a lower limit (`HelperMemory`).
        package var memoryLimit: Int
        /// The maximum memory that the requests of all helpers use together, in bytes (`HelperMemoryBudget`).
        package var memoryBudget: Int
        /// The time without work after which helpers end.
        package var idleTime: Duration
        /// The times for which the program waits for a helper beyond the limits.
        package var patience: HelperPatience

        /// Creates settings.
        package init(
            path: String, maxHelpers: Int = 4, recycleAfter: Int = 500, memoryLimit: Int = 4 << 30,
            memoryBudget: Int = .max, idleTime: Duration = .seconds(30), patience: HelperPatience = HelperPatience()
        ) {
            self.path = path
            self.maxHelpers = max(1, maxHelpers)
            self.recycleAfter = max(1, recycleAfter)
            self.memoryLimit = max(64 << 20, memoryLimit)
            self.memoryBudget = max(1, memoryBudget)
            self.idleTime = idleTime
            self.patience = patience
        }
    }

    /// The reason why no helper can be used.
    enum Unavailable: Error {
        case helper(reason: String)
        case image(ImageError)
    }

    fileprivate struct State {
        var idle: [HelperProcess] = []
        /// The numbers of the helpers in use.
        var busy: Set<UInt64> = []
        /// The number of threads that wait for a helper.
        var waiting: [HelperKind: Int] = [:]
        /// The kinds of which a helper is started ahead of the next request.
        var spare: Set<HelperKind> = []
        var starting = 0
        /// The threads that use a helper, with their number of helpers.
        var holders: [UInt: Int] = [:]
        /// The number of waiting threads that already use a helper. Each of them may exceed the limit.
        var nested = 0
        var ended: [HelperProcess] = []
        var closings: [UInt64: [UInt64]] = [:]
        /// The reason why the last start failed, and its time.
        var failure: (reason: String, at: Double)?
        var crashed = CrashMemory()
        var breaker = CrashBreakerStateMachine()
        var memory: HelperMemoryBudget
        var hasKeeper = false
        var isClosed = false

        var count: Int { idle.count + busy.count + starting }
    }

    /// The settings.
    package let configuration: Configuration
    private let condition: ConditionVariable<State>
    private let requests = Counter()
    /// The source of the time in which crashes are counted.
    private let time: TimeSource

    /// The size from which a helper is replaced after a pause, because its memory is fragmented.
    private static let largeSize = 32 << 20
    /// The pause after which the memory of helpers is freed.
    fileprivate static let pause = Duration.seconds(2)
    /// The time for which a failure to start is remembered.
    private static let retryInterval = 30.0

    /// Creates a pool without helpers.
    package init(_ configuration: Configuration, time: TimeSource = .system) {
        self.configuration = configuration
        condition = ConditionVariable(State(memory: HelperMemoryBudget(limit: configuration.memoryBudget)))
        self.time = time
    }

    deinit { condition.withLock(wakeAll: true) { $0.isClosed = true } }

    private static let shared = Lock<[Configuration: HelperPool]>([:])

    /// Returns the pool of this process for a configuration.
    package static func shared(_ configuration: Configuration) -> HelperPool {
        shared.withLock { pools in
            if let pool = pools[configuration] { return pool }
            let pool = HelperPool(configuration)
            pools[configuration] = pool
            return pool
        }
    }

    // MARK: Use

    /// Calls `body` with a helper that no other thread uses. `preferred` is the number of the helper that has the
    /// session, and the memory is in bytes. The context determines the cancellation while the thread waits, and the
    /// number of threads for the work.
    func withHelper<Result>(
        _ kind: HelperKind, preferred: UInt64? = nil, memory: Int, context: ImageProcessingContext,
        _ body: (HelperProcess) throws(HelperFailure) -> Result
    ) throws(Unavailable) -> Swift.Result<Result, HelperFailure> {
        let order = Order(
            kind: kind, preferred: preferred, thread: UInt(pthread_self()), number: requests.next(), memory: memory)
        let helper = try borrow(order, context)
        // Only the thread that has the helper may use its socket, so the messages about closed sessions wait until
        // here.
        let closings = condition.withLock { $0.closings.removeValue(forKey: helper.number) ?? [] }
        let result: Swift.Result<Result, HelperFailure>
        do throws(HelperFailure) {
            for session in closings {
                try helper.send(MessageHead(.closeSession, request: session).serialized())
            }
            result = .success(try body(helper))
        } catch {
            result = .failure(error)
        }
        giveBack(helper, order)
        return result
    }

    /// Starts a helper, so that the first request doesn't wait.
    package func prepare(_ kind: HelperKind) {
        condition.withLock(wakeAll: true) { state in _ = state.spare.insert(kind) }
        startKeeper()
    }

    /// Returns the layers that confine a helper of this kind, or the reason why there's no helper. This method blocks.
    package func report(_ kind: HelperKind) -> (report: IsolationReport?, reason: String?) {
        do throws(Unavailable) {
            let result = try withHelper(kind, memory: 0, context: ImageProcessingContext(limits: .unlimited)) {
                $0.report
            }
            return (try? result.get(), nil)
        } catch {
            if case .helper(let reason) = error { return (nil, reason) }
            return (nil, nil)
        }
    }

    /// The numbers of the running processes.
    package var processes: [pid_t] { condition.withLock { state in state.idle.map(\.id) } }

    /// Waits until the keeper has freed the memory of all idle helpers, or ended them. Returns `false` after the time.
    package func awaitTrim(upTo time: Duration) -> Bool {
        condition.wait(upTo: time) { state in
            state.busy.isEmpty && state.starting == 0 && state.idle.allSatisfy(\.isTrimmed) ? .proceed(true) : .wait
        } ?? false
    }

    var unavailability: String? {
        condition.withLock { state in
            guard let failure = state.failure, time.uptime() - failure.at < Self.retryInterval else { return nil }
            return failure.reason
        }
    }

    /// Tells the helper that a session isn't needed any longer, before its next request.
    func close(session: UInt64, of helper: UInt64) {
        condition.withLock(wakeAll: true) { state in
            guard state.busy.contains(helper) || state.idle.contains(where: { $0.number == helper }) else { return }
            state.closings[helper, default: []].append(session)
        }
    }

    /// The order of a thread for a helper.
    private struct Order {
        let kind: HelperKind
        let preferred: UInt64?
        let thread: UInt
        let number: UInt64
        let memory: Int
    }

    private func borrow(
        _ order: Order, _ context: ImageProcessingContext
    ) throws(Unavailable) -> HelperProcess {
        var isWaiting = false
        defer { if isWaiting { stopWaiting(order) } }
        while true {
            let taken = condition.withLock(wakeAll: true) { state in take(order, &state, &isWaiting) }
            // The keeper starts with the first request, so a program that isolates nothing has no additional thread.
            startKeeper()
            var found = taken
            if found == nil {
                // Stop waiting regularly, because a cancellation of the request doesn't signal the condition.
                found = condition.wait(upTo: .milliseconds(20)) { state in
                    take(order, &state, &isWaiting).map { .proceed($0) } ?? .wait
                }
            }
            switch found {
            case .success(let helper):
                // A message without a request would be mistaken for the response to the next request.
                guard helper.hasUnexpectedMessage else {
                    // Only the budget needs the lock. Setting the limit of the process takes system calls.
                    let growth = condition.withLock { $0.memory.allowance(for: order.memory) }
                    helper.limitMemory(growth: growth, threadCount: context.threadCount)
                    return helper
                }
                helper.kill()
                giveBack(helper, order)
            case .failure(let reason): throw .helper(reason: reason.reason)
            case nil:
                do throws(ImageError) { try context.checkCancellation() } catch { throw .image(error) }
            }
        }
    }

    private func take(
        _ order: Order, _ state: inout State, _ isWaiting: inout Bool
    ) -> Swift.Result<HelperProcess, HelperStartFailure>? {
        let kind = order.kind
        let isNested = state.holders[order.thread] != nil
        let place =
            // Any other helper would have to decode the data of the session again. Otherwise, prefer the helper that
            // was used last, so that the others reach the time after which they free their memory or end.
            state.idle.firstIndex { $0.number == order.preferred }
            ?? state.idle.lastIndex { $0.kind == kind }
            ?? state.idle.lastIndex { $0.kind.serves(kind) }
        if let place {
            if state.memory.admit(order.number, need: order.memory, isNested: isNested) {
                let helper = state.idle.remove(at: place)
                state.busy.insert(helper.number)
                state.holders[order.thread, default: 0] += 1
                if isWaiting {
                    isWaiting = false
                    state.waiting[kind, default: 1] -= 1
                    if isNested { state.nested -= 1 }
                }
                // Start another helper ahead of the next request.
                state.spare.insert(kind)
                return .success(helper)
            }
            // The request waits for memory. A failure to start another helper doesn't matter to it.
        } else if let failure = state.failure {
            // Each attempt can take seconds, so the requests of this interval fail immediately.
            if time.uptime() - failure.at < Self.retryInterval {
                return .failure(HelperStartFailure(failure.reason))
            }
            state.failure = nil
        }
        if !isWaiting {
            isWaiting = true
            state.waiting[kind, default: 0] += 1
            if isNested { state.nested += 1 }
        }
        return nil
    }

    private func stopWaiting(_ order: Order) {
        condition.withLock(wakeAll: true) { state in
            state.waiting[order.kind, default: 1] -= 1
            if state.holders[order.thread] != nil { state.nested -= 1 }
            // Otherwise, the request would block the requests after it in the queue.
            state.memory.remove(order.number)
        }
    }

    private func giveBack(_ helper: HelperProcess, _ order: Order) {
        // The system limits the processor time of a process, not that of a request. Replace the helper long before the
        // limit could end a request.
        if helper.uses >= configuration.recycleAfter || helper.processorTime > HelperLifetime.recycledAfter {
            helper.kill()
        }
        helper.idleSince = .now
        condition.withLock(wakeAll: true) { state in
            state.busy.remove(helper.number)
            state.memory.release(need: order.memory)
            if let count = state.holders[order.thread] { state.holders[order.thread] = count > 1 ? count - 1 : nil }
            if helper.isEnded {
                state.closings[helper.number] = nil
                state.ended.append(helper)
            } else {
                state.idle.append(helper)
            }
        }
    }

    // MARK: Crashes

    var hasCrashes: Bool { condition.withLock { !$0.crashed.isEmpty } }

    func hasCrashed(_ data: Data) -> Bool {
        guard condition.withLock({ $0.crashed.mayContain(data.count) }) else { return false }
        // The digest of large data takes time, so compute it only if the size matches, and without the lock.
        let digest = CrashMemory.digest(of: data)
        return condition.withLock { $0.crashed.contains(digest) }
    }

    /// Returns the time for which the coders of a format may not be used because they crashed too often, or `nil`.
    func suspension(of format: String) -> CrashBreakerStateMachine.Suspension? {
        guard condition.withLock({ !$0.breaker.isEmpty }) else { return nil }
        let now = time.uptime()
        return condition.withLock { $0.breaker.suspension(of: format, at: now) }
    }

    func countCrash(of format: String) {
        let now = time.uptime()
        condition.withLock { $0.breaker.recordCrash(of: format, at: now) }
    }

    func rememberCrash(of data: Data) {
        // An image that's encoded has no data.
        guard !data.isEmpty else { return }
        let digest = CrashMemory.digest(of: data)
        condition.withLock { $0.crashed.insert(digest, count: data.count) }
    }

    // MARK: Keeper

    private func startKeeper() {
        let isNew = condition.withLock { state in
            defer { state.hasKeeper = true }
            return !state.hasKeeper
        }
        guard isNew else { return }
        // The keeper must not retain the pool, whose deallocation ends the keeper.
        let keeper = HelperKeeper(condition: condition, configuration: configuration, time: time)
        let thread = Thread { keeper.run() }
        thread.name = "webimage-helpers"
        thread.start()
    }

    /// The thread that starts and ends helpers. It lives as long as the pool, because a helper is killed at the end of
    /// the thread that started it.
    private struct HelperKeeper: Sendable {
        let condition: ConditionVariable<State>
        let configuration: Configuration
        let time: TimeSource

        private enum Job {
            case start(HelperKind)
            case collect([HelperProcess])
            case maintain([HelperProcess])
            case stop([HelperProcess])
        }

        func run() {
            while true {
                switch nextJob() {
                case .start(let kind): start(kind)
                case .collect(let helpers): for helper in helpers { helper.reap(milliseconds: 1_000) }
                case .maintain(let helpers): maintain(helpers)
                case .stop(let helpers):
                    for helper in helpers { helper.kill() }
                    return
                case nil: break
                }
            }
        }

        private func nextJob() -> Job? {
            let isUnused = condition.withLock { $0.count == 0 && $0.ended.isEmpty }
            // Helpers have no timers, so check their times every second. If there are none, only a request or the end
            // of the pool matters.
            return condition.wait(upTo: .seconds(isUnused ? 3_600 : 1)) { state in
                if state.isClosed {
                    let all = state.idle + state.ended
                    state.idle = []
                    state.ended = []
                    return .proceed(.stop(all))
                }
                // Start helpers before other jobs, because threads wait for them.
                if let kind = kindToStart(&state) { return .proceed(.start(kind)) }
                if !state.ended.isEmpty {
                    defer { state.ended = [] }
                    return .proceed(.collect(state.ended))
                }
                let paused = state.idle.filter { helper in
                    let time = helper.idleSince.duration(to: .now)
                    return time >= configuration.idleTime || time >= HelperPool.pause && !helper.isTrimmed
                        || state.closings[helper.number] != nil
                }
                guard !paused.isEmpty else { return .wait }
                // No thread may take a helper while the keeper uses its socket and its memory.
                for helper in paused { state.busy.insert(helper.number) }
                state.idle.removeAll { helper in paused.contains { $0 === helper } }
                return .proceed(.maintain(paused))
            }
        }

        private func kindToStart(_ state: inout State) -> HelperKind? {
            for kind in HelperKind.allCases {
                guard !state.idle.contains(where: { $0.kind.serves(kind) }) else {
                    state.spare.remove(kind)
                    continue
                }
                guard state.waiting[kind] ?? 0 > 0 else {
                    // Only a waiting request replaces other helpers. A helper that is started ahead of demand needs a
                    // free slot.
                    guard state.spare.remove(kind) != nil, state.count < configuration.maxHelpers else { continue }
                    state.starting += 1
                    return kind
                }
                if state.count >= configuration.maxHelpers + state.nested {
                    // Replace an idle helper of another kind.
                    guard let other = state.idle.firstIndex(where: { !$0.kind.serves(kind) }) else { continue }
                    let helper = state.idle.remove(at: other)
                    helper.kill()
                    state.ended.append(helper)
                }
                state.starting += 1
                return kind
            }
            return nil
        }

        private func start(_ kind: HelperKind) {
            // The start takes several milliseconds, so it runs without the lock, and other threads can return their
            // helpers.
            let result = Result { () throws(HelperStartFailure) in
                try HelperProcess.start(
                    kind, path: configuration.path, memoryLimit: configuration.memoryLimit,
                    patience: configuration.patience, timeout: .seconds(10))
            }
            condition.withLock(wakeAll: true) { state in
                state.starting -= 1
                switch result {
                case .success(let helper):
                    state.failure = nil
                    state.idle.append(helper)
                case .failure(let failure): state.failure = (failure.reason, time.uptime())
                }
            }
        }

        private func maintain(_ helpers: [HelperProcess]) {
            for helper in helpers {
                let time = helper.idleSince.duration(to: .now)
                let isLarge = helper.largestSize > HelperPool.largeSize && time >= HelperPool.pause
                let closings = condition.withLock { $0.closings.removeValue(forKey: helper.number) ?? [] }
                for session in closings {
                    // If the helper has ended, the next thread that takes it notices.
                    try? helper.send(MessageHead(.closeSession, request: session).serialized())
                }
                if isLarge || time >= configuration.idleTime {
                    helper.kill()
                } else if time >= HelperPool.pause {
                    helper.trim()
                }
                condition.withLock(wakeAll: true) { state in
                    state.busy.remove(helper.number)
                    if helper.isEnded { state.ended.append(helper) } else { state.idle.append(helper) }
                }
            }
        }
    }
}

/// The limits of the lifetime of a helper.
enum HelperLifetime {
    /// The processor time after which a helper is replaced.
    static let recycledAfter = Duration.seconds(300)
    /// The processor time after which the system ends a helper, in seconds. It only matters if the program can't end it.
    static let seconds: UInt64 = 900
}
