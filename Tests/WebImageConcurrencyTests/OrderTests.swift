// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTPTesting
import WebImageTestSupport

/// Tests in which two changes overlap. A gate blocks the delivery of the first change while the second one is made.
@Suite("Order of live values", .timeLimit(.minutes(5)))
struct OrderTests {
    private typealias Jobs = SharedJobs<String, Int, Int, RequestPriority, ImageError>

    /// Runs `body` on a dedicated thread, which it may block. The returned gate opens when `body` returns.
    private func onThread(_ body: @escaping @Sendable () -> Void) -> TestGate {
        let isOver = TestGate()
        Thread {
            body()
            isOver.open()
        }.start()
        return isOver
    }

    @Test("The last value that an observer receives is the last value that was set")
    func observedValue() async {
        let value = ObservableValue(0)
        let applied = Shared<[Int]>([])
        let (isDelivering, mayGoOn) = (TestGate(), TestGate())
        let token = value.observe {
            let seen = value.value
            if seen == 1 {
                isDelivering.open()
                mayGoOn.blockingWait()
            }
            applied.update { $0.append(seen) }
        }
        let first = onThread { value.value = 1 }
        await isDelivering.wait()
        let second = onThread { value.value = 2 }
        await second.wait()
        mayGoOn.open()
        await first.wait()
        value.stopObserving(token)
        #expect(applied.value == [1, 2])
    }

    @Test("N-08: Work receives the latest priority last, even if two subscribers change theirs at the same time")
    func jobPriority() async throws {
        let jobs = Jobs(cancelled: .cancelled)
        let (one, other) = (ObservableValue(RequestPriority.low), ObservableValue(RequestPriority.low))
        let applied = Shared<[RequestPriority]>([])
        let (isObserved, isDelivering, mayGoOn, mayEnd) = (TestGate(), TestGate(), TestGate(), TestGate())
        let waiting = [one, other].map { priority in
            Task {
                try await jobs.value(for: "a", priority: priority) { context in
                    let token = context.priority.observe {
                        let seen = context.priority.value
                        if seen == .high {
                            isDelivering.open()
                            mayGoOn.blockingWait()
                        }
                        applied.update { $0.append(seen) }
                    }
                    isObserved.open()
                    await mayEnd.wait()
                    context.priority.stopObserving(token)
                    return .success(1)
                }
            }
        }
        await isObserved.wait()
        await untilTrue { jobs.subscriberCount(of: "a") == 2 }
        let first = onThread { one.value = .high }
        await isDelivering.wait()
        let second = onThread { other.value = .veryHigh }
        await second.wait()
        mayGoOn.open()
        await first.wait()
        #expect(applied.value == [.high, .veryHigh])
        mayEnd.open()
        for task in waiting { _ = try await task.value }
    }

    @Test("Updates reach a subscriber in the order of the reports, and the result follows them")
    func jobUpdates() async throws {
        let jobs = Jobs(cancelled: .cancelled)
        let heard = Shared<[Int]>([])
        let (isDelivering, mayGoOn, secondReported) = (TestGate(), TestGate(), TestGate())
        let waiting = Task {
            let value = try await jobs.value(
                for: "a", priority: ObservableValue(.normal),
                onUpdate: { update in
                    if update == 1 {
                        isDelivering.open()
                        mayGoOn.blockingWait()
                    }
                    heard.update { $0.append(update) }
                },
                start: { context in
                    let first = onThread { context.report(1) }
                    await isDelivering.wait()
                    let second = onThread { context.report(2) }
                    await second.wait()
                    secondReported.open()
                    await first.wait()
                    return .success(3)
                })
            heard.update { $0.append(value) }
        }
        await secondReported.wait()
        mayGoOn.open()
        try await waiting.value
        #expect(heard.value == [1, 2, 3])
    }

    @Test("N-32: A late subscriber receives the current state before later updates")
    func lateJoiner() async throws {
        let jobs = Jobs(cancelled: .cancelled)
        let heard = Shared<[Int]>([])
        let (isReported, isDelivering, mayGoOn, mayEnd) = (TestGate(), TestGate(), TestGate(), TestGate())
        let report = Shared<(@Sendable (Int) -> Void)?>(nil)
        let first = Task {
            try await jobs.value(for: "a", priority: ObservableValue(.normal)) { context in
                report.value = context.report
                context.report(1)
                isReported.open()
                await mayEnd.wait()
                return .success(0)
            }
        }
        await isReported.wait()
        // The update handler blocks while it joins, so it needs a thread outside the cooperative pool.
        let second = Task(executorPreference: ThreadExecutor()) {
            try await jobs.value(
                for: "a", priority: ObservableValue(.normal),
                onUpdate: { update in
                    if update == 1 {
                        isDelivering.open()
                        mayGoOn.blockingWait()
                    }
                    heard.update { $0.append(update) }
                }
            ) { _ in .success(0) }
        }
        await isDelivering.wait()
        let next = onThread { report.value?(2) }
        await next.wait()
        mayGoOn.open()
        await untilTrue { heard.value.count == 2 }
        #expect(heard.value == [1, 2])
        mayEnd.open()
        _ = try await (first.value, second.value)
    }
}

/// An executor that runs tasks on a libdispatch thread, where they may block.
private final class ThreadExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "test")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
