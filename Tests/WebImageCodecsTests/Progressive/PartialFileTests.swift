// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageTestBasics

@testable import WebImageCodecs

@Suite("Previews of formats that are decoded in parts")
struct PartialFileTests {
    private func image(_ data: Data, _ options: ImageDecodingOptions = ImageDecodingOptions()) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(data, options: options, context: ImageProcessingContext())
    }

    /// Returns all previews of data in chunks of `count` equal parts, without the final image.
    private func previews(
        _ data: Data, _ options: ImageDecodingOptions = ImageDecodingOptions(), parts count: Int = 50
    ) throws -> [ImagePreview] {
        var previews: [ImagePreview] = []
        var feeding = try #require(try Feeding(data, options: options))
        let last = try feeding.finish(chunks: { data.count / count + 1 }) { previews.append($0) }
        #expect(last?.isComplete == true)
        #expect(try last?.image.pixels.hasSamePixels(as: image(data, options).pixels) == true)
        #expect(previews.allSatisfy { !$0.isComplete && $0.image.metadata.isPartial })
        return previews
    }

    /// Feeds corrupt data and expects typed errors only.
    private func corrupt(_ data: Data, rounds: Int) throws {
        var generator = SeededGenerator(UInt64(data.count))
        for round in 0..<rounds {
            var broken = data
            let end = round % 2 == 0 ? broken.count : min(broken.count, 900)
            for _ in 0...(round % 4) { broken[Int.random(in: 0..<end, using: &generator)] ^= 1 << UInt8(round % 8) }
            if round % 5 == 0 { broken = broken.prefix(Int.random(in: 1...broken.count, using: &generator)) }
            do throws(ImageError) {
                guard var feeding = try Feeding(broken) else { continue }
                _ = try feeding.finish(chunks: { Int.random(in: 1...data.count / 3, using: &generator) }) {
                    #expect($0.image.size.width > 0)
                }
            } catch {
                #expect((4000..<5000).contains(error.code) || (6000..<7000).contains(error.code), "\(error)")
            }
        }
    }

    #if AVIF
        @Test("The tiles of an AVIF grid appear from top to bottom", arguments: [nil, TargetSize.fit(width: 40)])
        func grid(_ size: TargetSize?) throws {
            let data = try Fixture.named("grid.avif").data()
            let options = ImageDecodingOptions(size: size)
            let previews = try previews(data, options)
            let whole = try image(data, options)
            #expect(previews.map(\.completedRows) == [64])
            let preview = try #require(previews.first)
            #expect(preview.image.size == whole.size && !preview.image.isOpaque)
            let (width, height) = (whole.size.width, whole.size.height)
            let above = PixelRect(x: 0, y: 0, width: width, height: height / 2 - 4)
            let context = ImageProcessingContext()
            #expect(
                similarity(
                    try preview.image.pixels.part(above, context: context),
                    try whole.pixels.part(above, context: context))
                    > 40)
            #expect(preview.image.pixels.pixel(x: 1, y: height - 2)?.alpha == 0)
        }

        @Test("An image sequence shows its still image, and a single AV1 frame has no previews")
        func stills() throws {
            let data = try Fixture.named("sequence.avif").data()
            let preview = try #require(try previews(data).first)
            #expect(similarity(preview.image.pixels, try image(data).pixels) > 30)
            #expect(try Feeding(Fixture.named("420.avif").data()) == nil)
            #expect(try Feeding(Fixture.named("alpha-420.avif").data()) == nil)
        }

        @Test(
            "A layered AVIF image shows its layers",
            .enabled(if: Conformance.directory != nil, "the conformance files aren't available"))
        func layers() throws {
            let folder = try #require(Conformance.directory)
            let data = try Data(contentsOf: folder.appending(path: "av1-avif/Xiph/fruits_2layer_thumbsize.avif"))
            let previews = try previews(data)
            let preview = try #require(previews.first)
            #expect(previews.count == 1 && preview.coversImage && preview.completedPasses == 1)
            #expect(similarity(preview.image.pixels, try image(data).pixels) > 20)
        }

        @Test("Corrupt AVIF data never crashes", arguments: ["grid.avif", "sequence.avif"])
        func corruptAVIF(_ file: String) throws { try corrupt(Fixture.named(file).data(), rounds: 60) }
    #endif

    #if HEIF
        /// Returns the fixture with the thumbnail before the image.
        private func thumbnailFirst() throws -> Data {
            try #require(HEIFItemOrder.reversed(Fixture.named("thumbnail.heic").data()))
        }

        @Test("The thumbnail of a HEIF file is the first preview", arguments: [nil, TargetSize.fit(width: 30)])
        func thumbnail(_ size: TargetSize?) throws {
            let original = try Fixture.named("thumbnail.heic").data()
            let data = try thumbnailFirst()
            let options = ImageDecodingOptions(size: size)
            let previews = try previews(data, options)
            let whole = try image(data, options)
            #expect(try whole.pixels.packedBytes() == image(original, options).pixels.packedBytes())
            let preview = try #require(previews.first)
            #expect(previews.count == 1 && preview.coversImage && preview.fractionCompleted == 0)
            #expect(preview.image.size == whole.size)
            #expect(similarity(preview.image.pixels, whole.pixels) > 12)
            // A thumbnail at the end of the file arrives together with the image.
            #expect(try Feeding(original) == nil)
        }

        @Test("HEIF data that is split anywhere results in the same image")
        func splits() throws {
            let data = try thumbnailFirst()
            let whole = try image(data).pixels
            for cut in cuts(of: data, random: 30) {
                var feeding = try #require(try Feeding(data))
                try feeding.append(to: cut)
                let preview = try feeding.preview()
                #expect(preview == nil || preview?.image.size == PixelSize(width: 64, height: 48))
                #expect(try feeding.finish()?.image.pixels.hasSamePixels(as: whole) == true)
            }
        }

        @Test("The preview of a HEIF file allocates no memory for a file or a thumbnail beyond the limits")
        func heifMemory() throws {
            let data = try thumbnailFirst()
            guard case .found(let parts) = HEIFParts.find(in: data) else {
                Issue.record("the parts are missing")
                return
            }
            let thumbnail = try #require(parts.thumbnails.first)
            let probe = try ImageInfo(data: data)
            func preview(_ limits: ImageLimits) -> Result<ImagePreview?, ImageError> {
                var decoder = HEIFPartialDecoder(probe: probe, options: ImageDecodingOptions())
                do throws(ImageError) {
                    return .success(
                        try decoder.preview(
                            of: data.prefix(thumbnail.end), context: ImageProcessingContext(limits: limits)))
                } catch {
                    return .failure(error)
                }
            }
            var limits = ImageLimits.desktop
            limits.maxEncodedBytes = parts.end
            #expect(try preview(limits).get() != nil)
            // The copy of the file would have as many bytes as the end of its last item.
            limits.maxEncodedBytes = parts.end - 1
            guard case .failure(.limitExceeded(let failure)) = preview(limits) else {
                Issue.record("the file exceeds the limit")
                return
            }
            #expect(failure.kind == .encodedSize && failure.limit == parts.end - 1 && failure.actual == parts.end)
            // The full image counts, because the preview has its size.
            limits = .desktop
            limits.maxPixels = 64 * 48 - 1
            #expect(throws: ImageError.self) { try preview(limits).get() }
            limits = .desktop
            limits.maxDecodedBytes = 64 * 48 * 4 - 1
            #expect(throws: ImageError.self) { try preview(limits).get() }
        }

        @Test("Corrupt HEIF data never crashes")
        func corruptHEIF() throws {
            try corrupt(thumbnailFirst(), rounds: 120)
        }
    #endif

    #if JXL
        private func lossless(progressive: Bool, hasAlpha: Bool = false) throws -> Data {
            var encoding = ImageEncoding(format: .jxl, isLossless: true)
            encoding.isProgressive = progressive
            return try PixelPatterns.encode(
                PixelPatterns.photo(width: 520, height: 390, hasAlpha: hasAlpha), as: encoding)
        }

        @Test("A progressive lossless JPEG XL file shows the whole image early", arguments: [false, true])
        func squeezed(hasAlpha: Bool) throws {
            let data = try lossless(progressive: true, hasAlpha: hasAlpha)
            let previews = try previews(data)
            let whole = try image(data)
            let first = try #require(previews.first { $0.coversImage })
            #expect(similarity(first.image.pixels, whole.pixels) > 18)
            let qualities = previews.map { similarity($0.image.pixels, whole.pixels) }
            for (before, after) in zip(qualities, qualities.dropFirst()) { #expect(after >= before - 0.5) }
        }

        @Test("Other lossless JPEG XL files show the groups that have arrived, and the others are transparent")
        func groups() throws {
            let data = try lossless(progressive: false)
            let whole = try image(data).pixels
            let previews = try previews(data)
            #expect(!previews.isEmpty)
            for preview in previews { #expect(hasOnlyPixels(preview.image.pixels, of: whole)) }
        }

        /// Returns whether each pixel is transparent or equal to the one of another image.
        private func hasOnlyPixels(_ pixels: PixelBuffer, of whole: PixelBuffer) -> Bool {
            guard pixels.size == whole.size, pixels.format == .rgba8, whole.format == .rgba8 else { return false }
            return pixels.withUnsafeBytes { bytes in
                whole.withUnsafeBytes { wholeBytes in
                    guard let start = bytes.baseAddress, let wholeStart = wholeBytes.baseAddress else { return false }
                    for y in 0..<pixels.height {
                        let row = (start + y * pixels.bytesPerRow).assumingMemoryBound(to: UInt32.self)
                        let wholeRow = (wholeStart + y * whole.bytesPerRow).assumingMemoryBound(to: UInt32.self)
                        var x = 0
                        while x < pixels.width {
                            // In little-endian order, alpha is the most significant byte.
                            guard row[x] &>> 24 == 0 || row[x] == wholeRow[x] else { return false }
                            x += 1
                        }
                    }
                    return true
                }
            }
        }

        @Test("Lossy JPEG XL files begin with a smaller version of the image")
        func lossy() throws {
            let pixels = try PixelPatterns.photo(width: 700, height: 500)
            let data = try PixelPatterns.encode(pixels, as: ImageEncoding(format: .jxl, quality: 90))
            let previews = try previews(data)
            let first = try #require(previews.first)
            #expect(first.coversImage && first.completedPasses == 1)
            #expect(similarity(first.image.pixels, pixels) > 20)
        }
    #endif
}
