// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

/// Tests of loads that are canceled although the view keeps its content.
@Suite("Binder cancellation")
struct BinderCancellationMachineTests {
    typealias Images = BinderImages

    @Test("Canceling keeps a preview, and only `retry` restarts the load")
    func keepsPreview() throws {
        var driver = BinderDriver()
        driver.bind { $0.retriesWhenVisible = true }
        driver.perform(driver.machine.receive(.preview(try Images.image(1)), of: driver.load))
        driver.perform(
            driver.machine.receive(
                .progress(ImageTask.Progress(receivedByteCount: 1, expectedByteCount: 2)), of: driver.load))
        let old = driver.load
        driver.perform(driver.machine.cancel())
        #expect(driver.running.isEmpty)
        #expect(driver.kinds == [.placeholder, .preview])
        #expect(driver.completed.map { $0.failure } == [.cancelled])
        let snapshot = driver.machine.snapshot
        #expect(snapshot.state == .cancelled)
        #expect(snapshot.content == .preview)
        #expect(snapshot.progress == nil)
        #expect(snapshot.request == BinderDriver.request && snapshot.displayedRequest == BinderDriver.request)
        driver.perform(driver.machine.receive(.finished(.success(Images.response(try Images.image(1)))), of: old))
        driver.perform(driver.machine.setMapped(false))
        driver.perform(driver.machine.setMapped(true))
        driver.perform(driver.machine.allocate(ViewAllocation(width: 500, height: 500)))
        driver.perform(driver.machine.networkReturned())
        driver.perform(driver.machine.cancel())
        #expect(driver.started.count == 1)
        #expect(driver.machine.snapshot == snapshot)
        driver.perform(driver.machine.retry())
        #expect(driver.started.count == 2)
        #expect(driver.kinds == [.placeholder, .preview], "the preview remains while the load restarts")
        driver.finish(.success(Images.response(try Images.image(2))))
        #expect(driver.kinds == [.placeholder, .preview, .image])
        #expect(driver.completed.count == 1)
        #expect(driver.machine.snapshot.state == .showing)
    }

    @Test("A load that waits for a size can be canceled, and `retry` waits again")
    func waiting() throws {
        var driver = BinderDriver()
        driver.bind { $0.sizing = .fit }
        driver.perform(driver.machine.cancel())
        #expect(driver.machine.snapshot.state == .cancelled)
        #expect(driver.completed.map { $0.failure } == [.cancelled])
        driver.perform(driver.machine.allocate(ViewAllocation(width: 10, height: 10)))
        #expect(driver.started.isEmpty)
        driver.perform(driver.machine.setMapped(false))
        driver.perform(driver.machine.retry())
        #expect(driver.machine.snapshot.state == .waiting)
        driver.perform(driver.machine.setMapped(true))
        #expect(driver.started.map(\.size) == [.fit(width: 10, height: 10)])
    }

    @Test("Canceling a reload at a larger size keeps the image, and the binding remains successful")
    func refinement() throws {
        var driver = BinderDriver()
        driver.perform(driver.machine.allocate(ViewAllocation(width: 8, height: 8)))
        driver.bind { $0.sizing = .fit }
        driver.finish(.success(Images.response(try Images.image(1))))
        driver.perform(driver.machine.allocate(ViewAllocation(width: 80, height: 80)))
        #expect(driver.running.count == 1)
        driver.perform(driver.machine.cancel())
        #expect(driver.running.isEmpty)
        #expect(driver.machine.snapshot.state == .showing)
        #expect(driver.completed.map { $0.failure } == [nil])
        driver.perform(driver.machine.retry())
        driver.finish(.success(Images.response(try Images.image(1, dimension: 80))))
        #expect(driver.kinds == [.placeholder, .image, .image])
    }

    @Test("Without a load, canceling has no effect")
    func nothingToCancel() throws {
        var driver = BinderDriver()
        driver.perform(driver.machine.cancel())
        #expect(driver.machine.snapshot.state == .idle)
        driver.bind()
        driver.finish(.failure(Images.notFound))
        driver.perform(driver.machine.cancel())
        #expect(driver.machine.snapshot.state == .failed(Images.notFound))
        driver.bind(nil)
        driver.perform(driver.machine.cancel())
        #expect(driver.machine.snapshot.state == .idle)
        driver.perform(driver.machine.retry())
        #expect(driver.started.count == 1)
        #expect(driver.cancelled.isEmpty)
    }
}

