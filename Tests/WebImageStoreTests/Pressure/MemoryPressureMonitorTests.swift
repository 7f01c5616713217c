// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageCore

@testable import WebImageStore

@Suite("Memory pressure source", .timeLimit(.minutes(5)))
struct MemoryPressureMonitorTests {
    @Test("Reports reach all observers in order, except those that were canceled or released")
    func observers() {
        let time = ManualClock()
        let source = MemoryPressureMonitor(files: nil, clock: time.clock, hasThread: false)
        let log = Lock<[String]>([])
        let first = source.observe { event in log.withLock { $0.append("a\(event.level.rawValue)") } }
        var second: MemoryPressureObservation? = source.observe { event in
            log.withLock { $0.append("b\(event.level.rawValue)") }
        }
        source.report(.low)
        #expect(source.level == .low)
        source.report(gMemoryMonitorWarningLevel: 255)
        #expect(log.withLock { $0 } == ["a1", "b1", "a3", "b3"])
        withExtendedLifetime(second) {}
        second = nil
        time.advance(9)
        source.tick()
        #expect(source.level == .critical)
        time.advance(1)
        source.tick()
        #expect(source.level == .normal)
        first.cancel()
        first.cancel()
        source.report(.medium)
        #expect(log.withLock { $0 } == ["a1", "b1", "a3", "b3", "a0"])
    }

    @Test("The levels begin with the current one, and a slow consumer receives the most recent one")
    func levels() async {
        let time = ManualClock()
        let source = MemoryPressureMonitor(files: nil, clock: time.clock, hasThread: false)
        source.report(.low)
        var levels = source.levels.makeAsyncIterator()
        let first = await levels.next()
        #expect(first == .low)
        source.report(.medium)
        source.report(.critical)
        let second = await levels.next()
        #expect(second == .critical)
        time.advance(10)
        source.tick()
        let third = await levels.next()
        #expect(third == .normal)
    }

    @Test("An observer can report and cancel, and its report is delivered after the current one")
    func reentrant() {
        let source = MemoryPressureMonitor(files: nil, clock: ManualClock().clock, hasThread: false)
        let log = Lock<[MemoryPressureLevel]>([])
        let early = source.observe { [weak source] event in
            log.withLock { $0.append(event.level) }
            if event.level == .low { source?.report(.medium) }
        }
        let late = source.observe { event in log.withLock { $0.append(event.level) } }
        source.report(.low)
        #expect(log.withLock { $0 } == [.low, .low, .medium, .medium])
        early.cancel()
        late.cancel()
    }

    @Test("The thread reports a change of the group's counters and ends with its source")
    func thread() throws {
        let folder = TestDirectory()
        let group = try FakeGroup(folder.path)
        let heard = DispatchSemaphore(value: 0)
        let log = Lock<[MemoryPressureLevel]>([])
        let source = MemoryPressureMonitor(files: group.files)
        let observation = source.observe(holdsMemory: { true }) { event in
            log.withLock { $0.append(event.level) }
            heard.signal()
        }
        source.startReading()
        // The thread starts from the counters in this file or in a later one, so a higher count is always a change.
        for count in UInt64(10)... {
            try group.write("memory.events", "high 1\nmax 2\noom \(count)\n")
            if heard.wait(timeout: .now() + .milliseconds(20)) == .success { break }
        }
        #expect(log.withLock { $0.last } == .critical)
        #expect(source.level == .critical)
        observation.cancel()
    }

    @Test("The kernel's files are readable or absent, and reading them never fails")
    func system() {
        let source = MemoryPressureMonitor()
        let observation = source.observe { _ in }
        source.startReading()
        source.startReading()
        source.report(.low)
        #expect(source.level >= .low)
        observation.cancel()
    }
}
