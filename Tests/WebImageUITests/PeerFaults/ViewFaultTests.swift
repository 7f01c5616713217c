// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

@MainActor
@Suite("Reused views: scenarios of other libraries", .timeLimit(.minutes(5)))
struct ViewFaultTests {
    @Test("G-02: A request that is bound again, also to another view, continues its download, and each binding ends")
    func reboundElsewhere() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let url = try slot.serve(1)
        let body = try TestImages.png(1, width: 11)
        slot.loader.respond(
            to: url,
            with: StubLoader.Response(chunks: [Data(body.prefix(20)), Data(body.dropFirst(20))], bodyGate: gate))
        let other = ImageBinder(manager: slot.fixture.manager) { _ in }
        var options = ImageViewOptions()
        options.sizing = .originalSize
        var ends = 0
        slot.bind(url)
        await untilTrue { slot.binder.snapshot.progress != nil }
        for _ in 0..<3 { slot.bind(url) }
        other.bind(ImageRequest(url: url), options: options) { if $0.failure == nil { ends += 1 } }
        // A load reports progress after it has joined the download. Then, the earlier loads are canceled.
        await untilTrue { slot.fixture.manager.runningTasks.count == 2 && other.snapshot.progress != nil }
        slot.binder.unbind()
        gate.open()
        await slot.waitForEnds(4)
        await untilTrue { ends == 1 }
        #expect(slot.completed.allSatisfy { $0.failure == .cancelled })
        #expect(slot.loader.requests.count == 1 && slot.loader.cancelledCount == 0)
    }

    @Test("G-02: A request that is bound again a hundred times before its response retains a single earlier load")
    func reboundBeforeResponse() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let url = try slot.serve(1, gate: gate)
        slot.bind(url)
        await slot.loader.waitForRequests(count: 1)
        for _ in 0..<100 {
            slot.bind(url)
            #expect(slot.fixture.manager.runningTasks.count <= 2)
        }
        gate.open()
        await slot.waitForEnds(101)
        #expect(try slot.completed[100].get().image.size.width == 11)
        #expect(slot.loader.requests.count == 1 && slot.loader.cancelledCount == 0)
    }

    @Test("K-18: For an image in memory, every kind of caller receives one success from memory")
    func fromMemory() async throws {
        let slot = try BoundSlot()
        let url = try slot.serve(1)
        let manager = slot.fixture.manager
        _ = try await manager.image(for: url)
        slot.bind(url)
        #expect(slot.completed.count == 1 && slot.kinds == [.image])
        #expect(try slot.completed[0].get().source == .memoryCache)
        #expect(try await manager.response(for: ImageRequest(url: url)).source == .memoryCache)
        let task = manager.load(url)
        #expect(try task.result?.get().source == .memoryCache)
        #expect(await task.eventNames().last == "finished memoryCache")
        var options = ImageViewOptions()
        options.sizing = .originalSize
        #expect(try await slot.binder.load(ImageRequest(url: url), options: options).source == .memoryCache)
        await passing()
        #expect(slot.completed.count == 1)
    }

    @Test(
        "S-28: Binding, unbinding, hiding, and showing in any order ends with the image and without a flicker",
        arguments: 0..<20)
    func quickChanges(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let slot = try BoundSlot()
        let url = try slot.serve(1)
        for _ in 0..<30 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1: slot.bind(url)
            case 2: slot.binder.unbind()
            case 3: slot.binder.isVisible = false
            case 4: slot.binder.isVisible = true
            default: await Task.yield()
            }
        }
        slot.binder.isVisible = true
        slot.bind(url)
        await untilTrue { slot.binder.snapshot.state == .showing }
        #expect(slot.presentations.last?.kind == .image && slot.presentations.last?.image?.size.width == 11)
        // Within a binding, no placeholder follows the image.
        for binding in Dictionary(grouping: slot.presentations, by: \.bindingID).values {
            let kinds = binding.map(\.kind)
            guard let image = kinds.firstIndex(of: .image) else { continue }
            #expect(!kinds[image...].contains(.placeholder), "\(kinds)")
        }
    }

    @Test("K-19: After a failure, the failure image replaces previews, and without one the preview remains")
    func failureAfterPreview() throws {
        for hasFailureImage in [true, false] {
            var driver = BinderDriver()
            driver.bind { if !hasFailureImage { $0.failurePlaceholder = nil } }
            driver.perform(driver.machine.receive(.preview(try BinderImages.image(1)), of: driver.load))
            driver.finish(.failure(BinderImages.notFound))
            #expect(
                driver.kinds == [.placeholder, .preview] + (hasFailureImage ? [.failurePlaceholder] : []))
            #expect(driver.machine.snapshot.state == .failed(BinderImages.notFound))
        }
    }

    @Test(
        "F-14: A view that is hidden or unbound and immediately shows the same image keeps it",
        arguments: [false, true])
    func immediatelyAgain(unbinds: Bool) async throws {
        let slot = try BoundSlot()
        let url = try slot.serve(1)
        slot.bind(url)
        await slot.waitForEnds(1)
        for _ in 0..<20 {
            if unbinds { slot.binder.unbind() } else { slot.binder.isVisible = false }
            if unbinds { slot.bind(url) } else { slot.binder.isVisible = true }
            #expect(slot.presentations.last?.kind == .image)
        }
        await passing()
        #expect(slot.presentations.last?.kind == .image && slot.binder.displayedImage != nil)
        #expect(slot.binder.snapshot.state == .showing && slot.loader.requests.count == 1)
    }

    @Test("K-20: A URL that always fails isn't requested again each time the view is shown")
    func boundedRetries() async throws {
        let slot = try BoundSlot()
        let url = try #require(URL(string: "https://example.org/missing"))
        slot.loader.respond(
            to: url,
            with: StubLoader.Response(
                error: .network(
                    ImageError.NetworkFailure(
                        .unacceptableStatusCode, url: url, phase: .waitingForResponse, statusCode: 404))))
        slot.bind(url) {
            $0.retriesWhenVisible = true
            $0.retriesWhenNetworkReturns = true
        }
        await slot.waitForEnds(1)
        for round in 0..<100 {
            slot.binder.isVisible = false
            slot.binder.setViewSize(width: Double(round + 1), height: 9, scale: 1)
            slot.binder.isVisible = true
            slot.binder.networkBecameAvailable()
            await slot.fixture.manager.rest()
        }
        await untilTrue { if case .failed = slot.binder.snapshot.state { true } else { false } }
        #expect(slot.loader.requests.count == 1)
        slot.bind(nil)
        for _ in 0..<20 { slot.binder.retry() }
        await slot.fixture.manager.rest()
        #expect(slot.loader.requests.count == 1)
    }

    /// A change that a handler makes while it's called.
    enum Change: String, CaseIterable, Sendable { case bind, unbind, retry, cancel, release, hide }

    @Test(
        "G-14: A change that a handler makes during a delivery takes effect, and each completion is called once",
        arguments: Change.allCases)
    func handlers(change: Change) async throws {
        let slot = try BoundSlot()
        let (first, second) = (try slot.serve(1), try slot.serve(2))
        var shown: [Int] = []
        var completions = [0, 0]
        var binder: ImageBinder?
        var options = ImageViewOptions(placeholder: .color(.black))
        options.sizing = .originalSize
        func apply() {
            switch change {
            case .bind: binder?.bind(ImageRequest(url: second), options: options) { _ in completions[1] += 1 }
            case .unbind: binder?.unbind()
            case .retry: binder?.retry()
            case .cancel: binder?.cancel()
            case .release: binder = nil
            case .hide: binder?.isVisible = false
            }
        }
        var isChanged = false
        binder = ImageBinder(manager: slot.fixture.manager) { presentation in
            shown.append(presentation.kind == .image ? presentation.image?.size.width ?? 0 : 0)
            guard presentation.kind == .image, !isChanged else { return }
            isChanged = true
            apply()
        }
        binder?.bind(ImageRequest(url: first), options: options) { _ in
            completions[0] += 1
            if change == .unbind { binder?.unbind() }
        }
        await untilTrue { isChanged && completions[0] == 1 && (change != .bind || completions[1] == 1) }
        await passing()
        #expect(completions == [1, change == .bind ? 1 : 0])
        switch change {
        case .bind: #expect(shown.last == 12)
        case .unbind: #expect(shown.last == 0)
        default: #expect(shown.contains(11))
        }
    }

    @Test(
        "K-17: Each completion is called once when views are bound again, unbound, released, hidden, and shown",
        arguments: 0..<10)
    func completions(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed) + 50)
        let slot = try BoundSlot()
        let urls = try (1...3).map { try slot.serve($0) }
        var options = ImageViewOptions()
        options.sizing = .originalSize
        var counts: [Int] = []
        var binder: ImageBinder? = ImageBinder(manager: slot.fixture.manager) { _ in }
        for _ in 0..<60 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<3:
                let index = counts.count
                counts.append(0)
                binder?.bind(ImageRequest(url: urls[index % 3]), options: options) { _ in counts[index] += 1 }
            case 3: binder?.unbind()
            case 4: binder = ImageBinder(manager: slot.fixture.manager) { _ in }
            case 5: binder?.isVisible = false
            case 6: binder?.isVisible = true
            default: await Task.yield()
            }
        }
        binder = nil
        await untilTrue { counts.allSatisfy { $0 >= 1 } }
        await slot.fixture.manager.rest()
        await passing()
        #expect(counts.allSatisfy { $0 == 1 }, "\(counts)")
    }

    @Test("K-14: A binder and a player that are released on another thread clean up on the main actor")
    func releasedElsewhere() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let url = try slot.serve(1, gate: gate)
        let ends = Shared(0)
        let box = boundBinder(slot, url) {
            MainActor.assertIsolated()
            ends.update { $0 += 1 }
        }
        await slot.loader.waitForRequests(count: 1)
        let ended = TestGate()
        Thread {
            box.value = nil
            ended.open()
        }.start()
        await ended.wait()
        await untilTrue { ends.value == 1 }
        await slot.loader.waitForCancellations(count: 1)
        gate.open()
    }

    /// Returns the only reference to a binder that is bound to a URL.
    private func boundBinder(
        _ slot: BoundSlot, _ url: URL, completion: @escaping @MainActor @Sendable () -> Void
    ) -> Shared<ImageBinder?> {
        let binder = ImageBinder(manager: slot.fixture.manager) { _ in }
        var options = ImageViewOptions()
        options.sizing = .originalSize
        binder.bind(ImageRequest(url: url), options: options) { _ in completion() }
        return Shared(binder)
    }
}
