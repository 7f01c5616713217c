// SPDX-License-Identifier: MIT

import Testing
import WebImageCore
import WebImageManagerTestSupport
import WebImageTestSupport

@testable import WebImage

@Suite("Task state")
struct ImageTaskStateMachineTests {
    private typealias End = Result<ImageResponse, ImageError>
    private let failure = End.failure(.decoding(.noData))

    private func names(_ deliveries: [ImageTaskStateMachine.Delivery]?, for listener: Int) -> [String] {
        (deliveries ?? []).compactMap { delivery in
            switch delivery {
            case .event(listener, .started): "started"
            case .event(listener, .waiting(let reason)): "waiting \(reason.rawValue)"
            case .event(listener, .progress(let progress)): "progress \(progress.receivedByteCount)"
            case .event(listener, .cached): "cached"
            case .event(listener, .preview): "preview"
            case .event(listener, .finished): "finished"
            case .result(listener, _): "result"
            default: nil
            }
        }
    }

    @Test("A listener receives events in order and one terminal event")
    func order() {
        var state = ImageTaskStateMachine()
        state.addListener(1)
        #expect(state.emit(.started) == true)
        #expect(state.emit(.progress(ImageTask.Progress(receivedByteCount: 1, expectedByteCount: 2))) == true)
        #expect(state.emit(.finished(failure)) == true)
        #expect(state.emit(.finished(failure)) == false)
        #expect(state.emit(.progress(ImageTask.Progress(receivedByteCount: 2, expectedByteCount: 2))) == false)
        #expect(names(state.beginDelivery(), for: 1) == ["started", "progress 1", "finished"])
        #expect(state.continueDelivery() == nil)
        #expect(state.beginDelivery() == nil)
    }

    @Test("A late listener receives the current state, and after the end only the terminal event")
    func late() {
        var state = ImageTaskStateMachine()
        _ = state.emit(.started)
        _ = state.emit(.progress(ImageTask.Progress(receivedByteCount: 1, expectedByteCount: nil)))
        _ = state.emit(.progress(ImageTask.Progress(receivedByteCount: 5, expectedByteCount: nil)))
        state.addListener(1)
        _ = state.emit(.finished(failure))
        state.addListener(2)
        state.addWaiter(3)
        let deliveries = state.beginDelivery()
        #expect(names(deliveries, for: 1) == ["started", "progress 5", "finished"])
        #expect(names(deliveries, for: 2) == ["started", "finished"])
        #expect(names(deliveries, for: 3) == ["result"])
    }

    @Test("A late listener receives the wait reason until progress is reported")
    func lateWaiting() {
        var state = ImageTaskStateMachine()
        _ = state.emit(.waiting(.hostLimit))
        state.addListener(1)
        _ = state.emit(.progress(ImageTask.Progress(receivedByteCount: 0, expectedByteCount: 5)))
        state.addListener(2)
        let deliveries = state.beginDelivery()
        #expect(names(deliveries, for: 1) == ["waiting hostLimit", "progress 0"])
        #expect(names(deliveries, for: 2) == ["progress 0"])
    }

    @Test("A late listener receives the last preview, and none after the end")
    func latePreview() throws {
        var state = ImageTaskStateMachine()
        for number in 1...2 {
            _ = state.emit(.preview(DecodedImage(pixels: try TestImages.pixels(number))))
        }
        state.addListener(1)
        #expect(names(state.beginDelivery(), for: 1) == ["preview"])
        _ = state.continueDelivery()
        _ = state.emit(.finished(failure))
        state.addListener(2)
        #expect(state.emit(.preview(DecodedImage(pixels: try TestImages.pixels(3)))) == false)
        #expect(names(state.beginDelivery(), for: 2) == ["finished"])
    }

    @Test("A removed listener receives no further events")
    func leaves() {
        var state = ImageTaskStateMachine()
        state.addListener(1)
        state.addWaiter(2)
        state.remove(1)
        state.remove(2)
        _ = state.emit(.finished(failure))
        #expect(state.beginDelivery() == nil)
    }

    @Test("While one caller delivers, other callers only add to its deliveries")
    func oneDeliverer() {
        var state = ImageTaskStateMachine()
        state.addListener(1)
        _ = state.emit(.started)
        #expect(names(state.beginDelivery(), for: 1) == ["started"])
        _ = state.emit(.finished(failure))
        #expect(state.beginDelivery() == nil)
        #expect(names(state.continueDelivery(), for: 1) == ["finished"])
        #expect(state.continueDelivery() == nil)
    }

    @Test(
        "In random situations, every listener and waiter receives exactly one terminal event",
        arguments: [1, 2, 3] as [UInt64])
    func exactlyOnce(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            var state = ImageTaskStateMachine()
            var ends: [Int: Int] = [:]
            var staying: Set<Int> = []
            func count(_ batch: [ImageTaskStateMachine.Delivery]?) {
                for delivery in batch ?? [] {
                    switch delivery {
                    case .event(let id, .finished), .result(let id, _): ends[id, default: 0] += 1
                    default: break
                    }
                }
            }
            for id in 0..<30 {
                switch Int.random(in: 0..<6, using: &random) {
                case 0:
                    state.addListener(id)
                    staying.insert(id)
                case 1:
                    state.addWaiter(id)
                    staying.insert(id)
                case 2: _ = state.emit(.progress(ImageTask.Progress(receivedByteCount: id, expectedByteCount: nil)))
                case 3 where id % 5 == 0: _ = state.emit(.finished(failure))
                case 4:
                    count(state.beginDelivery())
                    while let batch = state.continueDelivery() { count(batch) }
                default: break
                }
            }
            _ = state.emit(.finished(failure))
            count(state.beginDelivery())
            while let batch = state.continueDelivery() { count(batch) }
            #expect(ends == Dictionary(uniqueKeysWithValues: staying.map { ($0, 1) }))
        }
    }
}
