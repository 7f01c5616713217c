// SPDX-License-Identifier: MIT

import Testing
import WebImageCore
import WebImageManagerTestSupport

@testable import WebImage
@testable import WebImageUI

@Suite("Binder machine")
struct BinderStateMachineTests {
    typealias Images = BinderImages

    @Test("An image in memory is shown immediately, without a placeholder and a transition")
    func memoryHit() throws {
        var driver = BinderDriver()
        driver.probe = .result(.success(Images.response(try Images.image(1), .memoryCache)))
        driver.bind()
        #expect(driver.kinds == [.image])
        #expect(driver.presented[0].transition == .none)
        #expect(driver.completed.count == 1)
        driver.bind { $0.transition = .crossFade().forced() }
        #expect(driver.kinds == [.image])  // The image is the same, so nothing changes.
        driver.probe = .result(.success(Images.response(try Images.image(2), .memoryCache)))
        driver.bind { $0.transition = .crossFade().forced() }
        #expect(driver.presented.last?.transition.effect == .crossFade)
    }

    @Test("The placeholder, a preview, and the image are shown in sequence, with their transitions")
    func whole() throws {
        var driver = BinderDriver()
        driver.bind { $0.previewTransition = .crossFade(duration: .milliseconds(400)) }
        #expect(driver.machine.snapshot.state == .loading)
        driver.perform(driver.machine.receive(.preview(try Images.image(1)), of: driver.load))
        #expect(driver.machine.snapshot.state == .previewing)
        driver.perform(
            driver.machine.receive(
                .progress(ImageTask.Progress(receivedByteCount: 1, expectedByteCount: 2)), of: driver.load))
        #expect(driver.machine.snapshot.progress?.fraction == 0.5)
        driver.finish(.success(Images.response(try Images.image(1))))
        #expect(driver.kinds == [.placeholder, .preview, .image])
        #expect(driver.presented.map(\.transition.duration) == [.zero, .milliseconds(400), .milliseconds(500)])
        #expect(driver.machine.snapshot.state == .showing)
    }

