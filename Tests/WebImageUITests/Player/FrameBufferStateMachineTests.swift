// SPDX-License-Identifier: MIT

import Testing
import WebImageTestSupport

@testable import WebImage
@testable import WebImageUI

@Suite("Frame ledger")
struct FrameBufferStateMachineTests {
    typealias FrameRequest = FrameBufferStateMachine.FrameRequest

    @Test("Frames are decoded ahead one after another within the budget")
    func lookAhead() {
        var ledger = FrameBufferStateMachine(frameBytes: 100, budget: 250)
        #expect(ledger.request(FrameRequest(current: 0, next: [1, 2, 3, 4]), by: 1) == [.decode(1)])
        #expect(ledger.arrived(1, bytes: 100) == [.decode(2)])
        #expect(ledger.arrived(2, bytes: 100).isEmpty)
        #expect(ledger.bytes == 200)
    }

    @Test("Frames that have been shown are dropped to make space for upcoming frames")
    func window() {
        var ledger = FrameBufferStateMachine(frameBytes: 100, budget: 200)
        _ = ledger.request(FrameRequest(current: 0, next: [1, 2, 3]), by: 1)
        _ = ledger.arrived(1, bytes: 100)
        _ = ledger.arrived(2, bytes: 100)
        // Frame 1 is on screen and pinned.
        #expect(ledger.request(FrameRequest(current: 1, next: [2, 3, 4]), by: 1) == [.decode(3)])
        _ = ledger.arrived(3, bytes: 100)
        #expect(ledger.request(FrameRequest(current: 2, next: [3, 4, 5]), by: 1) == [.drop(1), .decode(4)])
    }

    @Test("All frames are kept if they fit into the budget")
    func keepsAll() {
        var ledger = FrameBufferStateMachine(frameBytes: 100, budget: 1_000)
        _ = ledger.request(FrameRequest(current: 0, next: [1, 2, 3]), by: 1)
        for index in 1...3 { _ = ledger.arrived(index, bytes: 100) }
        for current in [1, 2, 3, 0, 1] {
            let next = (1...3).map { (current + $0) % 4 }
            #expect(ledger.request(FrameRequest(current: current, next: next), by: 1).isEmpty)
        }
    }

    @Test("A due frame is decoded even if it exceeds the budget")
    func due() {
        var ledger = FrameBufferStateMachine(frameBytes: 100, budget: 0)
        #expect(ledger.request(FrameRequest(current: 0, next: [1, 2]), by: 1).isEmpty)
        #expect(ledger.request(FrameRequest(current: 0, next: [1, 2], isDue: true), by: 1) == [.decode(1)])
        #expect(ledger.arrived(1, bytes: 100).isEmpty)
        #expect(ledger.request(FrameRequest(current: 1, next: [2]), by: 1).isEmpty)
        #expect(ledger.isAvailable(1))
    }

    @Test("Frames are decoded once for several players, in the order of their due times")
    func shared() {
        var ledger = FrameBufferStateMachine(frameBytes: 100, budget: 1_000)
        #expect(ledger.request(FrameRequest(current: 0, next: [1, 2]), by: 1) == [.decode(1)])
        #expect(ledger.request(FrameRequest(current: 0, next: [1, 2]), by: 2).isEmpty)
        #expect(ledger.request(FrameRequest(current: 0, next: [5], isDue: true), by: 3).isEmpty)
        #expect(ledger.arrived(1, bytes: 100) == [.decode(5)])
        #expect(ledger.arrived(5, bytes: 100) == [.decode(2)])
    }

    @Test("A final decoding failure isn't retried, and a temporary one is")
    func failures() {
        var ledger = FrameBufferStateMachine(frameBytes: 100, budget: 1_000)
        let want = FrameRequest(current: 0, next: [1], isDue: true)
        #expect(ledger.request(want, by: 1) == [.decode(1)])
        #expect(ledger.failed(1, isFinal: false).isEmpty)
        #expect(ledger.request(want, by: 1) == [.decode(1)])
        #expect(ledger.failed(1, isFinal: true).isEmpty)
        #expect(ledger.isAvailable(1))
        #expect(ledger.request(want, by: 1).isEmpty)
    }

    @Test("Under memory pressure, only the current frames are kept")
    func sheds() {
        var ledger = FrameBufferStateMachine(frameBytes: 100, budget: 1_000)
        _ = ledger.request(FrameRequest(current: 0, next: [1, 2, 3]), by: 1)
        for index in 1...3 { _ = ledger.arrived(index, bytes: 100) }
        _ = ledger.request(FrameRequest(current: 2, next: [3, 0, 1]), by: 1)
        #expect(ledger.shed() == [.drop(1), .drop(3)])
        #expect(ledger.bytes == 100)
    }

    /// The events of a frame before and after the extension of the image.
    enum Past: CaseIterable { case failed, failedLater, failedTwice, failedForNow, arrived, arrivedLater, released }

