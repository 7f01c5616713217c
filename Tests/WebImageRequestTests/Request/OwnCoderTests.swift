// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// A coder that returns an image of a fixed width for any data.
private struct WidthCoder: ImageCoder {
    let width: Int
    var format: ImageFormat?

    var identifier: String { "width \(width)" }

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format != nil && format == self.format }

    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: 1))
        return DecodedImage(pixels: canvas.finish(isOpaque: false))
    }
}

@Suite("Requests with a custom coder", .timeLimit(.minutes(5)))
struct OwnCoderTests {
    private func url(_ name: String) throws -> URL { try #require(URL(string: "test://pictures/\(name)")) }

    private func manager(_ loader: StubLoader, coder: (any ImageCoder)? = nil) -> ImageManager {
        ImageManager {
            $0.diskCache = nil
            $0.loaders = [loader]
            if let coder { $0.coders.register(coder) }
        }
    }

    @Test("A custom coder decodes the image under a separate key")
    func keys() async throws {
        let url = try url("a.png")
        let png = try TestImages.png(1)
        let manager = manager(StubLoader { _ in .init(body: png) })
        var own = ImageRequest(url: url)
        own.coder = WidthCoder(width: 3)
        var other = ImageRequest(url: url)
        other.coder = WidthCoder(width: 5)
        #expect(try await manager.image(for: own).size.width == 3)
        #expect(try await manager.image(for: ImageRequest(url: url)).size.width == 64)
        #expect(try await manager.image(for: other).size.width == 5)
        #expect(try await manager.image(for: own).size.width == 3)
        await manager.shutdown()
    }

    @Test("The key depends only on the identifier of the coder")
    func identifiers() throws {
        var first = ImageRequest(url: try url("a.png"))
        var second = first
        first.coder = WidthCoder(width: 3)
        second.coder = WidthCoder(width: 3)
        func key(_ request: ImageRequest) -> CacheKey {
            RequestKeys(request, source: .init(text: "x"), identities: []).decoded
        }
        #expect(key(first) == key(second))
        second.coder = WidthCoder(width: 4)
        #expect(key(first) != key(second))
        #expect(key(first) != key(ImageRequest(url: first.url)))
    }

    @Test("The file extension of the URL determines the format of data without a signature")
    func hints() async throws {
        let loader = StubLoader { _ in .init(body: Data([0, 1, 2, 3])) }
        let manager = manager(loader, coder: WidthCoder(width: 7, format: ImageFormat(rawValue: "tga")))
        #expect(try await manager.image(for: ImageRequest(url: url("a.TGA"))).size.width == 7)
        await #expect(throws: ImageError.decoding(.unknownFormat)) {
            try await manager.image(for: ImageRequest(url: url("a.bin")))
        }
        var hinted = ImageRequest(url: try url("b.bin"))
        hinted.decoding.formatHint = ImageFormat(rawValue: "tga")
        #expect(try await manager.image(for: hinted).size.width == 7)
        await manager.shutdown()
    }
}
