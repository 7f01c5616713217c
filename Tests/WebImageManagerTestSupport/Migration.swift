// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

/// A manager with a stub loader, for the rows of the migration articles.
package struct Migration {
    package let loader = StubLoader()
    package let fixture: ManagerFixture
    package var manager: ImageManager { fixture.manager }
    /// The number of requests to the loader.
    package var requestCount: Int { loader.requests.count }

    package init(
        policy: CachePolicy = .cacheFirst, _ configure: (inout ImageManager.Configuration) -> Void = { _ in }
    ) throws {
        fixture = try ManagerFixture { [loader] in
            $0.loaders = [loader]
            $0.cachePolicy = policy
            configure(&$0)
        }
    }

    /// Sets the response for the URL of a number. The default is an image of 64 × 48 pixels.
    @discardableResult
    package func serve(_ number: Int = 1, _ data: Data? = nil, gate: TestGate? = nil) throws -> URL {
        let url = try Self.url(number)
        loader.respond(to: url, with: StubLoader.Response(body: try data ?? TestImages.png(number), responseGate: gate))
        return url
    }

    /// Returns a request for the image of a number and sets its response.
    package func request(_ number: Int = 1, _ data: Data? = nil, gate: TestGate? = nil) throws -> ImageRequest {
        ImageRequest(url: try serve(number, data, gate: gate))
    }

    /// Loads a progressive JPEG that pauses after three quarters of its data until a preview is delivered.
    package func previews(_ preview: PreviewPolicy) async throws -> (count: Int, image: DecodedImage) {
        let data = try TestImages.jpeg(progressive: true)
        let gate = TestGate()
        let url = try Self.url(1)
        let cut = data.count * 3 / 4
        loader.respond(
            to: url, with: StubLoader.Response(chunks: [data.prefix(cut), data.dropFirst(cut)], bodyGate: gate))
        var request = ImageRequest(url: url)
        request.previews = preview
        let task = manager.load(request)
        var count = 0
        for await event in task.events {
            guard case .preview = event else { continue }
            count += 1
            gate.open()
        }
        return (count, try await task.image)
    }

    package static func url(_ number: Int) throws -> URL {
        try #require(URL(string: "https://pictures.example/\(number).png"))
    }

    /// Returns an animation of three frames with 64 × 48 pixels.
    package static func gif() throws -> Data {
        let frames = try (1...3).map { (pixels: try TestImages.pixels($0), duration: Duration.milliseconds(50)) }
        let image = try DecodedImage(animation: ImageAnimation(frames: frames))
        return try ImageCoderRegistry.standard.encode(image, as: .gif, context: ImageProcessingContext())
    }

    /// A square of 40 × 40 CSS pixels.
    package static let svg = Data(
        "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='40'><rect width='40' height='40'/></svg>".utf8)
}

/// The presentations that a view would show.
@MainActor
package final class RecordedPresentations {
    package private(set) var kinds: [ImageBinder.Presentation.Kind] = []
    package private(set) var transitions: [ImageTransition] = []
    package private(set) var image: DecodedImage?
    /// A gate that the first presentation opens. Tests can hold the response back with it.
    package let first = TestGate()

    package init() {}

    package func show(_ presentation: ImageBinder.Presentation) {
        defer { first.open() }
        kinds.append(presentation.kind)
        transitions.append(presentation.transition)
        image = presentation.image
    }
}