    @Test("After an extension, a frame that failed or was released is decoded again", arguments: Past.allCases)
    func extends(_ past: Past) {
        var ledger = FrameBufferStateMachine(frameBytes: 100, budget: 1_000)
        let want = FrameRequest(current: 0, next: [1], isDue: true)
        #expect(ledger.request(want, by: 1) == [.decode(1)])
        switch past {
        case .failed:
            #expect(ledger.failed(1, isFinal: true).isEmpty && ledger.isAvailable(1))
            #expect(ledger.extend() == [.decode(1)])
        case .failedLater:
            #expect(ledger.extend().isEmpty)
            #expect(ledger.failed(1, isFinal: true) == [.decode(1)])
        case .failedTwice:
            #expect(ledger.extend().isEmpty && ledger.extend().isEmpty)
            #expect(ledger.failed(1, isFinal: true) == [.decode(1)])
            #expect(ledger.failed(1, isFinal: true).isEmpty)
            #expect(ledger.isAvailable(1), "the current version can't provide the frame, either")
            #expect(ledger.request(want, by: 1).isEmpty)
            return
        case .failedForNow:
            #expect(ledger.extend().isEmpty)
            #expect(ledger.failed(1, isFinal: false).isEmpty)
            #expect(ledger.request(want, by: 1) == [.decode(1)])
        case .arrived:
            #expect(ledger.arrived(1, bytes: 100).isEmpty)
            #expect(ledger.extend().isEmpty)
        case .arrivedLater:
            #expect(ledger.extend().isEmpty)
            #expect(ledger.arrived(1, bytes: 100).isEmpty)
            #expect(ledger.isAvailable(1))
        case .released:
            #expect(ledger.arrived(1, bytes: 100).isEmpty)
            #expect(ledger.shed() == [.drop(1)])
            #expect(ledger.extend() == [.decode(1)])
        }
        _ = ledger.arrived(1, bytes: 100)
        #expect(ledger.decoded[1] == 100 && ledger.inFlight.isEmpty && ledger.outdated.isEmpty)
    }

    /// Players advance, seek, stop, start, and disappear, decodes finish or fail, budgets change, and more data arrives.
    @Test("Unpinned frames never exceed the budget, and no frame is decoded twice", arguments: 0..<8)
    func model(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed) &+ 77)
        let count = Int.random(in: 2...12, using: &random)
        let parallelism = Int.random(in: 1...3, using: &random)
        var ledger = FrameBufferStateMachine(frameBytes: 100, budget: 300, parallelism: parallelism)
        var frames: Set<Int> = []
        var decoding: Set<Int> = []
        var broken: Set<Int> = []
        var outdated: Set<Int> = []
        func perform(_ actions: [FrameBufferStateMachine.Action]) {
            for action in actions {
                switch action {
                case .drop(let index): #expect(frames.remove(index) != nil)
                case .decode(let index):
                    #expect(index > 0 && !frames.contains(index) && !broken.contains(index))
                    #expect(decoding.insert(index).inserted)
                }
            }
            #expect(decoding.count <= parallelism)
            #expect(frames == Set(ledger.decoded.keys))
            #expect(decoding == ledger.inFlight)
            #expect(broken == ledger.failed)
            let loose = frames.subtracting(ledger.pinned).count * 100
            #expect(loose <= ledger.budget)
        }
        for _ in 0..<3_000 {
            let player = Int.random(in: 1...3, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0: perform(ledger.setBudget(Int.random(in: 0...8, using: &random) * 100))
            case 1: perform(ledger.remove(player))
            case 2: perform(ledger.shed())
            case 3: perform(ledger.clear())
            case 4..<11:
                guard let index = decoding.sorted().randomElement(using: &random) else { continue }
                decoding.remove(index)
                let isOutdated = outdated.remove(index) != nil
                switch Int.random(in: 0..<20, using: &random) {
                case 0:
                    if !isOutdated { broken.insert(index) }
                    perform(ledger.failed(index, isFinal: true))
                case 1: perform(ledger.failed(index, isFinal: false))
                default:
                    frames.insert(index)
                    perform(ledger.arrived(index, bytes: 100))
                }
            case 11:
                outdated = decoding
                broken = []
                perform(ledger.extend())
            default:
                let place = Int.random(in: 0..<count, using: &random)
                let reach = Int.random(in: 0..<count, using: &random)
                let next = (0..<reach).map { (place + 1 + $0) % count }
                perform(
                    ledger.request(
                        FrameRequest(current: place, next: next, isDue: Bool.random(using: &random)), by: player))
            }
        }
        // A due frame is decoded regardless of the previous steps.
        let last = FrameRequest(current: 0, next: [count - 1], isDue: true)
        perform(ledger.request(last, by: 1))
        for _ in 0..<100 where !ledger.isAvailable(count - 1) {
            for index in decoding {
                decoding.remove(index)
                frames.insert(index)
                perform(ledger.arrived(index, bytes: 100))
            }
            perform(ledger.request(last, by: 1))
        }
        #expect(ledger.isAvailable(count - 1))
    }
}
