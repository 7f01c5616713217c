// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Colors of encoded data", .timeLimit(.minutes(5)))
struct EncodedColorTests {
    private static let formats = [ImageFormat.jpeg, .png, .webp, .avif, .jxl].filter(
        ImageCoderRegistry.standard.canEncode)

    private func server(_ patches: GamutPatches) throws -> LoopbackServer {
        let resource = ServerResource(
            body: patches.file, type: "image/png", etag: "\"1\"", cacheControl: "max-age=60")
        return try LoopbackServer { resource.response(to: $0) }
    }

    /// Returns the largest difference between the colors of the patches and those of the file.
    private func difference(_ patches: GamutPatches, _ file: Data) throws -> Double {
        let image = try ImageCoderRegistry.standard.decode(file, options: ImageDecodingOptions(color: .source))
        let expected = try LabConverter.lab(of: patches.colors, profile: GamutPatches.icc(patches.profile))
        let actual = try LabConverter.lab(of: patches.centers(of: image), profile: image.profileOfPixels())
        return zip(expected, actual).map { $0.difference(from: $1) }.max() ?? .infinity
    }

    private func encoding(
        _ format: ImageFormat, _ color: ImageColorSpace = .source, lossless: [ImageFormat] = [.webp]
    ) -> ImageEncoding {
        ImageEncoding(format: format, quality: 98, isLossless: lossless.contains(format)).with(
            \.chromaSubsampling, .yuv444
        ).with(\.color, color)
    }

    @Test(
        "An image keeps a gamut that exceeds sRGB, in its own size and in a smaller one",
        .enabled(if: LabConverter.isAvailable, "requires liblcms2-utils"), arguments: ["p3", "adobe", "prophoto"],
        formats)
    func keeps(_ profile: String, _ format: ImageFormat) async throws {
        let patches = try GamutPatches(profile: profile)
        let server = try server(patches)
        let fixture = try ManagerFixture()
        for size in [nil, TargetSize.fit(width: 256)] {
            let request = ImageRequest(url: server.url("/a"), size: size)
            let data = try await fixture.manager.encodedImage(for: request, as: encoding(format)).data
            let worst = try difference(patches, data)
            #expect(worst <= 1, "\(worst)")
        }
    }

    @Test("An image is converted if the encoding requests a color space", arguments: formats)
    func converts(_ format: ImageFormat) async throws {
        let patches = try GamutPatches(profile: "prophoto")
        let server = try server(patches)
        let fixture = try ManagerFixture()
        let request = ImageRequest(url: server.url("/a"))
        for color in [ImageColorSpace.sRGB, .displayP3] {
            // Lossy JPEG XL has errors in blue that are large as samples, but not as colors. They're the same in files of
            // the program cjxl.
            let data = try await fixture.manager.encodedImage(
                for: request, as: encoding(format, color, lossless: [.webp, .jxl])
            ).data
            let plain = try ImageCoderRegistry.standard.decode(data, options: ImageDecodingOptions(color: color))
            let original = try ImageCoderRegistry.standard.decode(
                patches.file, options: ImageDecodingOptions(color: color))
            let pairs = zip(patches.centers(of: plain), patches.centers(of: original))
            #expect(pairs.allSatisfy { abs(Int($0) - Int($1)) <= 3 }, "\(color)")
            if format == .jxl { try await expectLossyColors(fixture, request, color, original) }
            let metadata = try ImageCoderRegistry.standard.decode(data).metadata
            if color == .sRGB {
                #expect(metadata.iccProfile == nil && (metadata.fileCodePoints ?? .sRGB) == .sRGB)
            } else {
                #expect(metadata.iccProfile != nil || metadata.fileCodePoints == .displayP3)
            }
        }
    }

    /// Checks that the visible difference of a lossy JPEG XL file is small.
    private func expectLossyColors(
        _ fixture: ManagerFixture, _ request: ImageRequest, _ color: ImageColorSpace, _ original: DecodedImage
    ) async throws {
        guard LabConverter.isAvailable else { return }
        let data = try await fixture.manager.encodedImage(for: request, as: encoding(.jxl, color)).data
        let image = try ImageCoderRegistry.standard.decode(data, options: ImageDecodingOptions(color: color))
        let patches = try GamutPatches(profile: "prophoto")
        let profile = try GamutPatches.icc(color == .sRGB ? "srgb" : "p3")
        let (expected, actual) = try (
            LabConverter.lab(of: patches.centers(of: original), profile: profile),
            LabConverter.lab(of: patches.centers(of: image), profile: profile)
        )
        let worst = zip(expected, actual).map { $0.difference(from: $1) }.max() ?? .infinity
        #expect(worst <= 1, "\(color): \(worst)")
    }

    @Test("Encodings in different color spaces are different entries, and an image for display stays sRGB")
    func keys() async throws {
        let patches = try GamutPatches(profile: "p3")
        let server = try server(patches)
        let fixture = try ManagerFixture()
        let request = ImageRequest(url: server.url("/a"))
        let shown = try await fixture.manager.image(for: request)
        #expect(shown.metadata.color == .sRGB)
        let wide = try await fixture.manager.encodedImage(for: request, as: .png).data
        let narrow = try await fixture.manager.encodedImage(for: request, as: encoding(.png, .sRGB)).data
        #expect(wide != narrow)
        let back = try ImageCoderRegistry.standard.decode(wide, options: ImageDecodingOptions(color: .source))
        #expect(patches.centers(of: back) == patches.colors)
        #expect(try await fixture.manager.image(for: request).pixels === shown.pixels)
        let restarted = try await fixture.restarted()
        #expect(try await restarted.manager.encodedImage(for: request, as: .png).data == wide)
        #expect(try await restarted.manager.encodedImage(for: request, as: encoding(.png, .sRGB)).data == narrow)
        #expect(restarted.manager.statistics.decodes == 0 && restarted.manager.statistics.encodes == 0)
    }