    @Test("An animation that grows and its final image are shown without a transition, because they continue to play")
    func growingAnimation() throws {
        func animated(_ count: Int) throws -> DecodedImage {
            let image = try Images.image(1)
            let frames = (0..<count).map { _ in (pixels: image.pixels, duration: Duration.milliseconds(40)) }
            return DecodedImage(pixels: image.pixels, animation: try ImageAnimation(frames: frames))
        }
        var driver = BinderDriver()
        driver.bind { $0.previewTransition = .crossFade(duration: .milliseconds(400)) }
        for image in [try Images.image(1), try animated(2), try animated(3)] {
            driver.perform(driver.machine.receive(.preview(image), of: driver.load))
        }
        driver.finish(.success(Images.response(try animated(4))))
        #expect(driver.kinds == [.placeholder, .preview, .preview, .preview, .image])
        #expect(
            driver.presented.map(\.transition.duration) == [
                .zero, .milliseconds(400), .milliseconds(400), .zero, .zero,
            ])
        // The next binding shows another image, so its transitions apply.
        driver.bind { $0.previewTransition = .crossFade(duration: .milliseconds(400)) }
        driver.perform(driver.machine.receive(.preview(try animated(2)), of: driver.load))
        #expect(driver.presented.last?.transition.duration == .milliseconds(400))
    }

    @Test("A cached image or an image of another size is shown instead of the placeholder")
    func standIns() throws {
        var driver = BinderDriver()
        driver.probe = .pending(stored: nil, otherSize: try Images.image(1))
        driver.bind()
        #expect(driver.kinds == [.cachedPlaceholder])
        driver.bind { $0.usesCachedPlaceholder = false }
        #expect(driver.kinds == [.cachedPlaceholder, .placeholder])
        let stored = try Images.image(2)
        driver.probe = .pending(stored: stored, otherSize: nil)
        driver.bind()
        driver.perform(driver.machine.receive(.cached(Images.response(stored, .diskCache)), of: driver.load))
        driver.finish(.success(Images.response(stored, .revalidated)))
        // The server revalidated the image on screen, so nothing changes.
        #expect(driver.kinds == [.cachedPlaceholder, .placeholder, .cachedImage])
        #expect(driver.machine.snapshot.content == .image)
    }

    @Test("The image of a preliminary request in memory is shown before another size, and after the image itself")
    func preliminary() throws {
        var driver = BinderDriver()
        let (other, preliminary) = (try Images.image(1), try Images.image(2))
        driver.probe = .pending(stored: nil, otherSize: other, preliminary: preliminary)
        driver.bind()
        #expect(driver.kinds == [.preview] && driver.machine.snapshot.state == .previewing)
        // The events of the task repeat the image.
        driver.perform(driver.machine.receive(.preview(preliminary), of: driver.load))
        #expect(driver.kinds == [.preview])
        driver.probe = .pending(stored: try Images.image(3), otherSize: nil, preliminary: preliminary)
        driver.bind()
        #expect(driver.kinds == [.preview, .cachedImage])
    }

    @Test("With `keepsCurrent`, the current image stays until the next one is loaded")
    func keepsCurrent() throws {
        var driver = BinderDriver()
        driver.bind { $0.keepsCurrentImage = true }
        #expect(driver.kinds == [.placeholder])
        driver.finish(.success(Images.response(try Images.image(1))))
        driver.bind { $0.keepsCurrentImage = true }
        #expect(driver.kinds == [.placeholder, .image])
        driver.finish(.success(Images.response(try Images.image(2))))
        #expect(driver.presented.last?.kind == .image)
    }

    @Test("Events of a superseded load are ignored")
    func late() throws {
        var driver = BinderDriver()
        driver.bind()
        let old = driver.load
        driver.bind()
        #expect(driver.cancelled == [old])
        let count = driver.presented.count
        driver.perform(driver.machine.receive(.preview(try Images.image(1)), of: old))
        driver.perform(driver.machine.receive(.finished(.success(Images.response(try Images.image(1)))), of: old))
        #expect(driver.presented.count == count)
        #expect(driver.completed.map { $0.failure } == [.cancelled])
    }

    @Test("A failure and an empty slot show their own placeholders")
    func failureAndEmpty() throws {
        var driver = BinderDriver()
        driver.bind()
        driver.finish(.failure(Images.notFound))
        #expect(driver.kinds == [.placeholder, .failurePlaceholder])
        #expect(driver.machine.snapshot.state == .failed(Images.notFound))
        driver.bind { $0.failurePlaceholder = nil }
        driver.finish(.failure(Images.notFound))
        #expect(driver.kinds == [.placeholder, .failurePlaceholder, .placeholder])
        driver.bind(nil) { $0.fallback = .color(.clear) }
        #expect(driver.presented.last?.kind == .fallback)
        #expect(driver.completed.last?.failure?.code == 1002)
        #expect(driver.machine.snapshot.state == .idle)
    }

    @Test("After a failure, a view that would be empty shows an icon, and others keep their content")
    func missingImage() throws {
        var driver = BinderDriver()
        let bare: (inout ImageViewOptions) -> Void = {
            $0.placeholder = .empty
            $0.failurePlaceholder = nil
        }
        driver.bind(BinderDriver.request, bare)
        driver.finish(.failure(Images.notFound))
        #expect(driver.kinds.last == .failurePlaceholder && driver.machine.snapshot.content == .failurePlaceholder)
        guard case .icon("image-missing-symbolic") = driver.presented.last?.content else {
            Issue.record("\(String(describing: driver.presented.last))")
            return
        }
        driver.perform(driver.machine.retry())
        driver.finish(.success(Images.response(try Images.image(1))))
        #expect(driver.machine.snapshot.content == .image)
        // The current image remains.
        driver.bind {
            bare(&$0)
            $0.keepsCurrentImage = true
        }
        driver.finish(.failure(Images.notFound))
        #expect(driver.kinds.last == .image)
        driver.bind {
            bare(&$0)
            $0.failurePlaceholder = .empty
        }
        driver.finish(.failure(Images.notFound))
        guard case .empty = driver.presented.last?.content else {
            Issue.record("\(String(describing: driver.presented.last))")
            return
        }
        // The slots of states and backgrounds remain empty.
        var other = BinderDriver()
        other.machine = BinderStateMachine(isMapped: true, showsMissingImage: false)
        other.bind(BinderDriver.request, bare)
        other.finish(.failure(Images.notFound))
        #expect(other.machine.content == nil)
        // An application that sets images itself receives no icon.
        driver.bind {
            bare(&$0)
            $0.setsImageAutomatically = false
        }
        let count = driver.presented.count
        driver.finish(.failure(Images.notFound))
        #expect(driver.presented.count == count)
    }

    @Test("A failed load is retried by `retry`, and after a network failure also when the network returns")
    func retries() throws {
        var driver = BinderDriver()
        driver.bind()
        driver.perform(driver.machine.retry())
        #expect(driver.started.count == 1)
        driver.finish(.failure(Images.notFound))
        driver.perform(driver.machine.networkReturned())
        #expect(driver.started.count == 1)
        driver.perform(driver.machine.retry())
        #expect(driver.started.count == 2)
        #expect(driver.started[1].caching.bypassesFailureCache)
        #expect(driver.kinds == [.placeholder, .failurePlaceholder, .placeholder])
        driver.finish(.failure(Images.offline))
        driver.perform(driver.machine.networkReturned())
        driver.finish(.success(Images.response(try Images.image(1))))
        #expect(driver.presented.last?.kind == .image)
        #expect(driver.completed.count == 1)
        driver.perform(driver.machine.networkReturned())
        #expect(driver.started.count == 3)
    }

    @Test("When the view is unmapped, the load is canceled, and it restarts when the view is mapped")
    func unmapCancels() throws {
        var driver = BinderDriver()
        driver.bind()
        driver.perform(driver.machine.setMapped(false))
        #expect(driver.running.isEmpty)
        #expect(driver.machine.snapshot.state == .waiting)
        driver.perform(driver.machine.setMapped(true))
        #expect(driver.running.count == 1)
        #expect(driver.kinds == [.placeholder])
        driver.perform(driver.machine.setMapped(false))
        driver.bind()
        #expect(driver.running.isEmpty)
        #expect(driver.completed.count == 1)
    }

    @Test("With `unmapping` set to `lower`, an unmapped view lowers the priority instead of canceling")
    func unmapLowers() throws {
        var driver = BinderDriver()
        driver.bind { $0.offscreenBehavior = .lowerPriority(to: .low) }
        driver.perform(driver.machine.setMapped(false))
        driver.perform(driver.machine.setMapped(true))
        #expect(driver.priorities == [.low, .normal])
        driver.perform(driver.machine.setMapped(false))
        driver.bind { $0.offscreenBehavior = .lowerPriority(to: .veryLow) }
        #expect(driver.started.last?.priority == .veryLow)
    }

    @Test("The load waits for a size, uses it in pixels, and restarts only for a much larger size")
    func sizes() throws {
        var driver = BinderDriver()
        driver.bind { $0.sizing = .fit }
        #expect(driver.started.isEmpty)
        #expect(driver.kinds == [.placeholder])
        driver.perform(driver.machine.allocate(ViewAllocation(width: 0, height: 0)))
        #expect(driver.started.isEmpty)
        driver.perform(driver.machine.allocate(ViewAllocation(width: 100, height: 60.2, scaleFactor: 2)))
        #expect(driver.started.last?.size == .fit(width: 200, height: 121))
        #expect(driver.started.last?.caching.allowsLargerImages == true)
        driver.finish(.success(Images.response(try Images.image(1, dimension: 121))))
        for (width, height) in [(110.0, 70.0), (50, 30), (300, 61)] {
            driver.perform(driver.machine.allocate(ViewAllocation(width: width, height: height, scaleFactor: 2)))
            #expect(driver.started.count == 1)
        }
        driver.perform(driver.machine.allocate(ViewAllocation(width: 200, height: 120, scaleFactor: 2)))
        #expect(driver.started.last?.size == .fit(width: 400, height: 240))
        driver.finish(.success(Images.response(try Images.image(1, dimension: 240))))
        #expect(driver.kinds == [.placeholder, .image, .image])
        #expect(driver.presented.last?.transition == ImageTransition.none)
        #expect(driver.completed.count == 1)
    }

    @Test("An image at full size and a request with a size aren't reloaded at a larger size")
    func fullSize() throws {
        var driver = BinderDriver()
        driver.perform(driver.machine.allocate(ViewAllocation(width: 10, height: 10)))
        driver.bind { $0.sizing = .fit }
        driver.finish(.success(Images.response(try Images.image(1, dimension: 8, stored: 8))))
        driver.perform(driver.machine.allocate(ViewAllocation(width: 100, height: 100)))
        #expect(driver.started.count == 1)
        driver.bind(ImageRequest(url: Images.url, size: .fit(width: 5))) { $0.sizing = .fit }
        driver.perform(driver.machine.allocate(ViewAllocation(width: 500, height: 500)))
        #expect(driver.started.map(\.size) == [.fit(width: 10, height: 10), .fit(width: 5)])
    }

    @Test("A load that has become too small is replaced with a larger one, which starts before the cancellation")
    func outgrown() throws {
        var driver = BinderDriver()
        driver.perform(driver.machine.allocate(ViewAllocation(width: 10, height: 10)))
        driver.bind { $0.sizing = .fill }
        driver.perform(driver.machine.allocate(ViewAllocation(width: 10.5, height: 10)))
        #expect(driver.started.count == 1)
        let actions = driver.machine.allocate(ViewAllocation(width: 20, height: 10))
        guard case .start(let load, let request)? = actions.first, case .cancel(1, false)? = actions.last else {
            Issue.record("unexpected actions \(actions)")
            return
        }
        #expect(load == 2)
        #expect(request.size == .fill(width: 20, height: 10))
    }

    @Test("F-15: If a reload at a larger size fails, the smaller image stays")
    func failedRefinement() throws {
        var driver = BinderDriver()
        driver.perform(driver.machine.allocate(ViewAllocation(width: 8, height: 8)))
        driver.bind { $0.sizing = .fit }
        driver.finish(.success(Images.response(try Images.image(1))))
        driver.perform(driver.machine.allocate(ViewAllocation(width: 80, height: 80)))
        driver.finish(.failure(Images.offline))
        #expect(driver.kinds == [.placeholder, .image])
        #expect(driver.machine.snapshot.state == .showing)
        #expect(driver.completed.count == 1)
    }

    @Test("With `setsImageAutomatically` set to `false`, the content of the view doesn't change")
    func setsNever() throws {
        var driver = BinderDriver()
        driver.bind { $0.setsImageAutomatically = false }
        driver.finish(.success(Images.response(try Images.image(1))))
        #expect(driver.presented.isEmpty)
        #expect(try driver.completed[0].get().image.number == 1)
    }

    @Test("Unbinding clears the slot once and ends all work")
    func unbinding() throws {
        var driver = BinderDriver()
        driver.bind()
        driver.perform(driver.machine.unbind())
        #expect(driver.kinds == [.placeholder, .nothing])
        #expect(driver.completed.map { $0.failure } == [.cancelled])
        #expect(driver.running.isEmpty)
        driver.perform(driver.machine.unbind())
        driver.perform(driver.machine.retry())
        driver.perform(driver.machine.setMapped(false))
        driver.perform(driver.machine.setMapped(true))
        #expect(driver.presented.count == 2)
        #expect(driver.started.count == 1)
    }

    @Test("An `empty` placeholder clears the view on a failure or without a URL, and `nil` leaves it unchanged")
    func emptyPlaceholders() throws {
        var driver = BinderDriver()
        driver.bind { $0.failurePlaceholder = nil }
        driver.finish(.failure(.request(.fileNotFound(path: "/a"))))
        #expect(driver.kinds == [.placeholder])
        driver.bind { $0.failurePlaceholder = .empty }
        driver.finish(.failure(.request(.fileNotFound(path: "/a"))))
        #expect(driver.kinds.last == .failurePlaceholder)
        guard case .empty = driver.presented.last?.content else {
            Issue.record("\(String(describing: driver.presented.last))")
            return
        }
        driver.bind(nil) { $0.fallback = .empty }
        guard case .empty = driver.presented.last?.content else {
            Issue.record("\(String(describing: driver.presented.last))")
            return
        }
        driver.bind(nil) { $0.fallback = nil }
        guard case .color = driver.presented.last?.content else {
            Issue.record("\(String(describing: driver.presented.last))")
            return
        }
    }

    @Test("A negative duration of a transition becomes zero", arguments: [Duration.seconds(-1), .nanoseconds(-1)])
    func durations(seconds: Duration) {
        var transition = ImageTransition.crossFade(duration: seconds)
        #expect(transition.duration == .zero)
        transition = .zoom()
        transition.duration = seconds
        #expect(transition.duration == .zero)
    }
}
