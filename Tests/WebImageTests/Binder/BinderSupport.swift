// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

/// Images that carry a number, and responses that contain them.
enum BinderImages {
    static let url = URL(filePath: "/picture")

    /// Returns an image of `dimension` × `dimension` pixels with the metadata of an original of `stored` × `stored`
    /// pixels. The image carries `number`.
    static func image(_ number: Int, dimension: Int = 8, stored: Int = 1_000) throws -> DecodedImage {
        let canvas = try PixelCanvas(size: PixelSize(width: dimension, height: dimension))
        return DecodedImage(
            pixels: canvas.finish(isOpaque: false),
            metadata: ImageMetadata(
                storedSize: PixelSize(width: stored, height: stored),
                codePoints: ColorCodePoints(primaries: number, transfer: 0)))
    }

    static func response(_ image: DecodedImage, _ origin: ImageResponse.Source = .network) -> ImageResponse {
        ImageResponse(image: image, url: url, source: origin)
    }

    static let offline = ImageError.network(ImageError.NetworkFailure(.offline, url: url))
    static let notFound = ImageError.network(
        ImageError.NetworkFailure(.unacceptableStatusCode, url: url, phase: .waitingForResponse, statusCode: 404))
}

extension DecodedImage {
    /// The number that ``BinderImages`` assigned to the image.
    var number: Int? { metadata.codePoints?.primaries }
}

/// A driver that performs the actions of a machine as a view would and records them. Loads stay pending unless `probe`
/// has a result.
struct BinderDriver {
    var machine = BinderStateMachine(isMapped: true)
    var presented: [BinderStateMachine.PendingPresentation] = []
    var handedOver: [BinderStateMachine.PendingPresentation] = []
    /// The kinds of the content that the handler received, and the ends of bindings, in order.
    var handled: [String] = []
    var started: [ImageRequest] = []
    var running: Set<Int> = []
    var cancelled: [Int] = []
    var priorities: [RequestPriority] = []
    var completed: [Result<ImageResponse, ImageError>] = []
    /// The result of the memory lookup for the next load.
    var probe = BinderStateMachine.StartResult.pending(stored: nil, otherSize: nil)

    var kinds: [ImageBinder.Presentation.Kind] { presented.map(\.kind) }
    var load: Int { machine.lastLoad }

    mutating func perform(_ actions: [BinderStateMachine.Action]) {
        var queue = actions
        while !queue.isEmpty {
            switch queue.removeFirst() {
            case .start(let load, let request):
                started.append(request)
                running.insert(load)
                if case .result = probe { running.remove(load) }
                queue += machine.started(load, probe)
            case .cancel(let load, _):
                running.remove(load)
                cancelled.append(load)
            case .setPriority(_, let priority): priorities.append(priority)
            case .present(let showing): presented.append(showing)
            case .handOver(let showing, _):
                handedOver.append(showing)
                handled.append(showing.kind.rawValue)
            case .complete(_, let result):
                completed.append(result)
                handled.append("end")
            }
        }
    }

    mutating func bind(
        _ request: ImageRequest? = BinderDriver.request, _ change: (inout ImageViewOptions) -> Void = { _ in }
    ) {
        var options = ImageViewOptions(placeholder: .color(.black), transition: .crossFade())
        options.sizing = .originalSize
        options.failurePlaceholder = .color(.white)
        change(&options)
        perform(machine.bind(request, options))
    }

    mutating func finish(_ result: Result<ImageResponse, ImageError>) {
        running.remove(load)
        perform(machine.receive(.finished(result), of: load))
    }

    static let request = ImageRequest(url: BinderImages.url)
}

/// A slot that records what it displays, with a manager whose loader has predefined responses.
@MainActor
final class BoundSlot {
    let loader = StubLoader()
    let fixture: ManagerFixture
    private(set) var presentations: [ImageBinder.Presentation] = []
    private(set) var completed: [Result<ImageResponse, ImageError>] = []
    private(set) lazy var binder = ImageBinder(manager: fixture.manager) { [weak self] presentation in
        self?.presentations.append(presentation)
    }

    init() throws {
        fixture = try ManagerFixture { [loader] in
            $0.loaders = [loader]
            $0.cachePolicy = .cacheFirst
        }
    }

    var kinds: [ImageBinder.Presentation.Kind] { presentations.map(\.kind) }

    /// Sets the response for a URL: an image of `number + 10` pixels in width that is delivered after the gate opens.
    @discardableResult
    func serve(_ number: Int, gate: TestGate? = nil) throws -> URL {
        let url = try #require(URL(string: "https://example.org/\(number).png"))
        loader.respond(
            to: url,
            with: StubLoader.Response(body: try TestImages.png(number, width: number + 10), responseGate: gate))
        return url
    }

    func bind(_ url: URL?, _ change: (inout ImageViewOptions) -> Void = { _ in }) {
        var options = ImageViewOptions(placeholder: .blurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj"))
        options.sizing = .originalSize
        change(&options)
        binder.bind(url.map { ImageRequest(url: $0) }, options: options) { self.completed.append($0) }
    }

    func bind(_ request: ImageRequest) { binder.bind(request) { self.completed.append($0) } }

    func record(_ presentation: ImageBinder.Presentation) { presentations.append(presentation) }

    func waitForEnds(_ count: Int) async { await untilMain { completed.count >= count } }
}
