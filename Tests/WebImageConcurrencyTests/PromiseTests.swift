// SPDX-License-Identifier: MIT

import Testing
import WebImageConcurrency
import WebImageCore
import WebImageHTTPTesting
import WebImageTestSupport

@Suite("Promise", .timeLimit(.minutes(5)))
struct PromiseTests {
    @Test("The first outcome counts, whether it arrives before or after the wait begins")
    func firstCounts() async {
        let early = Promise<Int>()
        #expect(!early.isResolved)
        #expect(early.resolve(1))
        #expect(!early.resolve(2))
        #expect(early.isResolved)
        #expect(await early.outcome(onCancel: {}) == 1)

        let late = Promise<Int>()
        async let outcome = late.outcome(onCancel: {})
        #expect(late.resolve(3))
        #expect(!late.resolve(4))
        #expect(await outcome == 3)
    }

    @Test("A canceled wait ends with the outcome that its cancellation handler resolves")
    func cancelled() async {
        let promise = Promise<Result<Int, ImageError>>()
        let waiting = Task { try await promise.value { promise.resolve(.failure(.cancelled)) } }
        waiting.cancel()
        await #expect(throws: ImageError.cancelled) { try await waiting.value }
    }

    #if DEBUG
        @Test("A second waiting task fails an assertion")
        func secondWaiter() async {
            await #expect(processExitsWith: .failure) {
                let promise = Promise<Int>()
                await withTaskGroup(of: Int.self) { group in
                    for _ in 0..<2 { group.addTask { await promise.outcome(onCancel: {}) } }
                }
            }
        }
    #endif

    @Test("If many tasks resolve a promise at the same time, exactly one succeeds")
    func race() async {
        for _ in 0..<200 {
            let promise = Promise<Int>()
            let winners = await withTaskGroup(of: Int?.self) { group in
                for number in 0..<8 { group.addTask { promise.resolve(number) ? number : nil } }
                return await group.reduce(into: [Int]()) { if let number = $1 { $0.append(number) } }
            }
            #expect(winners.count == 1)
            #expect(await promise.outcome(onCancel: {}) == winners.first)
        }
    }
}
