// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageManagerTestSupport
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

/// Tests of the product of cancellation and retry with the states of a load and of a view.
@Suite("Binder cancellation and retry")
struct BinderRetryTests {
    typealias Images = BinderImages

    enum Moment: CaseIterable { case waitingForSize, unmapped, loading, previewing, failed, shown, idle }

    private func driver(at moment: Moment, _ change: (inout ImageViewOptions) -> Void = { _ in }) throws -> BinderDriver
    {
        var driver = BinderDriver()
        if moment == .idle { return driver }
        if moment == .unmapped { driver.perform(driver.machine.setMapped(false)) }
        driver.bind {
            change(&$0)
            if moment == .waitingForSize { $0.sizing = .fit }
        }
        switch moment {
        case .previewing: driver.perform(driver.machine.receive(.preview(try Images.image(1)), of: driver.load))
        case .failed: driver.finish(.failure(Images.notFound))
        case .shown: driver.finish(.success(Images.response(try Images.image(1))))
        case .waitingForSize, .unmapped, .loading, .idle: break
        }
        return driver
    }

    @Test(
        "After a cancellation, a retry loads the image in any state in which it isn't shown",
        arguments: Moment.allCases, [true, false])
    func product(moment: Moment, cancels: Bool) throws {
        var driver = try driver(at: moment)
        let before = driver.started.count
        if cancels { driver.perform(driver.machine.cancel()) }
        let isCancelled = cancels && ![.failed, .shown, .idle].contains(moment)
        #expect((driver.machine.snapshot.state == .cancelled) == isCancelled)
        #expect(driver.running.isEmpty || !cancels)
        driver.perform(driver.machine.retry())
        let restarts = isCancelled && [.loading, .previewing].contains(moment) || moment == .failed
        #expect(driver.started.count == before + (restarts ? 1 : 0))
        switch moment {
        case .waitingForSize:
            #expect(driver.machine.snapshot.state == .waiting)
            driver.perform(driver.machine.allocate(ViewAllocation(width: 10, height: 10)))
        case .unmapped:
            #expect(driver.machine.snapshot.state == .waiting)
            driver.perform(driver.machine.setMapped(true))
        case .shown:
            #expect(driver.machine.snapshot.state == .showing && driver.running.isEmpty)
            return
        case .idle:
            #expect(driver.machine.snapshot.state == .idle && driver.started.isEmpty)
            return
        case .loading, .previewing, .failed: break
        }
        #expect(driver.running == [driver.load])
        let bypasses = isCancelled || moment == .failed
        #expect(driver.started.last?.caching.bypassesFailureCache == bypasses, "a retry ignores remembered failures")
        driver.finish(.success(Images.response(try Images.image(2))))
        #expect(driver.machine.snapshot.state == .showing && driver.kinds.last == .image)
        #expect(driver.completed.count == 1, "a binding completes once")
    }

    @Test("A retry that the visibility interrupts still bypasses the negative cache, and later loads don't")
    func interrupted() throws {
        var driver = BinderDriver()
        driver.bind { $0.retriesWhenVisible = true }
        driver.finish(.failure(Images.notFound))
        driver.perform(driver.machine.setMapped(false))
        driver.perform(driver.machine.retry())
        #expect(driver.started.count == 1 && driver.machine.snapshot.state == .waiting)
        driver.perform(driver.machine.setMapped(true))
        driver.perform(driver.machine.setMapped(false))
        driver.perform(driver.machine.setMapped(true))
        #expect(driver.started.map(\.caching.bypassesFailureCache) == [false, true, true])
        driver.finish(.failure(Images.notFound))
        driver.perform(driver.machine.setMapped(false))
        driver.perform(driver.machine.setMapped(true))
        #expect(driver.started.map(\.caching.bypassesFailureCache) == [false, true, true, false])
        driver.perform(driver.machine.cancel())
        driver.perform(driver.machine.retry())
        driver.perform(driver.machine.cancel())
        driver.bind()
        #expect(driver.started.map(\.caching.bypassesFailureCache).suffix(2) == [true, false])
    }

