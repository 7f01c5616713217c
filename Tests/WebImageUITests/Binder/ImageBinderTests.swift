// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

@MainActor
@Suite("Image binder", .timeLimit(.minutes(5)))
struct ImageBinderTests {
    @Test("The placeholder and then the image are shown, and an image in memory is shown within the call")
    func shows() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let url = try slot.serve(1, gate: gate)
        slot.bind(url)
        #expect(slot.kinds == [.placeholder])
        gate.open()
        #expect(slot.presentations[0].image?.size == PixelSize(width: 32, height: 32))
        await slot.waitForEnds(1)
        #expect(slot.presentations.last?.image?.size.width == 11)
        let other = ImageBinder(manager: slot.fixture.manager) { presentation in
            #expect(presentation.kind == .image)
        }
        var isDone = false
        other.setViewSize(width: 11, height: 48, scale: 1)
        other.bind(ImageRequest(url: url)) { _ in isDone = true }
        #expect(isDone)
        #expect(other.snapshot.state == .showing)
    }

    @Test("A binding with its own manager uses the loaders and the caches of this manager, and the next one doesn't")
    func ownManager() async throws {
        let (slot, other) = (try BoundSlot(), try BoundSlot())
        let url = try slot.serve(1)
        try other.serve(2)
        other.loader.respond(to: url, with: .init(body: try TestImages.png(5, width: 99)))
        slot.binder.setViewSize(width: 200, height: 200, scale: 1)
        slot.bind(url) { $0.manager = other.fixture.manager }
        await slot.waitForEnds(1)
        #expect(slot.presentations.last?.image?.size.width == 99)
        #expect(other.fixture.manager.cachedImage(for: url) != nil && slot.loader.requests.isEmpty)
        slot.bind(url)
        await slot.waitForEnds(2)
        #expect(slot.presentations.last?.image?.size.width == 11)
        #expect(slot.loader.requests.count == 1 && other.loader.requests.count == 1)
        // The image is in the memory of the other manager, so this binding ends immediately.
        slot.bind(url) { $0.manager = other.fixture.manager }
        #expect(slot.completed.count == 3 && slot.presentations.last?.image?.size.width == 99)
    }

    @Test("The image of a preliminary request is shown as a preview until the image arrives")
    func preliminary() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let large = try slot.serve(1, gate: gate)
        let small = try slot.serve(2)
        var request = ImageRequest(url: large)
        request.preliminary = ImageRequest(url: small)
        slot.binder.setViewSize(width: 100, height: 100, scale: 1)
        slot.bind(request)
        await untilTrue { slot.kinds.last == .preview }
        #expect(slot.presentations.last?.image?.size.width == 12)
        #expect(slot.binder.snapshot.state == .previewing)
        gate.open()
        await slot.waitForEnds(1)
        #expect(slot.kinds.suffix(2) == [.preview, .image])
        #expect(slot.presentations.last?.image?.size.width == 11)
    }

    @Test("The image of a preliminary request in memory is shown immediately, instead of the placeholder")
    func preliminaryInMemory() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let large = try slot.serve(1, gate: gate)
        let small = try slot.serve(2)
        _ = try await slot.fixture.manager.image(for: small)
        var request = ImageRequest(url: large)
        request.preliminary = ImageRequest(url: small)
        slot.binder.setViewSize(width: 100, height: 100, scale: 1)
        slot.bind(request)
        #expect(slot.kinds == [.preview] && slot.presentations.last?.image?.size.width == 12)
        gate.open()
        await slot.waitForEnds(1)
        #expect(slot.kinds == [.preview, .image])
        #expect(slot.presentations.last?.image?.size.width == 11)
    }

    @Test("An image of a superseded load is never shown")
    func superseded() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let old = try slot.serve(1, gate: gate)
        let new = try slot.serve(2)
        slot.bind(old)
        await slot.loader.waitForRequests(count: 1)
        slot.bind(new)
        gate.open()
        await slot.waitForEnds(2)
        await untilTrue { slot.fixture.manager.runningJobs == 0 }
        #expect(slot.completed[0].failure == .cancelled)
        #expect(slot.presentations.filter { $0.kind == .image }.map { $0.image?.size.width } == [12])
    }

    @Test("Binding the same URL again continues its download")
    func rebound() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let url = try slot.serve(1, gate: gate)
        slot.bind(url)
        await slot.loader.waitForRequests(count: 1)
        slot.bind(url)
        gate.open()
        await slot.waitForEnds(2)
        #expect(slot.loader.requests.count == 1)
        #expect(slot.loader.cancelledCount == 0)
        #expect(slot.completed[1].failure == nil)
    }

    @Test("The load is canceled when the view is unmapped and restarts when the view is mapped")
    func mapping() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let url = try slot.serve(1, gate: gate)
        slot.bind(url)
        await slot.loader.waitForRequests(count: 1)
        slot.binder.isVisible = false
        await slot.loader.waitForCancellations(count: 1)
        #expect(slot.completed.isEmpty)
        gate.open()
        slot.binder.isVisible = true
        await slot.waitForEnds(1)
        #expect(slot.kinds == [.placeholder, .image])
    }

    @Test("A load that survives its view fills the cache")
    func survives() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let url = try slot.serve(1, gate: gate)
        slot.bind(url) { $0.continuesWhenReplaced = true }
        await slot.loader.waitForRequests(count: 1)
        slot.binder.unbind()
        #expect(slot.kinds == [.placeholder, .nothing])
        gate.open()
        let manager = slot.fixture.manager
        await untilTrue { manager.cachedImage(for: ImageRequest(url: url)) != nil }
        #expect(slot.presentations.count == 2)
    }

    @Test("The image is decoded to the pixel size of the view, and a smaller image stays until a larger one is loaded")
    func sizes() async throws {
        let slot = try BoundSlot()
        let url = try #require(URL(string: "https://example.org/large.png"))
        let gate = TestGate()
        slot.loader.respond(
            to: url, with: StubLoader.Response(body: try TestImages.png(1, width: 200, height: 100), responseGate: gate)
        )
        slot.bind(url) { $0.sizing = .fit }
        #expect(slot.binder.snapshot.state == .waiting)
        slot.binder.setViewSize(width: 20, height: 20, scale: 2)
        gate.open()
        await slot.waitForEnds(1)
        #expect(slot.presentations.last?.image?.size == PixelSize(width: 40, height: 20))
        slot.binder.setViewSize(width: 80, height: 80, scale: 1)
        await untilTrue { slot.presentations.last?.image?.size.width == 80 }
        #expect(slot.kinds == [.placeholder, .image, .image])
        // A larger view of the same image shows the cached image as its placeholder.
        let other = ImageBinder(manager: slot.fixture.manager) { [slot] in slot.record($0) }
        other.bind(ImageRequest(url: url, size: .fit(width: 150)))
        #expect(slot.presentations.last?.kind == .cachedPlaceholder)
        #expect(slot.presentations.last?.image?.size.width == 80)
        await untilTrue { slot.presentations.last?.kind == .image }
        #expect(slot.presentations.last?.image?.size.width == 150)
    }

    @Test("A failure is reported, and the load is retried when the network returns")
    func retries() async throws {
        let slot = try BoundSlot()
        let url = try #require(URL(string: "https://example.org/none.png"))
        // A load that fails before the view shows its placeholder shows only the placeholder of the failure.
        let gate = TestGate()
        let failure = ImageError.network(ImageError.NetworkFailure(.cannotFindHost, url: url, phase: .nameResolution))
        slot.loader.respond(
            to: url, with: StubLoader.Response(httpResponse: nil, chunks: [], error: failure, responseGate: gate))
        slot.bind(url) { $0.failurePlaceholder = .color(.black) }
        gate.open()
        await slot.waitForEnds(1)
        #expect(slot.kinds == [.placeholder, .failurePlaceholder])
        #expect(slot.presentations.last?.color == .black)
        slot.loader.respond(to: url, with: StubLoader.Response(body: try TestImages.png(3)))
        slot.binder.networkBecameAvailable()
        await untilTrue { slot.binder.snapshot.state == .showing }
        #expect(slot.completed.count == 1)
    }

    @Test("Observers receive the state changes and the download progress")
    func observes() async throws {
        let slot = try BoundSlot()
        // Otherwise, the load can end before the binder asks for its state.
        let gate = TestGate()
        let url = try slot.serve(1, gate: gate)
        var reported: [ImageBinder.Snapshot] = []
        slot.binder.onChange = { reported.append($0) }
        let changes = slot.binder.snapshots
        slot.bind(url)
        gate.open()
        await slot.waitForEnds(1)
        #expect(reported.first?.state == .loading)
        #expect(reported.last?.state == .showing)
        #expect(reported.contains { $0.progress != nil })
        for await change in changes where change.state == .showing { break }
    }

    @Test("An application's progress object follows the loads, is replaceable, and completes for images from memory")
    func progressObject() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let url = try slot.serve(1, gate: gate)
        let parent = Progress(totalUnitCount: 2)
        let child = Progress(totalUnitCount: 7)
        parent.addChild(child, withPendingUnitCount: 1)
        child.completedUnitCount = 3
        slot.binder.progress = child
        #expect(child.completedUnitCount == 3 && child.totalUnitCount == 7, "no load has started")
        slot.bind(url)
        #expect(child.completedUnitCount == 0 && child.totalUnitCount == 1)
        gate.open()
        await slot.waitForEnds(1)
        #expect(child.totalUnitCount >= 1 && child.completedUnitCount == child.totalUnitCount)
        #expect(parent.completedUnitCount == 1)
        let other = Progress(totalUnitCount: -1)
        slot.binder.progress = other
        #expect(other.totalUnitCount >= 1 && other.isFinished, "the image is already available")
        let missing = try #require(URL(string: "https://example.org/missing.png"))
        slot.bind(missing)
        #expect(other.completedUnitCount == 0 && other.totalUnitCount == 1)
        await slot.waitForEnds(2)
        #expect(other.completedUnitCount == 0, "the counts remain after a failure")
        slot.bind(url)
        #expect(other.isFinished, "the image is in memory")
        slot.binder.progress = nil
        slot.bind(missing)
        #expect(other.isFinished && parent.completedUnitCount == 1)
    }

    @Test("The unit counts of a progress object are positive for any reported sizes")
    func unitCounts() {
        func counts(_ received: Int, _ expected: Int?, _ state: ImageBinder.State = .loading) -> [Int64]? {
            ImageBinder.Snapshot(
                state: state, progress: ImageTask.Progress(receivedByteCount: received, expectedByteCount: expected)
            ).unitCounts.map { [$0.completed, $0.total] }
        }
        #expect(counts(5, 10) == [5, 10] && counts(5, 10, .previewing) == [5, 10])
        #expect(counts(15, 10) == [10, 10], "more bytes than the server reported")
        #expect(counts(5, nil) == [0, 1] && counts(5, nil, .showing) == [5, 5])
        #expect(counts(0, 0) == [0, 1] && counts(-1, -1) == [0, 1] && counts(0, nil, .showing) == [1, 1])
        #expect(counts(.max, .max) == [.max, .max] && counts(3, 10, .showing) == [10, 10])
        #expect(counts(3, 10, .cancelled) == nil && counts(3, 10, .failed(.cancelled)) == nil)
        #expect(ImageBinder.Snapshot(state: .loading).unitCounts?.total == 1)
    }

    @Test("A handler can bind again, and the superseded image isn't shown")
    func reentrance() async throws {
        let slot = try BoundSlot()
        let urls = [try slot.serve(1), try slot.serve(2)]
        var binder: ImageBinder?
        var shown: [ImageBinder.Presentation] = []
        binder = ImageBinder(manager: slot.fixture.manager) { presentation in
            shown.append(presentation)
            if presentation.bindingID == 1, presentation.kind == .nothing {
                binder?.bind(ImageRequest(url: urls[1], size: .fit(width: 5)))
            }
        }
        var ends = 0
        binder?.bind(ImageRequest(url: urls[0], size: .fit(width: 5))) { result in
            ends += 1
            #expect(result.failure == .cancelled)
        }
        await untilTrue { shown.last?.kind == .image }
        #expect(shown.last?.bindingID == 2)
        #expect(ends == 1)
    }

    @Test("Waiting for a load ends with its image, and canceling the wait unbinds")
    func waits() async throws {
        let slot = try BoundSlot()
        let url = try slot.serve(1)
        let request = ImageRequest(url: url, size: .fit(width: 5))
        #expect(try await slot.binder.load(request).image.size.width == 5)
        let gate = TestGate()
        let held = try slot.serve(2, gate: gate)
        let binder = slot.binder
        let wait = Task { try await binder.load(ImageRequest(url: held, size: .fit(width: 5))) }
        await slot.loader.waitForRequests(count: 2)
        wait.cancel()
        await #expect(throws: ImageError.cancelled) { try await wait.value }
        await slot.loader.waitForCancellations(count: 1)
        #expect(binder.snapshot.state == .idle)
    }

    @Test("A binder that is deallocated cancels its load and completes")
    func released() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let url = try slot.serve(1, gate: gate)
        var binder: ImageBinder? = ImageBinder(manager: slot.fixture.manager) { _ in }
        var ends = 0
        binder?.bind(ImageRequest(url: url, size: .fit(width: 5))) { _ in ends += 1 }
        await slot.loader.waitForRequests(count: 1)
        weak let released = binder
        binder = nil
        await untilTrue { ends == 1 }
        #expect(released == nil)
        await slot.loader.waitForCancellations(count: 1)
    }

    /// A memory tier whose lookups on one thread last until a running load has stored its image.
    private final class SlowTier: MemoryCacheTier {
        private let images = Lock<[CacheKey: DecodedImage]>([:])
        private let stored = TestGate()
        private let blocking = Lock<(thread: pthread_t, manager: ImageManager)?>(nil)

        /// Runs `body`, during which the lookups of the current thread wait for a running load.
        func blocksLookups(_ manager: ImageManager, during body: () -> Void) {
            blocking.withLock { $0 = (pthread_self(), manager) }
            body()
            blocking.withLock { $0 = nil }
        }

        func image(for key: CacheKey) -> DecodedImage? {
            let manager = blocking.withLock { $0?.thread == pthread_self() ? $0?.manager : nil }
            if manager?.runningTasks.isEmpty == false { stored.blockingWait() }
            return images.withLock { $0[key] }
        }
        func store(_ image: DecodedImage, for key: CacheKey, cost: Int) {
            images.withLock { $0[key] = image }
            stored.open()
        }
        func remove(_ key: CacheKey) { images.withLock { $0[key] = nil } }
        func removeAll() { images.withLock { $0 = [:] } }
    }

    @Test("A load that ends while it is started presents its image with the transition, not as an earlier image")
    func fast() async throws {
        let tier = SlowTier()
        let body = try TestImages.png(1)
        let fixture = try ManagerFixture {
            $0.customMemoryCache = tier
            $0.loaders = [StubLoader { _ in StubLoader.Response(body: body) }]
        }
        var presentations: [ImageBinder.Presentation] = []
        let binder = ImageBinder(manager: fixture.manager) { presentations.append($0) }
        var options = ImageViewOptions(placeholder: .color(.black), transition: .crossFade())
        options.sizing = .originalSize
        var isDone = false
        tier.blocksLookups(fixture.manager) {
            binder.bind(ImageRequest(url: .sample), options: options) { _ in isDone = true }
        }
        await untilTrue { isDone }
        #expect(presentations.map(\.kind) == [.placeholder, .image])
        #expect(presentations.last?.transition == .crossFade())
    }

    @Test("The slots of a view load independently and share the mapped state")
    func slots() async throws {
        let slot = try BoundSlot()
        let urls = [try slot.serve(1), try slot.serve(2)]
        var shown: [String: Int] = [:]
        let set = ImageBinderGroup<String>(manager: slot.fixture.manager, isMapped: false) { place, presentation in
            if presentation.kind == .image { shown[place] = presentation.image?.size.width }
        }
        set.allocate(ViewAllocation(width: 1_000, height: 1_000))
        set["image"].bind(ImageRequest(url: urls[0]))
        set["hover"].bind(ImageRequest(url: urls[1]))
        #expect(slot.loader.requests.isEmpty)
        set.isMapped = true
        await untilTrue { shown.count == 2 }
        #expect(shown == ["image": 11, "hover": 12])
        #expect(set.slots == ["image", "hover"])
        set.unbindAll()
        #expect(set.slots.isEmpty)
    }

    @Test("Hashes are drawn at any aspect ratio, and invalid hashes show nothing")
    func hashes() {
        let pictures = PlaceholderRenderer(limit: 2)
        #expect(pictures.image(.blurHash("no")) == nil)
        #expect(pictures.image(.thumbHash([1, 2])) == nil)
        for ratio in [0, -1, Double.nan, Double.infinity, 1e-9, 1e9, 2] {
            let image = pictures.image(.blurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj", aspectRatio: ratio))
            #expect(image.map { max($0.size.width, $0.size.height) } == 32)
        }
    }
}
