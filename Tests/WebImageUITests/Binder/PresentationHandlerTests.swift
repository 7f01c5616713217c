// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

/// Tests of content that the application receives, also if the view doesn't set images.
@Suite("Presentation handler")
struct PresentationHandlerMachineTests {
    typealias Images = BinderImages

    @Test(
        "The handler receives everything that a view would show, in order and before the end", arguments: [true, false])
    func order(setsImages: Bool) throws {
        var driver = BinderDriver()
        driver.bind {
            $0.setsImageAutomatically = setsImages
            $0.onPresentation = { _ in }
        }
        driver.perform(driver.machine.receive(.preview(try Images.image(1)), of: driver.load))
        #expect(driver.machine.snapshot.state == .previewing)
        driver.perform(driver.machine.receive(.preview(try Images.image(2)), of: driver.load))
        let cached = Images.response(try Images.image(3), .diskCache)
        driver.perform(driver.machine.receive(.cached(cached), of: driver.load))
        driver.perform(driver.machine.receive(.preview(try Images.image(4)), of: driver.load))
        driver.finish(.success(Images.response(try Images.image(5))))
        #expect(driver.handled == ["placeholder", "preview", "preview", "cachedImage", "image", "end"])
        #expect(driver.handedOver.map(\.source) == [nil, nil, nil, .diskCache, .network])
        #expect(driver.handedOver.map(\.number) == [nil, 1, 2, 3, 5])
        #expect(driver.handedOver.last?.transition.effect == .crossFade)
        #expect(driver.presented.map(\.number) == (setsImages ? [nil, 1, 2, 3, 5] : []))
        #expect(driver.machine.snapshot.content == (setsImages ? .image : nil))
        #expect(driver.machine.snapshot.displayedRequest == (setsImages ? BinderDriver.request : nil))
    }

    @Test("The handler receives a cached image again as the final image, and no repetition of a cached image")
    func revalidated() throws {
        var driver = BinderDriver()
        let image = try Images.image(1)
        driver.probe = .pending(stored: image, otherSize: nil)
        driver.bind {
            $0.setsImageAutomatically = false
            $0.onPresentation = { _ in }
        }
        driver.perform(driver.machine.receive(.cached(Images.response(image, .diskCache)), of: driver.load))
        driver.finish(.success(Images.response(image, .revalidated)))
        #expect(driver.handled == ["cachedImage", "image", "end"])
        #expect(driver.handedOver.map(\.source) == [.memoryCache, .revalidated])
        driver.probe = .pending(stored: nil, otherSize: try Images.image(2))
        driver.bind {
            $0.setsImageAutomatically = false
            $0.onPresentation = { _ in }
        }
        #expect(driver.handedOver.last?.kind == .cachedPlaceholder)
        #expect(driver.handedOver.last?.source == .memoryCache)
    }

    @Test("The handler receives the placeholders for a failure and for a missing URL")
    func failure() {
        var driver = BinderDriver()
        driver.bind {
            $0.setsImageAutomatically = false
            $0.onPresentation = { _ in }
        }
        driver.finish(.failure(Images.notFound))
        driver.bind(nil) {
            $0.setsImageAutomatically = false
            $0.onPresentation = { _ in }
            $0.fallback = .color(.clear)
        }
        #expect(driver.handled == ["placeholder", "failurePlaceholder", "end", "fallback", "end"])
        #expect(driver.presented.isEmpty)
    }

    @Test("Clearing the view is the last content that the handler receives, before the end")
    func clearing() throws {
        var driver = BinderDriver()
        driver.bind {
            $0.setsImageAutomatically = false
            $0.onPresentation = { _ in }
        }
        driver.perform(driver.machine.unbind())
        driver.perform(driver.machine.unbind())
        #expect(driver.handled == ["placeholder", "nothing", "end"])
        #expect(driver.presented.isEmpty)
    }

    @Test("Clearing also removes the image of an earlier binding if the current one sets no images")
    func clearsEarlierImage() throws {
        var driver = BinderDriver()
        driver.bind()
        driver.finish(.success(Images.response(try Images.image(1))))
        driver.bind { $0.setsImageAutomatically = false }
        #expect(driver.kinds == [.placeholder, .image])
        driver.perform(driver.machine.unbind())
        #expect(driver.kinds == [.placeholder, .image, .nothing])
    }