    @Test(
        "A delayed placeholder appears when the load is canceled or fails without an image", arguments: Moment.allCases)
    func delayedPlaceholder(moment: Moment) throws {
        var driver = try driver(at: moment) {
            $0.delaysPlaceholder = true
            $0.failurePlaceholder = nil
            $0.onPresentation = { _ in }
        }
        let during: [ImageBinder.Presentation.Kind] =
            switch moment {
            case .waitingForSize, .unmapped, .loading, .idle: []
            case .previewing: [.preview]
            case .failed: [.placeholder]
            case .shown: [.image]
            }
        #expect(driver.kinds == during)
        driver.perform(driver.machine.cancel())
        let isDelayed = [.waitingForSize, .unmapped, .loading].contains(moment)
        #expect(driver.kinds == during + (isDelayed ? [.placeholder] : []))
        #expect(driver.handled.last == (moment == .idle ? nil : "end"), "the placeholder precedes the end")
        #expect(driver.handedOver.map(\.kind) == driver.kinds)
        guard isDelayed else { return }
        driver.perform(driver.machine.retry())
        #expect(driver.kinds == [.placeholder], "the placeholder remains while the load restarts")
    }

    @Test(
        "During the load, a delayed placeholder leaves the content of the previous binding, and replaces it afterward")
    func delayedPlaceholderAfterImage() throws {
        for keeps in [false, true] {
            var driver = try driver(at: .shown)
            let other = ImageRequest(url: Images.url.appending(path: "2"))
            driver.bind(other) {
                $0.delaysPlaceholder = true
                $0.keepsCurrentImage = keeps
                $0.failurePlaceholder = nil
            }
            #expect(driver.kinds == [.placeholder, .image])
            #expect(driver.machine.snapshot.displayedRequest == BinderDriver.request)
            driver.perform(driver.machine.cancel())
            #expect(driver.kinds.last == (keeps ? .image : .placeholder))
            #expect(driver.machine.snapshot.displayedRequest == (keeps ? BinderDriver.request : nil))
        }
    }

    @Test(
        "A placeholder for failures takes precedence over a delayed placeholder, and a replaced binding shows neither")
    func delayedPlaceholderAndFailure() throws {
        var driver = BinderDriver()
        driver.bind { $0.delaysPlaceholder = true }
        driver.bind { $0.delaysPlaceholder = true }
        #expect(driver.kinds == [])
        driver.finish(.failure(Images.notFound))
        #expect(driver.kinds == [.failurePlaceholder])
        driver.bind {
            $0.delaysPlaceholder = true
            $0.placeholder = .empty
            $0.failurePlaceholder = nil
        }
        #expect(driver.machine.snapshot.content == .failurePlaceholder)
        driver.finish(.failure(Images.notFound))
        // The icon for missing images replaces the failure placeholder of the earlier binding.
        #expect(driver.kinds == [.failurePlaceholder, .failurePlaceholder])
        guard case .icon = driver.presented.last?.content else {
            Issue.record("\(String(describing: driver.presented.last))")
            return
        }
        driver.machine = BinderStateMachine(isMapped: true, showsMissingImage: false)
        driver.bind {
            $0.delaysPlaceholder = true
            $0.placeholder = .empty
            $0.failurePlaceholder = nil
        }
        driver.finish(.failure(Images.notFound))
        #expect(driver.kinds.last == .nothing && driver.machine.snapshot.content == nil)
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
        await untilTrue { slot.binder.snapshot.state == .showing }
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
        await untilTrue { ends == [.cancelled] }
        let manager = slot.fixture.manager
        #expect(manager.runningTasks.contains { $0.request.url == url && $0.priority == .veryLow })
        #expect(manager.cachedImage(for: ImageRequest(url: url)) == nil)
        gate.open()
        await untilTrue { manager.cachedImage(for: ImageRequest(url: url)) != nil && manager.runningTasks.isEmpty }
        #expect(ends == [.cancelled])
        #expect(slot.loader.cancelledCount == 0)
        #expect(slot.loader.requests.count { $0.url == url } == 1)
        #expect(!shown.contains { $0.bindingID == 1 && $0.kind == .image })
        if ending == .replacement || ending == .sameURL {
            await untilTrue { lastEnd == .some(nil) }
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
        await untilTrue { manager.runningTasks.isEmpty }
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
        await untilTrue { manager.cachedImage(for: ImageRequest(url: url)) != nil }
        #expect(slot.completed.isEmpty)
        slot.binder.isVisible = true
        await slot.waitForEnds(1)
        #expect(slot.completed.map { $0.failure } == [nil])
        #expect(slot.loader.requests.count == 1)
    }
}
