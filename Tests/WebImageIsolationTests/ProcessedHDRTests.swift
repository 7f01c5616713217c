// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageCore
import WebImageTestSupport
import WebImageTesting

@Suite("Stored images with a high dynamic range through helpers", .enabled(if: Helpers.areBuilt))
struct ProcessedHDRTests {
    private func file() throws -> Data {
        func filled(_ width: Int, _ height: Int) throws -> PixelBuffer {
            let canvas = try PixelCanvas(size: PixelSize(width: width, height: height), format: .rgba8)
            canvas.withUnsafeMutableBytes { bytes in
                for place in bytes.indices {
                    bytes[place] = place & 3 == 3 ? 255 : UInt8(truncatingIfNeeded: place * 7)
                }
            }
            return canvas.finish(isOpaque: true)
        }
        let metadata = GainMapMetadata(gainMax: 2, alternateHeadroom: 2)
        let image = DecodedImage(pixels: try filled(64, 48))
            .with(gainMap: GainMap(pixels: try filled(32, 24), metadata: metadata))
        return try ImageCoderRegistry.standard.encode(image, as: .jpeg(quality: 95))
    }

    private func manager(_ directory: TemporaryDirectory, isolates: Bool) -> ImageManager {
        ImageManager {
            $0.diskCache = DiskCache.Configuration(path: directory.file("cache"))
            $0.downloader.proxy = .disabled
            $0.decoding.isolation = isolates ? .required : .off
            $0.decoding.isolatesAllFormats = isolates
            if isolates { $0.decoding.helperPath = Helpers.decoder }
        }
    }

    private func bytes(_ pixels: PixelBuffer) -> Data { pixels.withUnsafeBytes { Data($0) } }

    @Test("An image comes back from disk with the same gain map, with helpers and without", arguments: [true, false])
    func gainMap(_ isolates: Bool) async throws {
        let data = try file()
        let server = try LoopbackServer {
            ServerResource(body: data, type: "image/jpeg", cacheControl: "max-age=3600").response(to: $0)
        }
        var request = ImageRequest(url: server.url("/a"), size: .fit(width: 20))
        request.decoding.dynamicRange = .high
        request.caching.processedEncoding = .png
        request.caching.waitsUntilStored = true
        // The stored files and the images must be the same in a process of another kind.
        let directory = try TemporaryDirectory()
        let first = manager(directory, isolates: isolates)
        let fresh = try await first.image(for: request)
        await first.shutdown()
        let second = manager(directory, isolates: !isolates)
        let response = try await second.response(for: request)
        #expect(response.source == .diskCache)
        let stored = response.image
        #expect(bytes(stored.pixels) == bytes(fresh.pixels))
        let (map, expected) = (try #require(stored.gainMap), try #require(fresh.gainMap))
        #expect(map.metadata == expected.metadata && bytes(map.pixels) == bytes(expected.pixels))
        await second.shutdown()
    }
}