    @Test("Formats without color profiles and transformers that change colors use sRGB")
    func excluded() async throws {
        let patches = try GamutPatches(profile: "p3")
        let server = try server(patches)
        let fixture = try ManagerFixture()
        let plain = try ImageCoderRegistry.standard.decode(patches.file)
        let bitmap = try await fixture.manager.encodedImage(for: ImageRequest(url: server.url("/a")), as: .bmp).data
        #expect(patches.centers(of: try ImageCoderRegistry.standard.decode(bitmap)) == patches.centers(of: plain))
        var tinted = ImageRequest(url: server.url("/a"))
        tinted.transformers = [StandardTransformer.invert]
        let file = try await fixture.manager.encodedImage(for: tinted, as: .png).data
        let decoded = try ImageCoderRegistry.standard.decode(file, options: ImageDecodingOptions(color: .source))
        #expect(decoded.metadata.iccProfile == nil)
        #expect(patches.centers(of: decoded) == patches.centers(of: plain).map { 255 - $0 })
        var flipped = ImageRequest(url: server.url("/a"))
        flipped.transformers = [StandardTransformer.flipHorizontally, StandardTransformer.flipHorizontally]
        let kept = try await fixture.manager.encodedImage(for: flipped, as: .png).data
        let wide = try ImageCoderRegistry.standard.decode(kept, options: ImageDecodingOptions(color: .source))
        #expect(patches.centers(of: wide) == patches.colors)
    }

    @Test("Ink becomes Display P3, because files in the requested format don't contain ink")
    func ink() async throws {
        let file = Fixtures.directory.appending(path: "colors/cmyk.jpg")
        let fixture = try ManagerFixture()
        let data = try await fixture.manager.encodedImage(for: ImageRequest(url: file), as: .png).data
        let image = try ImageCoderRegistry.standard.decode(data, options: ImageDecodingOptions(color: .source))
        #expect(image.metadata.codePoints == .displayP3)
        let expected = try ImageCoderRegistry.standard.decode(
            Data(contentsOf: file), options: ImageDecodingOptions(color: .displayP3))
        #expect(image.pixels.packedBytes() == expected.pixels.packedBytes())
    }

    /// Returns a JPEG file with a gain map.
    private func gainMapFile() throws -> Data {
        let canvas = try PixelCanvas(size: PixelSize(width: 64, height: 64))
        canvas.withUnsafeMutableBytes { bytes in
            for row in 0..<64 {
                for index in 0..<64 * 4 {
                    bytes[row * canvas.bytesPerRow + index] = index % 4 == 3 ? 255 : UInt8(row * 4)
                }
            }
        }
        let pixels = canvas.finish(isOpaque: true)
        let map = GainMap(pixels: pixels, metadata: GainMapMetadata(gainMax: 2, alternateHeadroom: 2))
        return try ImageCoderRegistry.standard.encode(DecodedImage(pixels: pixels).with(gainMap: map), as: .jpeg)
    }

    @Test("An encoded image keeps a gain map if its format can store it, also after the image was shown")
    func dynamicRange() async throws {
        let resource = ServerResource(
            body: try gainMapFile(), type: "image/jpeg", etag: "\"1\"", cacheControl: "max-age=60")
        let server = try LoopbackServer { resource.response(to: $0) }
        let fixture = try ManagerFixture()
        let request = ImageRequest(url: server.url("/a"), size: .fit(width: 32))
        let shown = try await fixture.manager.image(for: request)
        #expect(!shown.isHDR && shown.metadata.hasGainMap)
        var high = ImageDecodingOptions()
        high.dynamicRange = .high
        func isHDR(_ request: ImageRequest, _ encoding: ImageEncoding) async throws -> Bool {
            let data = try await fixture.manager.encodedImage(for: request, as: encoding).data
            return try ImageCoderRegistry.standard.decode(data, options: high).isHDR
        }
        #expect(try await isHDR(request, .jpeg(quality: 90)))
        #expect(try await isHDR(request, ImageEncoding(format: .jpeg).with(\.color, .sRGB)))
        #expect(try await isHDR(request, .png))
        #expect(try await !isHDR(request, .webp))
        #expect(try await !isHDR(request, ImageEncoding(format: .jpeg).with(\.preservesDynamicRange, false)))
        #expect(try await !isHDR(request, ImageEncoding(format: .png).with(\.color, .sRGB)))
        var inverted = request
        inverted.transformers = [StandardTransformer.invert]
        #expect(try await !isHDR(inverted, .jpeg))
        #expect(try await fixture.manager.image(for: request).pixels === shown.pixels)
    }

    @Test("A processed image with a wide gamut is read from disk with the same colors")
    func processed() async throws {
        let patches = try GamutPatches(profile: "adobe")
        let server = try server(patches)
        let fixture = try ManagerFixture()
        var request = ImageRequest(url: server.url("/a"), size: .fit(width: 256))
        request.caching.processedEncoding = .png
        request.caching.waitsUntilStored = true
        let first = try await fixture.manager.encodedImage(for: request, as: .webp(quality: 90)).data
        let restarted = try await fixture.restarted()
        let again = try await restarted.manager.encodedImage(for: request, as: .webp(quality: 90)).data
        #expect(first == again)
        let other = try await restarted.manager.encodedImage(for: request, as: encoding(.jpeg)).data
        let image = try ImageCoderRegistry.standard.decode(other, options: ImageDecodingOptions(color: .source))
        let pairs = zip(patches.centers(of: image), patches.colors)
        #expect(pairs.allSatisfy { abs(Int($0) - Int($1)) <= 3 })
    }
}
