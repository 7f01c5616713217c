// SPDX-License-Identifier: MIT

import Synchronization
import Testing
import WebImageConcurrency
import WebImageCore

@Suite("Timeouts for processor time")
struct WorkTimerTests {
    /// Clocks that tests set.
    private final class Clocks: Sendable {
        struct Times: Sendable {
            var elapsed = Duration.zero
            var processor = Duration.zero
            var thread: UInt = 1
        }

        let times = Lock(Times())

        var clock: WorkClock {
            WorkClock(
                elapsedTime: { self.times.withLock { $0.elapsed } },
                processorTime: { self.times.withLock { $0.processor } }, thread: { self.times.withLock { $0.thread } })
        }

        func set(elapsed: Int, processor: Int, thread: UInt = 1) {
            times.withLock { $0 = Times(elapsed: .seconds(elapsed), processor: .seconds(processor), thread: thread) }
        }
    }

    /// Returns the violation that a check reports, or `nil` if there's none.
    private func violation(_ context: ImageProcessingContext) -> ImageError.LimitFailure? {
        do throws(ImageError) {
            try context.checkCancellation()
            return nil
        } catch {
            guard case .limitExceeded(let failure) = error else { return nil }
            return failure
        }
    }

    @Test("The processor time of a library's threads counts, up to the elapsed time of the threads")
    func libraryThreads() {
        for (used, remaining) in [(5, 5), (50, 0)] {
            let clocks = Clocks()
            let process = Lock(Duration.zero)
            var clock = clocks.clock
            clock.processTime = { process.withLock { $0 } }
            let context = ImageProcessingContext(limits: .desktop, threadCount: 2, clock: clock)
            context.countingThreads {
                clocks.set(elapsed: 5, processor: 2)
                process.withLock { $0 = .seconds(used) }
            }
            #expect(context.remainingTime == .seconds(remaining))
        }
    }

    @Test("Time without work doesn't count")
    func waiting() {
        let clocks = Clocks()
        clocks.set(elapsed: 50, processor: 7)
        let context = ImageProcessingContext(limits: .desktop, clock: clocks.clock)
        clocks.set(elapsed: 1_000, processor: 17)
        #expect(violation(context) == nil)
        clocks.set(elapsed: 1_001, processor: 18)
        #expect(violation(context) == ImageError.LimitFailure(.decodingTime, limit: 10_000, actual: 11_000))
    }

    @Test("The times of all threads are added, from the first check on each thread")
    func threads() {
        let clocks = Clocks()
        let context = ImageProcessingContext(limits: .desktop, clock: clocks.clock)
        clocks.set(elapsed: 6, processor: 6)
        #expect(violation(context) == nil)
        clocks.set(elapsed: 7, processor: 100, thread: 2)
        #expect(violation(context) == nil)
        clocks.set(elapsed: 9, processor: 102, thread: 2)
        #expect(violation(context) == nil)
        clocks.set(elapsed: 10, processor: 8)
        #expect(violation(context) == nil)
        clocks.set(elapsed: 11, processor: 103, thread: 2)
        #expect(violation(context) == ImageError.LimitFailure(.decodingTime, limit: 10_000, actual: 11_000))
    }

    @Test("A timeout of zero also applies on a thread that hasn't worked yet")
    func zero() {
        let clocks = Clocks()
        var limits = ImageLimits.desktop
        limits.maxDecodingTime = .zero
        let context = ImageProcessingContext(limits: limits, clock: clocks.clock)
        clocks.set(elapsed: 0, processor: 0, thread: 2)
        #expect(violation(context)?.kind == .decodingTime)
    }

    @Test("Encoding has a timeout of its own, which doesn't begin again for nested encodes")
    func encoding() {
        let clocks = Clocks()
        var limits = ImageLimits.desktop
        limits.maxDecodingTime = .seconds(1)
        limits.maxEncodingTime = .seconds(20)
        let context = ImageProcessingContext(limits: limits, clock: clocks.clock)
        clocks.set(elapsed: 5, processor: 5)
        #expect(violation(context)?.kind == .decodingTime)
        let encoding = context.forEncoding()
        clocks.set(elapsed: 25, processor: 25)
        #expect(violation(encoding) == nil)
        let nested = encoding.forEncoding().with(scale: 2)
        clocks.set(elapsed: 26, processor: 26)
        for context in [encoding, nested] {
            #expect(violation(context) == ImageError.LimitFailure(.encodingTime, limit: 20_000, actual: 21_000))
        }
    }

    @Test("The processor time of a thread increases while it works")
    func system() {
        let start = WorkClock.threadTime
        var sum = 0
        while WorkClock.threadTime == start { sum &+= 1 }
        #expect(WorkClock.threadTime > start)
    }
}
