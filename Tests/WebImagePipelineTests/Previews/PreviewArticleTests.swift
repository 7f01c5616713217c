// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

/// Tests of the behavior that the article Previews describes.
@Suite("Preview article", .timeLimit(.minutes(5)))
struct PreviewArticleTests {
    private func show(_ image: DecodedImage) {}

    @Test("A request with a preview policy delivers previews")
    func asking() async throws {
        let data = try TestImages.jpeg(progressive: true)
        let server = try LoopbackServer(routes: ["/a": .ok(data, contentType: "image/jpeg")])
        let manager = try ManagerFixture().manager
        let url = server.url("/a")

        var request = ImageRequest(url: url, size: .fit(width: 320, height: 320))
        request.previews = .progressive
        let task = manager.load(request)
        for await event in task.events {
            switch event {
            case .preview(let image): show(image)
            case .finished(let result): show(try result.get().image)
            default: break
            }
        }
        #expect(task.result != nil)
    }

    @Test("One player plays the previews of an animation and the finished image")
    func animation() async throws {
        let file = try SteppedImage(Migration.gif())
        let manager = file.manager
        let url = file.url

        var request = ImageRequest(url: url)
        request.previews = .progressive
        let task = manager.load(request)
        var player: AnimationPlayer?
        var players = 0
        file.loader.go(.head(expected: nil))
        file.loader.go(.body(file.data.dropLast()))
        for await event in task.events {
            var image: DecodedImage?
            if case .preview(let preview) = event {
                image = preview
                file.loader.go(.finish(file.data))
            }
            if case .finished(.success(let response)) = event { image = response.image }
            guard let image else { continue }
            if await player?.update(image) != true {
                player = await AnimationPlayer(image, manager: manager)
                await player?.play()
                players += 1
            }
        }
        #expect(players == 1)
        let shown = await player?.image
        #expect(try await shown === task.image && shown?.frameCount == 3)
    }

    @Test("Previews are configured per request and per manager")
    func settings() throws {
        let url = try #require(URL(string: "https://pictures.example/a"))
        var request = ImageRequest(url: url)
        request.previews = .blurred
        request.previews = .progressive(interval: .seconds(1))
        let manager = ImageManager { configuration in
            configuration.previewStopFraction = 0.9
            configuration.progressiveMemoryLimit = 64 << 20
        }
        #expect(request.previews.minimumInterval == 1 && manager.configuration.previewStopFraction == 0.9)
    }

    @Test("A progressive decoder works without a manager")
    func decoder() throws {
        let pieces = [try TestImages.jpeg(progressive: false)]
        let context = ImageProcessingContext(limits: .desktop)
        let decoder = try ImageCoderRegistry.standard.makeProgressiveDecoder(for: pieces[0], context: context)
        if let decoder {
            for (index, piece) in pieces.enumerated() {
                try decoder.append(piece, isLast: index == pieces.count - 1, context: context)
                if let preview = try decoder.makePreview(context: context) {
                    print("\(preview.completedRows) of \(preview.image.metadata.storedSize.height) rows")
                    show(preview.image)
                }
            }
        } else {
            Issue.record("no progressive decoder is available")
        }
    }
}
