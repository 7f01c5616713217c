// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Progress of a load", .timeLimit(.minutes(5)))
struct ProgressTrackerTests {
    private let clock = TestClock()
    private let reported = Shared<[ImageTask.Progress]>([])

    private func meter(interval: Double) -> ProgressTracker {
        ProgressTracker(
            interval: interval, now: { Date() }, time: { [clock] in clock.now.offset / .seconds(1) },
            handler: { [reported] progress in reported.update { $0.append(progress) } })
    }

    private func receive(_ count: Int, after seconds: Double, _ meter: ProgressTracker) {
        clock.advance(by: .seconds(seconds))
        meter.receive(.body(Data(count: count)))
    }

    @Test("Progress is reported at most once per interval, and the first and last reports are always delivered")
    func thinned() {
        let meter = meter(interval: 1)
        meter.receive(.head(nil, expected: 100))
        for _ in 0..<9 { receive(10, after: 0.25, meter) }
        #expect(reported.value.map(\.receivedByteCount) == [0, 40, 80])
        receive(10, after: 0.25, meter)
        #expect(reported.value.map(\.receivedByteCount) == [0, 40, 80, 100])
        meter.finish()
        #expect(reported.value.count == 4 && reported.value.last?.expectedByteCount == 100)
    }

    @Test("If the length is unknown, the last progress is still reported")
    func unknownLength() {
        let meter = meter(interval: .infinity)
        meter.receive(.head(nil, expected: nil))
        for _ in 0..<5 { receive(10, after: 100, meter) }
        #expect(reported.value.map(\.receivedByteCount) == [0])
        meter.finish()
        meter.finish()
        #expect(reported.value.map(\.receivedByteCount) == [0, 50])
    }

    @Test("A second response head restarts the progress")
    func again() {
        let meter = meter(interval: 1)
        meter.receive(.head(nil, expected: 100))
        receive(10, after: 1, meter)
        receive(10, after: 0, meter)
        meter.receive(.head(nil, expected: 60))
        receive(60, after: 0, meter)
        #expect(reported.value.map(\.receivedByteCount) == [0, 10, 0, 60])
    }

    @Test("Without a positive interval, every chunk is reported", arguments: [0, -1, Double.nan])
    func unlimited(interval: Double) {
        let meter = meter(interval: interval)
        meter.receive(.head(nil, expected: 30))
        for _ in 0..<3 { receive(10, after: 0, meter) }
        meter.finish()
        #expect(reported.value.map(\.receivedByteCount) == [0, 10, 20, 30])
    }

    @Test("The manager limits progress reports according to its configuration", arguments: [0, 1_000_000.0])
    func manager(interval: Double) async throws {
        let gates = (0..<20).map { _ in TestGate() }
        let picture = try TestImages.png(1, width: 200, height: 200)
        let server = try LoopbackServer { _ in
            .ok(picture, contentType: "image/png").with {
                $0.framing = .chunked
                $0.chunkSize = picture.count / 20 + 1
                $0.chunkGates = gates
            }
        }
        let fixture = try ManagerFixture { $0.downloader.progressInterval = .seconds(interval) }
        let task = fixture.manager.load(server.url("/a"))
        var received: [Int] = []
        var next = gates[...]
        next.popFirst()?.open()
        for await event in task.events {
            guard case .progress(let progress) = event else { continue }
            received.append(progress.receivedByteCount)
            if interval == 0 { next.popFirst()?.open() } else { for gate in gates { gate.open() } }
        }
        #expect(try await task.response.originalByteCount == picture.count)
        #expect(received.last == picture.count && received.first == 0)
        if interval == 0 { #expect(received.count > 10) } else { #expect(received.count == 2) }
    }

    @Test("Progress never decreases, even if a loader reports from two threads at the same time")
    func order() async {
        let received = Shared<[Int]>([])
        let (isDelivering, mayGoOn, firstIsOver, secondIsOver) = (TestGate(), TestGate(), TestGate(), TestGate())
        let meter = ProgressTracker(now: { Date() }) { progress in
            if progress.receivedByteCount == 10 {
                isDelivering.open()
                mayGoOn.blockingWait()
            }
            received.update { $0.append(progress.receivedByteCount) }
        }
        Thread {
            meter.receive(.body(Data(count: 10)))
            firstIsOver.open()
        }.start()
        await isDelivering.wait()
        Thread {
            meter.receive(.body(Data(count: 20)))
            secondIsOver.open()
        }.start()
        await secondIsOver.wait()
        mayGoOn.open()
        await firstIsOver.wait()
        #expect(received.value == [10, 30])
    }
}
