// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Stored processed images with a high dynamic range", .timeLimit(.minutes(5)))
struct ProcessedHDRTests {
    private static let encodings: [(name: String, encoding: ImageEncoding)] = [
        ("png", .png), ("jpeg", .jpeg(quality: 60)), ("webp", .webp(quality: 60)), ("lossless", .webp.lossless),
        ("qoi", .qoi), ("pam", .pam), ("automatic", .automatic), ("small", ImageEncoding.png.with(\.maxDimension, 12)),
        ("avif", .avif), ("jxl", .jxl), ("hdr", .png.with(\.color, .sRGB)),
    ].filter { $0.encoding.format.map(ImageCoderRegistry.standard.canEncode) ?? true }

    private static func gradient(_ width: Int, _ height: Int) throws -> PixelBuffer {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height), format: .rgba8)
        canvas.withUnsafeMutableBytes { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    let pixel = y * canvas.bytesPerRow + x * 4
                    let values = [x * 255 / width, y * 255 / height, (x + y) & 255, 255]
                    for (channel, value) in values.enumerated() { bytes[pixel + channel] = UInt8(value) }
                }
            }
        }
        return canvas.finish(isOpaque: true)
    }

    /// A JPEG file with a gain map whose channels have different numbers.
    private static func gainMapFile() throws -> Data {
        var metadata = GainMapMetadata(gainMax: 2, alternateHeadroom: 2.5)
        metadata.gainMax = SIMD3(2, 1.75, 1.5)
        let map = GainMap(pixels: try gradient(32, 24), metadata: metadata)
        let image = DecodedImage(pixels: try gradient(64, 48)).with(gainMap: map)
        return try ImageCoderRegistry.standard.encode(image, as: .jpeg(quality: 90))
    }

    private static func server() throws -> LoopbackServer {
        let gainMap = try gainMapFile()
        return try LoopbackServer { request in
            if request.path.hasPrefix("/map") {
                return ServerResource(body: gainMap, type: "image/jpeg", cacheControl: "max-age=3600")
                    .response(to: request)
            }
            let file = Fixtures.directory.appending(path: "colors/cicp-9-\(request.path.dropFirst())")
            guard let data = try? Data(contentsOf: file) else { return .status(404) }
            return ServerResource(body: data, type: "image/png", cacheControl: "max-age=3600").response(to: request)
        }
    }

    private static func request(
        _ server: LoopbackServer, _ path: String, _ encoding: ImageEncoding,
        _ range: ImageDecodingOptions.DynamicRange = .high
    ) -> ImageRequest {
        var request = ImageRequest(url: server.url(path), size: .fit(width: 20))
        request.decoding.dynamicRange = range
        request.transformers = [
            FlipTransformer(.horizontal), CropTransformer(.rect(x: 2, y: 1, width: 12, height: 10)),
        ]
        request.caching.processedEncoding = encoding
        request.caching.waitsUntilStored = true
        return request
    }

    private func expectSame(_ image: DecodedImage, _ other: DecodedImage, _ name: String) throws {
        #expect(image.isHDR && other.isHDR, "\(name)")
        #expect(image.pixels.format == other.pixels.format && image.size == other.size, "\(name)")
        #expect(image.pixels.packedBytes() == other.pixels.packedBytes(), "\(name)")
        #expect(image.metadata == other.metadata && image.format == other.format, "\(name)")
        #expect(image.gainMap?.metadata == other.gainMap?.metadata, "\(name)")
        #expect(image.gainMap?.pixels.format == other.gainMap?.pixels.format, "\(name)")
        #expect(image.gainMap?.pixels.packedBytes() == other.gainMap?.pixels.packedBytes(), "\(name)")
        for headroom in [1.0, 3] {
            let (own, expected) = try (image.rendered(headroom: headroom), other.rendered(headroom: headroom))
            #expect(own.withUnsafeBytes { Data($0) } == expected.withUnsafeBytes { Data($0) }, "\(name)")
        }
    }

    /// Loads images in all encodings, restarts the manager without the original data, and loads them again. Returns the
    /// names of the requests that contacted the server again.
    private func reload(
        _ path: String, _ range: ImageDecodingOptions.DynamicRange = .high
    ) async throws -> Set<String> {
        let server = try Self.server()
        var fixture = try ManagerFixture()
        let requests = Self.encodings.map { ($0.name, Self.request(server, "\(path)?\($0.name)", $0.encoding, range)) }
        var fresh: [DecodedImage] = []
        for (name, request) in requests {
            let response = try await fixture.manager.response(for: request)
            #expect(response.image.isHDR && response.image.size == PixelSize(width: 12, height: 10), "\(name)")
            fresh.append(response.image)
        }
        await fixture.manager.diskCache?.flush()
        fixture = try await fixture.restarted()
        await fixture.manager.diskCache?.remove { !$0.key.components.contains("decode") }
        var contacts: Set<String> = []
        for (place, (name, request)) in requests.enumerated() {
            let before = server.counters.requests
            let stored = try await fixture.manager.response(for: request).image
            try expectSame(stored, fresh[place], name)
            if server.counters.requests != before { contacts.insert(name) }
        }
        return contacts
    }

    @Test("A reduced, flipped, and cropped image comes back from disk with its gain map, in every encoding")
    func gainMap() async throws {
        let contacts = try await reload("/map")
        #expect(contacts.isEmpty)
    }

    @Test("A PQ or HLG image comes back from disk if the encoding can store it", arguments: ["16", "18"])
    func samples(_ transfer: String) async throws {
        let contacts = try await reload("/\(transfer)-16.png")
        let able = Set(["png", "small", "avif"])
        #expect(contacts == Set(Self.encodings.map(\.name)).subtracting(able))
    }

    @Test(
        "An image that was rendered in PQ comes back from disk if the encoding can store it",
        arguments: ["map", "18-16.png"])
    func rendered(_ path: String) async throws {
        let contacts = try await reload("/\(path)", .pq)
        #expect(contacts == Set(Self.encodings.map(\.name)).subtracting(["png", "small", "avif"]))
    }

    @Test("An image isn't stored if its encoding omits the dynamic range")
    func omitted() async throws {
        let server = try Self.server()
        let fixture = try ManagerFixture()
        for encoding in [ImageEncoding.png, .jpeg] {
            let request = Self.request(
                server, "/map?\(encoding.formatOrAutomatic)", encoding.with(\.preservesDynamicRange, false))
            #expect(try await fixture.manager.image(for: request).isHDR)
        }
        await fixture.manager.diskCache?.flush()
        let entries = try #require(await fixture.manager.diskCache?.entries())
        #expect(entries.count == 2 && entries.allSatisfy { !$0.key.components.contains("decode") })
    }

    @Test("An encoding of the stored image is an ordinary file with the gain map")
    func encoded() async throws {
        let server = try Self.server()
        let fixture = try ManagerFixture()
        let request = Self.request(server, "/map", .jpeg(quality: 60))
        let image = try await fixture.manager.image(for: request)
        let file = try await fixture.manager.encodedImage(for: request, as: .jpeg(quality: 60)).data
        #expect(file.suffix(2) == Data([0xFF, 0xD9]))
        let read = try ImageCoderRegistry.standard.decode(file, options: ImageDecodingOptions(dynamicRange: .high))
        #expect(read.gainMap?.size == image.gainMap?.size)
    }

    @Test("Every truncation and every wrong size of a stored file is an error or the base image")
    func corrupt() throws {
        let registry = ImageCoderRegistry.standard
        let context = ImageProcessingContext()
        let options = ImageDecodingOptions(dynamicRange: .high)
        let image = try registry.decode(Self.gainMapFile(), options: options)
        let file = try ProcessedFile.data(of: image, as: .png, registry, context: context)
        #expect(try ProcessedFile.decode(file, options: options, registry, context: context).gainMap != nil)
        // Other programs and requests for standard dynamic range see the base image.
        #expect(try registry.decode(file).pixels.packedBytes() == image.pixels.packedBytes())
        for place in file.count - 16..<file.count - 8 {
            for value in [UInt8(0), 1, 0x7F, 0xFF] where file[place] != value {
                var changed = file
                changed[place] = value
                #expect(throws: ImageError.self) {
                    try ProcessedFile.decode(changed, options: options, registry, context: context)
                }
            }
        }
        let mark = file.suffix(16)
        for count in stride(from: 0, to: file.count - 16, by: 61) {
            #expect(throws: ImageError.self) {
                try ProcessedFile.decode(file.prefix(count) + mark, options: options, registry, context: context)
            }
        }
    }
}
