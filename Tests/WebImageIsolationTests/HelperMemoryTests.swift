// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization
import Testing
import WebImageCodecs
import WebImageConcurrency
import WebImageCore
import WebImageTestBasics

@testable import WebImageIsolation

@Suite("Memory of helpers")
struct HelperMemoryTests {
    private static let limit = 1_000

    @Test("Large requests wait for each other in their order, and small requests wait for none")
    func order() {
        var budget = HelperMemoryBudget(limit: Self.limit)
        func admit(_ number: UInt64, need: Int, isNested: Bool = false) -> Bool {
            budget.admit(number, need: need, isNested: isNested)
        }
        #expect(admit(1, need: 600))
        #expect(!admit(2, need: 900))
        // This request would fit, but the other one came first.
        #expect(!admit(3, need: 300))
        #expect(admit(4, need: 31))
        budget.release(need: 600)
        #expect(!admit(3, need: 300))
        #expect(admit(2, need: 900))
        #expect(!admit(3, need: 300))
        budget.release(need: 900)
        #expect(admit(3, need: 300))
    }

    @Test("A request that no longer waits doesn't delay others")
    func cancellation() {
        var budget = HelperMemoryBudget(limit: Self.limit)
        func admit(_ number: UInt64, need: Int, isNested: Bool = false) -> Bool {
            budget.admit(number, need: need, isNested: isNested)
        }
        #expect(admit(1, need: 600))
        #expect(!admit(2, need: 900))
        budget.remove(2)
        #expect(admit(3, need: 300))
    }

    @Test("A request for which another one waits is admitted, and a request above the limit runs alone with the limit")
    func exceptions() {
        var budget = HelperMemoryBudget(limit: Self.limit)
        func admit(_ number: UInt64, need: Int, isNested: Bool = false) -> Bool {
            budget.admit(number, need: need, isNested: isNested)
        }
        #expect(budget.allowance(for: .max) == Self.limit)
        #expect(admit(1, need: .max))
        #expect(admit(2, need: 600, isNested: true))
        #expect(!admit(3, need: 100))
        budget.release(need: 600)
        budget.release(need: .max)
        #expect(admit(3, need: 100))
    }

    @Test("Random requests never exceed the limit, and every request is admitted")
    func model() {
        var random = SeededGenerator(seed: 33)
        for _ in 0..<200 {
            var budget = HelperMemoryBudget(limit: Self.limit)
            var running: [Int] = []
            var waiting: [(number: UInt64, need: Int)] = []
            var next: UInt64 = 0
            for step in 0..<400 {
                if step < 200, Bool.random(using: &random) {
                    next += 1
                    waiting.append((next, Int.random(in: 0...1_500, using: &random)))
                } else if let index = running.indices.randomElement(using: &random) {
                    budget.release(need: running.remove(at: index))
                }
                if step < 200, Int.random(in: 0..<10, using: &random) == 0,
                    let index = waiting.indices.randomElement(using: &random)
                {
                    budget.remove(waiting.remove(at: index).number)
                }
                // The threads look in any order.
                for entry in waiting.shuffled(using: &random)
                where budget.admit(entry.number, need: entry.need, isNested: false) {
                    running.append(entry.need)
                    waiting.removeAll { $0.number == entry.number }
                }
                let large = running.map { min($0, Self.limit) }.filter { $0 > Self.limit / 32 }
                #expect(large.reduce(0, +) <= Self.limit)
                #expect(!waiting.contains { $0.need <= Self.limit / 32 })
                // Someone always runs.
                #expect(waiting.isEmpty || !running.isEmpty)
            }
            while let need = running.popLast() {
                budget.release(need: need)
                for entry in waiting where budget.admit(entry.number, need: entry.need, isNested: false) {
                    running.append(entry.need)
                    waiting.removeAll { $0.number == entry.number }
                }
            }
            #expect(waiting.isEmpty)
        }
    }

    @Test("The memory for decoding follows the declared size, and never exceeds four times the limit of the pixels")
    func decoding() {
        func need(_ info: ImageInfo?, kind: HelperKind = .raster, limits: ImageLimits = .server) -> Int {
            HelperMemory.decoding(1 << 20, info, ImageDecodingOptions(), kind: kind, limits)
        }
        func info(_ side: Int, depth: Int = 8) -> ImageInfo {
            ImageInfo(format: .heif, storedSize: PixelSize(width: side, height: side), bitDepth: depth)
        }
        #expect(need(info(100)) < 20 << 20)
        // A photograph of 12 megapixels needs 17 bytes per pixel.
        #expect((12_000_000 * 17...300 << 20).contains(need(info(3_464))))
        #expect(need(info(3_464, depth: 10)) > 2 * 12_000_000 * 17)
        #expect(need(info(16_384)) == 1 << 30)
        #expect(need(info(.max)) == 1 << 30)
        #expect(need(nil) == 512 << 20 && need(info(10), kind: .vector) == 512 << 20)
        #expect(need(nil, limits: .unlimited) == .max)
    }