@MainActor
@Suite("Binder: ends and requests", .timeLimit(.minutes(5)))
struct BinderEndTests {
    @Test("The snapshot has the request of the binding and the request of the displayed image")
    func requests() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let first = try slot.serve(1)
        let second = try slot.serve(2, gate: gate)
        #expect(slot.binder.snapshot.request == nil && slot.binder.snapshot.displayedRequest == nil)
        slot.bind(first)
        #expect(slot.binder.snapshot.request?.url == first)
        #expect(slot.binder.snapshot.displayedRequest == nil, "a placeholder isn't the image of a request")
        await slot.waitForEnds(1)
        #expect(slot.binder.snapshot.displayedRequest == slot.binder.snapshot.request)
        #expect(slot.binder.displayedImage?.size.width == 11)
        slot.bind(second) { $0.keepsCurrentImage = true }
        await slot.loader.waitForRequests(count: 2)
        #expect(slot.binder.snapshot.request?.url == second)
        #expect(slot.binder.snapshot.displayedRequest?.url == first)
        #expect(slot.binder.displayedImage?.size.width == 11)
        gate.open()
        await slot.waitForEnds(2)
        #expect(slot.binder.snapshot.displayedRequest?.url == second)
        let missing = try #require(URL(string: "https://example.org/missing.png"))
        slot.bind(missing) { $0.keepsCurrentImage = true }
        await slot.waitForEnds(3)
        #expect(slot.binder.snapshot.request?.url == missing)
        #expect(slot.binder.snapshot.displayedRequest?.url == second)
        slot.bind(missing) {
            $0.keepsCurrentImage = true
            $0.failurePlaceholder = .color(.black)
        }
        await slot.waitForEnds(4)
        #expect(slot.binder.snapshot.request?.url == missing)
        #expect(slot.binder.snapshot.displayedRequest == nil && slot.binder.displayedImage == nil)
        slot.bind(nil)
        #expect(slot.binder.snapshot.request == nil)
        slot.bind(first)
        #expect(slot.binder.snapshot.displayedRequest?.url == first)
        slot.binder.unbind()
        #expect(slot.binder.snapshot.request == nil && slot.binder.snapshot.displayedRequest == nil)
        #expect(slot.binder.displayedImage == nil)
    }

    @Test("A change of the priority doesn't change the request of the snapshot")
    func priority() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        slot.bind(try slot.serve(1, gate: gate))
        await slot.loader.waitForRequests(count: 1)
        let before = slot.binder.snapshot
        var changes = 0
        slot.binder.onChange = { _ in changes += 1 }
        slot.binder.setPriority(.high)
        #expect(slot.binder.snapshot == before && changes == 0)
        #expect(slot.fixture.manager.runningTasks.map(\.priority) == [.high])
        gate.open()
        await slot.waitForEnds(1)
    }

    @Test("Canceling ends the binding and the download, and keeps the previous image")
    func cancels() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let first = try slot.serve(1)
        let second = try slot.serve(2, gate: gate)
        slot.bind(first)
        await slot.waitForEnds(1)
        let count = slot.presentations.count
        slot.bind(second) { $0.keepsCurrentImage = true }
        await slot.loader.waitForRequests(count: 2)
        slot.binder.cancel()
        #expect(slot.completed.map { $0.failure } == [nil, .cancelled])
        await slot.loader.waitForCancellations(count: 1)
        #expect(slot.binder.snapshot.state == .cancelled)
        #expect(slot.binder.snapshot.displayedRequest?.url == first)
        gate.open()
        slot.binder.retry()
        await untilMain { slot.binder.snapshot.state == .showing }
        #expect(slot.presentations.dropFirst(count).map(\.kind) == [.image])
        #expect(slot.binder.snapshot.displayedRequest?.url == second)
        #expect(slot.completed.count == 2)
    }

    /// The end of a binding whose load survives it.
    enum Ending: CaseIterable {
        case replacement, sameURL, unbinding, cancellation, deallocation
    }

    @Test(
        "A binding whose load survives it ends once, as canceled, and the image is cached",
        arguments: Ending.allCases, [true, false])
    func survives(ending: Ending, ofRequest: Bool) async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let url = try slot.serve(1, gate: gate)
        let other = try slot.serve(2)
        var request = ImageRequest(url: url)
        request.continuesAfterCancellation = ofRequest
        var options = ImageViewOptions()
        options.sizing = .originalSize
        options.continuesWhenReplaced = !ofRequest
        var shown: [ImageBinder.Presentation] = []
        var ends: [ImageError?] = []
        var binder: ImageBinder? = ImageBinder(manager: slot.fixture.manager) { shown.append($0) }
        binder?.bind(request, options: options) { ends.append($0.failure) }
        await slot.loader.waitForRequests(count: 1)
        options.continuesWhenReplaced = false
        var lastEnd: ImageError??
        switch ending {
        case .replacement: binder?.bind(ImageRequest(url: other), options: options) { lastEnd = $0.failure }
        case .sameURL: binder?.bind(ImageRequest(url: url), options: options) { lastEnd = $0.failure }
        case .unbinding: binder?.unbind()
        case .cancellation: binder?.cancel()
        case .deallocation: binder = nil
        }
        await untilMain { ends == [.cancelled] }
        let manager = slot.fixture.manager
        #expect(manager.runningTasks.contains { $0.request.url == url && $0.priority == .veryLow })
        #expect(manager.cachedImage(for: ImageRequest(url: url)) == nil)
        gate.open()
        await untilMain { manager.cachedImage(for: ImageRequest(url: url)) != nil && manager.runningTasks.isEmpty }
        #expect(ends == [.cancelled])
        #expect(slot.loader.cancelledCount == 0)
        #expect(slot.loader.requests.count { $0.url == url } == 1)
        #expect(!shown.contains { $0.bindingID == 1 && $0.kind == .image })
        if ending == .replacement || ending == .sameURL {
            await untilMain { lastEnd == .some(nil) }
            #expect(shown.last?.image?.size.width == (ending == .sameURL ? 11 : 12))
        }
        if ending == .cancellation { #expect(binder?.snapshot.state == .cancelled) }
    }

    @Test("A load that survives its binding and then fails doesn't end the binding again")
    func survivingFailure() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let url = try #require(URL(string: "https://example.org/broken.png"))
        slot.loader.respond(to: url, with: StubLoader.Response(body: Data([1, 2, 3]), responseGate: gate))
        slot.bind(url) {
            $0.continuesWhenReplaced = true
            $0.failurePlaceholder = .color(.black)
        }
        await slot.loader.waitForRequests(count: 1)
        slot.bind(try slot.serve(2))
        await slot.waitForEnds(2)
        gate.open()
        let manager = slot.fixture.manager
        await untilMain { manager.runningTasks.isEmpty }
        #expect(slot.completed.map { $0.failure } == [.cancelled, nil])
        #expect(!slot.kinds.contains(.failurePlaceholder))
    }

    @Test("The binding of a hidden view whose load survives doesn't end, and the visible view shows the cached image")
    func survivesHiding() async throws {
        let slot = try BoundSlot()
        let gate = TestGate()
        let url = try slot.serve(1, gate: gate)
        slot.bind(url) { $0.continuesWhenReplaced = true }
        await slot.loader.waitForRequests(count: 1)
        slot.binder.isVisible = false
        #expect(slot.binder.snapshot.state == .waiting && slot.completed.isEmpty)
        gate.open()
        let manager = slot.fixture.manager
        await untilMain { manager.cachedImage(for: ImageRequest(url: url)) != nil }
        #expect(slot.completed.isEmpty)
        slot.binder.isVisible = true
        await slot.waitForEnds(1)
        #expect(slot.completed.map { $0.failure } == [nil])
        #expect(slot.loader.requests.count == 1)
    }
}
