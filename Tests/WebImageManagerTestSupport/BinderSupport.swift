// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

/// Images that carry a number, and responses that contain them.
package enum BinderImages {
    package static let url = URL(filePath: "/picture")

    /// Returns an image of `dimension` × `dimension` pixels with the metadata of an original of `stored` × `stored`
    /// pixels. The image carries `number`.
    package static func image(_ number: Int, dimension: Int = 8, stored: Int = 1_000) throws -> DecodedImage {
        let canvas = try PixelCanvas(size: PixelSize(width: dimension, height: dimension))
        return DecodedImage(
            pixels: canvas.finish(isOpaque: false),
            metadata: ImageMetadata(
                storedSize: PixelSize(width: stored, height: stored),
                codePoints: ColorCodePoints(primaries: number, transfer: 0)))
    }

    package static func response(_ image: DecodedImage, _ origin: ImageResponse.Source = .network) -> ImageResponse {
        ImageResponse(image: image, url: url, source: origin)
    }

    package static let offline = ImageError.network(ImageError.NetworkFailure(.offline, url: url))
    package static let notFound = ImageError.network(
        ImageError.NetworkFailure(.unacceptableStatusCode, url: url, phase: .waitingForResponse, statusCode: 404))
}

extension DecodedImage {
    /// The number that ``BinderImages`` assigned to the image.
    package var number: Int? { metadata.fileCodePoints?.primaries }
}

/// A slot that records what it displays, with a manager whose loader has predefined responses.
@MainActor
package final class BoundSlot {
    package let loader = StubLoader()
    package let fixture: ManagerFixture
    package private(set) var presentations: [ImageBinder.Presentation] = []
    package private(set) var completed: [Result<ImageResponse, ImageError>] = []
    package private(set) lazy var binder = ImageBinder(manager: fixture.manager) { [weak self] presentation in
        self?.presentations.append(presentation)
    }

    package init() throws {
        fixture = try ManagerFixture { [loader] in
            $0.loaders = [loader]
            $0.cachePolicy = .cacheFirst
        }
    }

    package var kinds: [ImageBinder.Presentation.Kind] { presentations.map(\.kind) }

    /// Sets the response for a URL: an image of `number + 10` pixels in width that is delivered after the gate opens.
    @discardableResult
    package func serve(_ number: Int, gate: TestGate? = nil) throws -> URL {
        let url = try #require(URL(string: "https://example.org/\(number).png"))
        loader.respond(
            to: url,
            with: StubLoader.Response(body: try TestImages.png(number, width: number + 10), responseGate: gate))
        return url
    }

    package func bind(_ url: URL?, _ change: (inout ImageViewOptions) -> Void = { _ in }) {
        var options = ImageViewOptions(placeholder: .blurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj"))
        options.sizing = .originalSize
        change(&options)
        binder.bind(url.map { ImageRequest(url: $0) }, options: options) { self.completed.append($0) }
    }

    package func bind(_ request: ImageRequest) { binder.bind(request) { self.completed.append($0) } }

    package func record(_ presentation: ImageBinder.Presentation) { presentations.append(presentation) }

    package func waitForEnds(_ count: Int) async { await untilTrue { completed.count >= count } }
}
