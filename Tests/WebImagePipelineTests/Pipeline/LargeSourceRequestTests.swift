// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Requests for small images of large sources", .timeLimit(.minutes(5)))
struct LargeSourceRequestTests {
    /// A JPEG file of 72 megapixels, which exceeds the limit for decoded pixels.
    private static let file = LargeImages.jpeg(width: 9_000, height: 8_000)

    private func failure(_ fixture: ManagerFixture, _ request: ImageRequest) async -> ImageError.LimitFailure? {
        do throws(ImageError) {
            _ = try await fixture.manager.image(for: request)
            return nil
        } catch {
            guard case .limitExceeded(let failure) = error else { return nil }
            return failure
        }
    }

    @Test("A small image is accepted before and after a request without a size is rejected")
    func order() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(Self.file, contentType: "image/jpeg")])
        let fixture = try ManagerFixture()
        let whole = ImageRequest(url: server.url("/a"))
        for width in [300.0, 200] {
            let rejected = await failure(fixture, whole)
            #expect(rejected?.kind == .pixelCount && rejected?.actual == 72_000_000)
            let image = try await fixture.manager.image(
                for: ImageRequest(url: server.url("/a"), size: .fit(width: width)))
            #expect(image.size.width == Int(width))
        }
    }

    @Test("Concurrent requests share the load of a large file although only one of them can be decoded")
    func concurrent() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(Self.file, contentType: "image/jpeg")])
        let fixture = try ManagerFixture()
        let whole = ImageRequest(url: server.url("/a"))
        let small = ImageRequest(url: server.url("/a"), size: .fit(width: 300))
        async let rejected = failure(fixture, whole)
        async let image = fixture.manager.image(for: small)
        let width = try await image.size.width
        #expect(width == 300)
        let kind = await rejected?.kind
        #expect(kind == .pixelCount)
    }

    @Test("The limit for the size in the header rejects the file at every size")
    func header() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(Self.file, contentType: "image/jpeg")])
        let fixture = try ManagerFixture { $0.limits.maxSourcePixels = 71_999_999 }
        let small = ImageRequest(url: server.url("/a"), size: .fit(width: 300))
        let rejected = await failure(fixture, small)
        #expect(rejected == ImageError.LimitFailure(.sourcePixelCount, limit: 71_999_999, actual: 72_000_000))
        await fixture.manager.diskCache?.flush()
        #expect(await fixture.manager.diskCache?.entries().isEmpty == true)
    }

    @Test("A decode charges the budget with the reduced image if the decoder reduces it, and else with the whole image")
    func cost() throws {
        let info = try ImageInfo(data: Self.file)
        let coders = ImageCoderRegistry.standard
        let small = ImageDecodingOptions(size: .fit(width: 300))
        // libjpeg reduces to an eighth of each side, and then the image is resampled to 300 × 267.
        #expect(DecodeStage.cost(info, small, coders) == 1_125 * 1_000 * 4 + 2 * 300 * 267 * 4)
        #expect(DecodeStage.cost(info, ImageDecodingOptions(), coders) == 72_000_000 * 4)
        let gif = ImageInfo(format: .gif, storedSize: PixelSize(width: 9_000, height: 8_000))
        #expect(DecodeStage.cost(gif, small, coders) == 72_000_000 * 4)
        #expect(DecodeStage.cost(nil, small, coders) == 0)
        for (range, factor) in [(ImageDecodingOptions.DynamicRange.high, 2), (.pq, 4)] {
            let options = ImageDecodingOptions(dynamicRange: range)
            #expect(DecodeStage.cost(info, options, coders) == 72_000_000 * 4 * factor)
        }
    }

    @Test("A small image of a large source is accepted under critical memory pressure")
    func pressure() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(Self.file, contentType: "image/jpeg")])
        let fixture = try ManagerFixture()
        fixture.manager.configuration.memoryPressureMonitor.report(.critical)
        let small = ImageRequest(url: server.url("/a"), size: .fit(width: 300))
        #expect(try await fixture.manager.image(for: small).size.width == 300)
    }

    @Test("A large file can be stored and imported for requests of small images, and an undecodable file can't")
    func stored() async throws {
        let loader = StubLoader()
        let fixture = try ManagerFixture { $0.loaders = [loader] }
        let manager = fixture.manager
        let urls = (0..<3).map { URL(filePath: "/\($0)").webURL }
        try await manager.store(Self.file, for: ImageRequest(url: urls[0]))
        let disk = try #require(manager.diskCache)
        let files = [Self.file, LargeImages.jpeg(width: 20_000, height: 20_000, isProgressive: true)].enumerated()
            .map { index, data in
                (url: urls[index + 1], file: URL(filePath: fixture.directory.file("\(index).jpg")), data: data)
            }
        for file in files { try file.data.write(to: file.file) }
        let report = await disk.importImages(files.map { ($0.url, $0.file) })
        // The coefficients of a progressive file are all in memory, with 2 bytes per pixel of a gray image.
        let limit = ImageError.limitExceeded(
            ImageError.LimitFailure(
                .decodedSize, limit: 2 * ImageLimits.desktop.maxDecodedBytes, actual: 800_001_024,
                detail: "the coefficients of a progressive JPEG file"))
        #expect(report.entryCount == 1 && Array(report.failures.values) == [limit])
        await #expect(throws: limit) {
            try await manager.store(files[1].data, for: ImageRequest(url: urls[2]))
        }
        for url in urls.prefix(2) {
            let image = try await manager.image(for: ImageRequest(url: url, size: .fit(width: 300)))
            #expect(image.size.width == 300)
        }
        let strict = await disk.importImages(
            [(urls[2], files[0].file)], limits: ImageLimits(maxSourcePixels: 71_999_999))
        #expect(strict.entryCount == 0 && strict.failures.count == 1)
        #expect(loader.requests.isEmpty)
    }

    @Test("The header decides about a file of any size as the decoders do", arguments: [1_125_000, 1_124_999])
    func agreement(maxPixels: Int) throws {
        var limits = ImageLimits.desktop
        limits.maxPixels = maxPixels
        var files = [
            Self.file, LargeImages.jpeg(width: 9_000, height: 8_000, isProgressive: true),
            LargeImages.png(width: 1_500, height: 1_000),
        ]
        let image = DecodedImage(pixels: try TestImages.pixels(1, width: 1_500, height: 1_000))
        let coders = ImageCoderRegistry.standard
        for encoding in [ImageEncoding.webp(quality: 80), .webp.lossless, ImageEncoding(format: .bmp)] {
            files.append(try coders.encode(image, as: encoding, context: ImageProcessingContext()))
        }
        for file in files {
            let info = try ImageInfo(data: file)
            let isAccepted = (try? coders.inspect(file, limits: limits, anySize: true)) != nil
            let isExpected = (try? limits.checkAtAnySize(info, encodedBytes: file.count)) != nil
            #expect(isAccepted == isExpected, "\(info.format) \(info.isProgressive)")
        }
    }

    @Test("Previews of a large source charge the budget with the reduced image")
    func previews() async throws {
        let picture = try SteppedImage(Self.file) { configuration in
            configuration.decodesWhileDownloading = false
            // The full image needs 288 MB, and the reduced one less than 6 MB.
            configuration.progressiveMemoryLimit = 6 << 20
        }
        var request = ImageRequest(url: picture.url, size: .fit(width: 300))
        request.previews = .progressive
        let task = picture.manager.load(request)
        let log = EventLog(task)
        await picture.begin(parts: 3)
        await untilTrue { log.previews.count == 1 }
        #expect(log.previews.first?.size.width == 300)
        picture.loader.go(.finish(picture.data))
        #expect(try await task.image.size.width == 300)
    }
}

extension URL {
    fileprivate var webURL: URL { URL(string: "https://large.test" + path) ?? self }
}