    @Test(
        "Large requests use the helpers of a pool one after another, and small requests don't wait",
        .enabled(if: Helpers.areBuilt, "webimage-decoder isn't built"), .timeLimit(.minutes(1)))
    func pool() async throws {
        let pool = HelperPool(
            HelperPool.Configuration(
                path: try #require(Helpers.decoder), maxHelpers: 3, memoryBudget: 1 << 30))
        let running = NameLog()
        let gates = ["first": DispatchSemaphore(value: 0), "second": DispatchSemaphore(value: 0)]
        let started = ["first": DispatchSemaphore(value: 0), "second": DispatchSemaphore(value: 0)]
        @Sendable func use(_ name: String, memory: Int) {
            _ = try? pool.withHelper(.core, memory: memory, context: ImageProcessingContext()) { _ in
                running.names.withLock { $0.append(name) }
                started[name]?.signal()
                gates[name]?.wait()
            }
        }
        let first = Task { @Sendable in await onThread { use("first", memory: 600 << 20) } }
        await onThread { started["first"]?.wait() }
        let second = Task { @Sendable in await onThread { use("second", memory: 600 << 20) } }
        // Small requests don't wait for either of them.
        for name in ["small", "tiny"] { await onThread { use(name, memory: 1 << 20) } }
        #expect(running.names.withLock { $0 } == ["first", "small", "tiny"])
        gates["first"]?.signal()
        await onThread { started["second"]?.wait() }
        gates["second"]?.signal()
        await first.value
        await second.value
        #expect(running.names.withLock { $0 } == ["first", "small", "tiny", "second"])
    }

    @Test(
        "A large request waits for memory although another helper failed to start, and doesn't delay later requests",
        .enabled(if: Helpers.areBuilt, "webimage-decoder isn't built"), .timeLimit(.minutes(1)))
    func failedStart() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "webimage-memory-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let link = directory.appending(path: "helper")
        try FileManager.default.createSymbolicLink(
            atPath: link.path, withDestinationPath: try #require(Helpers.decoder))
        let pool = HelperPool(HelperPool.Configuration(path: link.path, maxHelpers: 3, memoryBudget: 1 << 30))
        let (gate, started) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let asked = DispatchSemaphore(value: 0)
        @Sendable func use(_ kind: HelperKind = .core, memory: Int, waits: Bool = false) -> Bool {
            // The pool checks for cancellation while a request waits.
            let context = ImageProcessingContext {
                asked.signal()
                return false
            }
            let result = try? pool.withHelper(kind, memory: memory, context: context) { _ in
                guard waits else { return }
                started.signal()
                gate.wait()
            }
            let hadHelper = (try? result?.get()) != nil
            if !hadHelper, waits { started.signal() }
            return hadHelper
        }
        // While two requests use helpers, a third helper is started ahead.
        let holders = (0..<2).map { _ in Task { @Sendable in await onThread { _ = use(memory: 0, waits: true) } } }
        for _ in holders { await onThread { started.wait() } }
        await untilTrue { pool.processes.count == 1 }
        for _ in holders { gate.signal() }
        for holder in holders { await holder.value }
        try #require(pool.processes.count == 3)
        // A helper of another kind replaces one of them, but can't be started.
        try FileManager.default.removeItem(at: link)
        let outcomes = Outcomes()
        await onThread { outcomes.add("vector", use(.vector, memory: 0)) }
        #expect(outcomes.all == ["vector": false] && pool.unavailability != nil)
        let first = Task { @Sendable in
            await onThread { outcomes.add("first", use(memory: 600 << 20, waits: true)) }
        }
        await onThread { started.wait() }
        await onThread { while asked.wait(timeout: .now()) == .success {} }
        let second = Task { @Sendable in
            await onThread {
                outcomes.add("second", use(memory: 600 << 20))
                asked.signal()
            }
        }
        await onThread { asked.wait() }
        gate.signal()
        await first.value
        await second.value
        await onThread { outcomes.add("third", use(memory: 600 << 20)) }
        #expect(outcomes.all == ["vector": false, "first": true, "second": true, "third": true])
    }
}

/// Whether requests had a helper.
private final class Outcomes: Sendable {
    private let values = Lock<[String: Bool]>([:])

    var all: [String: Bool] { values.withLock { $0 } }

    func add(_ name: String, _ hadHelper: Bool) { values.withLock { $0[name] = hadHelper } }
}

/// The names of the requests that ran, in order.
private final class NameLog: Sendable {
    let names = Lock<[String]>([])
}

/// Runs a closure that may block on a dedicated thread.
private func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            body()
            continuation.resume()
        }
    }
}