    @Test("With `keepsCurrentImage`, the handler receives no placeholder after an image")
    func keepsCurrent() throws {
        var driver = BinderDriver()
        let change: (inout ImageViewOptions) -> Void = {
            $0.setsImageAutomatically = false
            $0.keepsCurrentImage = true
            $0.onPresentation = { _ in }
        }
        driver.bind(BinderDriver.request, change)
        driver.finish(.success(Images.response(try Images.image(1))))
        driver.bind(BinderDriver.request, change)
        driver.finish(.success(Images.response(try Images.image(2))))
        #expect(driver.handled == ["placeholder", "image", "end", "image", "end"])
    }
}

extension BinderStateMachine.PendingPresentation {
    /// The number of the image.
    fileprivate var number: Int? {
        if case .image(let image) = content { image.number } else { nil }
    }
}

@MainActor
@Suite("Presentation handler of a binder", .timeLimit(.minutes(5)))
struct PresentationHandlerTests {
    /// A log of the content and of the end of a binding.
    @MainActor
    private final class Log {
        var entries: [String] = []
        var sources: [ImageResponse.Source?] = []

        func options(_ action: @escaping @MainActor (ImageBinder.Presentation) -> Void = { _ in }) -> ImageViewOptions {
            var options = ImageViewOptions(placeholder: .color(.black))
            options.sizing = .originalSize
            options.setsImageAutomatically = false
            options.onPresentation = { presentation in
                self.entries.append(presentation.kind.rawValue)
                self.sources.append(presentation.source)
                action(presentation)
            }
            return options
        }

        func end(_ result: Result<ImageResponse, ImageError>) {
            entries.append(result.failure.map { "\($0.code)" } ?? "end")
        }
    }

    @Test("Previews of a download and the final image reach the handler, although the view sets no images")
    func previews() async throws {
        let slot = try BoundSlot()
        let log = Log()
        let data = try TestImages.jpeg(progressive: true)
        let gate = TestGate()
        let url = try #require(URL(string: "https://example.org/progressive.jpg"))
        let cut = data.count * 3 / 4
        slot.loader.respond(
            to: url, with: StubLoader.Response(chunks: [data.prefix(cut), data.dropFirst(cut)], bodyGate: gate))
        var request = ImageRequest(url: url)
        request.previews = .progressive
        let options = log.options { if $0.kind == .preview { gate.open() } }
        slot.binder.bind(request, options: options) { log.end($0) }
        await untilTrue { log.entries.contains("end") }
        #expect(log.entries.first == "placeholder" && log.entries[1] == "preview")
        #expect(log.entries.suffix(2) == ["image", "end"])
        #expect(log.entries.count { $0 == "image" } == 1)
        #expect(slot.presentations.isEmpty && slot.binder.displayedImage == nil)
    }

    @Test("A cached image that the manager revalidates reaches the handler before the final image")
    func cached() async throws {
        let slot = try BoundSlot()
        let log = Log()
        var request = ImageRequest(url: try slot.serve(1))
        _ = try await slot.fixture.manager.image(for: request)
        request.cachePolicy = .refresh
        slot.binder.bind(request, options: log.options()) { log.end($0) }
        #expect(log.entries == ["cachedImage"])
        await untilTrue { log.entries.contains("end") }
        #expect(log.entries.suffix(2) == ["image", "end"])
        #expect(log.entries.dropLast(2).allSatisfy { $0 == "cachedImage" })
        #expect(log.sources.first == .memoryCache && log.sources.last != .some(nil))
    }

    @Test("The handler of a replaced binding receives nothing after its end, and can bind again itself")
    func replaced() async throws {
        let slot = try BoundSlot()
        let (first, second) = (Log(), Log())
        let urls = [try slot.serve(1), try slot.serve(2)]
        let binder = slot.binder
        let options = first.options { [weak binder] presentation in
            guard presentation.kind == .image else { return }
            binder?.bind(ImageRequest(url: urls[1]), options: second.options()) { second.end($0) }
        }
        binder.bind(ImageRequest(url: urls[0]), options: options) { first.end($0) }
        await untilTrue { second.entries.contains("end") }
        #expect(first.entries == ["placeholder", "image", "end"])
        #expect(second.entries == ["placeholder", "image", "end"])
        binder.unbind()
        #expect(second.entries == ["placeholder", "image", "end", "nothing"])
        #expect(first.entries.count == 3)
    }
}
