// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@testable import WebImageIsolation

@Suite("Protocol of helpers")
struct WireTests {
    private func copy<Value: BinaryCodable>(_ value: Value) throws -> Value { try Value(body: value.body) }

    @Test("Durations are the same after they were written and read, and invalid ones are rejected")
    func durations() throws {
        for attoseconds in [-999_999_999_999_999_999, -1, 0, 1, 999_999_999_999_999_999] as [Int64] {
            let duration = Duration(secondsComponent: 5, attosecondsComponent: attoseconds)
            #expect(try copy(duration) == duration)
        }
        for attoseconds in [1_000_000_000_000_000_000, .min, .max] as [Int64] {
            var writer = BinaryWriter()
            writer.put(Int64(1))
            writer.put(attoseconds)
            #expect(throws: MalformedData.self) { try Duration(body: writer.bytes) }
        }
    }

    /// Records an issue for each stored property with its default. So a property that was added to the type, but not to
    /// this test and the message, fails.
    private func expectNoDefaults<Value>(_ value: Value, _ defaults: Value, except names: Set<String> = []) {
        for (child, other) in zip(Mirror(reflecting: value).children, Mirror(reflecting: defaults).children)
        where !names.contains(child.label ?? "") {
            #expect("\(child.value)" != "\(other.value)", "\(child.label ?? "") of \(Value.self)")
        }
    }

    @Test("Values are the same after they were written and read")
    func roundTrips() throws {
        #expect(try copy(ImageLimits.unlimited) == .unlimited)
        #expect(try copy(ImageLimits.server) == .server)
        var options = ImageDecodingOptions(size: .fill(width: 3.5, height: 1e9, unit: .points), frames: .index(7))
        options.coderOptions = ["a": "b", "ä": ""]
        options.formatHint = .tiff
        options.resampling = .mitchell(light: .encoded)
        options.allowsPartialData = true
        (options.scale, options.preservesBitDepth, options.color) = (2, true, .displayP3)
        options.dynamicRange = .high
        options.keepsGamut = true
        #expect(try copy(options) == options)
        for size in [
            TargetSize.fit(width: 1), .stretch(width: 1, height: 2), .exact(width: 1, height: 2),
            .fitting(byteCount: 3), .scaled(width: 0.5, height: 2),
        ] {
            #expect(try copy(size) == size)
        }
        for kernel in ResamplingFilter.Kernel.allCases {
            for light in ResamplingFilter.Light.allCases {
                let filter = ResamplingFilter(kernel, light: light)
                #expect(try copy(filter) == filter)
            }
        }
        // The registry selects the coder.
        expectNoDefaults(options, ImageDecodingOptions(), except: ["coderIdentifier"])
        var encoding = ImageEncoding(format: .avif, quality: 3, isLossless: true, effort: 9).with(\.loopCount, 0).with(
            \.chromaSubsampling, .yuv422
        ).with(\.thumbnailDimension, 5).with(\.iconDimensions, [1, 256]).with(\.maxByteCount, 7).with(\.maxDimension, 9)
            .with(\.metadata, .keepExceptLocation).with(\.preservesDynamicRange, false).with(\.preset, .drawing).with(
                \.color, .displayP3
            ).with(\.visualScore, 70)
        encoding.background = PixelColor(red: 1, green: 2, blue: 3, alpha: 4)
        (encoding.isProgressive, encoding.usesDithering) = (true, false)
        (encoding.optimizesHuffmanTables, encoding.isExact) = (false, true)
        encoding.preservesDynamicRange = false
        #expect(try copy(encoding) == encoding)
        // The program applies the selection of frames and chooses the format.
        expectNoDefaults(encoding, ImageEncoding(format: nil), except: ["frames", "automaticFormats"])
        var info = ImageInfo(
            format: .heif, storedSize: PixelSize(width: 4, height: 5), orientation: .left, bitDepth: 10, hasAlpha: true,
            frameCount: 6, frameCountIsExact: false, loopCount: 0, hasICCProfile: true, isProgressive: true,
            smallestFile: 99, cleanAperture: PixelSize(width: 1, height: 2), codePoints: .sRGB, isLosslessWebP: true,
            rowsPerUnit: 8)
        (info.codedPixelCount, info.isTruncated, info.decoderBytes) = (7, true, 8)
        info.detail = .noise
        #expect(try copy(info) == info)
        expectNoDefaults(info, ImageInfo(format: .png, storedSize: PixelSize(width: 1, height: 1)))
        let metadata = ImageMetadata(
            storedSize: PixelSize(width: 1, height: 2), orientation: .right, bitDepth: 16, hasAlpha: true,
            isPartial: true, iccProfile: [1, 2], codePoints: .sRGB, color: .source, sourceCurve: .linear,
            exif: [3], xmp: [4])
        #expect(try copy(metadata) == metadata)
        let points = ColorCodePoints(primaries: 9, transfer: 16)
        let converted = ImageMetadata(storedSize: metadata.storedSize, codePoints: points, color: .sRGB)
        #expect(try copy(converted) == converted)
        // The registry reads the descriptions and the rights from the data, looks for a gain map, and adds the rights to EXIF for encoders.
        expectNoDefaults(
            metadata, ImageMetadata(storedSize: PixelSize(width: 9, height: 9)),
            except: ["alternativeText", "extendedDescription", "rights", "hasGainMap"])
    }

    @Test(
        "Errors of coders are the same after they were written and read",
        arguments: [
            ImageError.cancelled, .request(.frameNotFound(index: 3, frameCount: 2)), .request(.invalidSize("0x0")),
            .decoding(.truncated(format: .png, receivedBytes: 3, expectedBytes: nil)),
            .decoding(.corrupted(format: .gif, reason: "x")), .decoding(.outOfMemory(byteCount: 9)),
            .processing(.encodingFailed(format: .jxl, reason: "y")),
            .limitExceeded(ImageError.LimitFailure(.metadataSize, limit: 1, actual: 2, detail: "z")),
        ])
    func errors(error: ImageError) throws { #expect(try copy(error) == error) }

    @Test("The text of an error has no control characters and is short")
    func errorTexts() throws {
        let error = ImageError.decoding(
            .corrupted(format: .png, reason: "\u{1B}[2J\n\u{9B}" + String(repeating: "é", count: 490)))
        let read = try copy(error)
        #expect(read.message.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
    }

    @Test("Random and changed messages never crash a reader")
    func fuzz() throws {
        var random = SystemRandomNumberGenerator()
        let image = ImageBody(
            DecodedImage(pixels: try PixelCanvas(size: PixelSize(width: 3, height: 2)).finish(isOpaque: true)),
            offset: 0)
        let samples: [[UInt8]] = [
            image.body, ImageError.decoding(.corrupted(format: .png, reason: "x")).body,
            RangeBody(offset: 1, count: 2).body,
            MessageHead(.image, request: 1).serialized(image.body),
        ]
        for round in 0..<20_000 {
            var bytes = samples[round % samples.count]
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            if round % 5 == 0 { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
            if let (head, _) = try? MessageHead.parse(bytes) { #expect(head.bodyCount <= UInt64(MessageHead.maxBody)) }
            _ = try? ImageError(body: bytes)
            _ = try? RangeBody(body: bytes)
            _ = try? IsolationReport(body: bytes)
            guard let image = try? ImageBody(body: bytes) else { continue }
            let memory = [UInt8](repeating: 0, count: 4_096)
            memory.withUnsafeBytes { region in
                // Only pixels inside the memory are copied.
                if image.pixels.byteCount > region.count {
                    #expect(throws: MalformedData.self) { try image.pixels.copy(from: region) }
                } else {
                    _ = try? image.pixels.copy(from: region)
                }
            }
        }
    }

    @Test("Memory of another size, or with a size that isn't sealed, is rejected")
    func memory() throws {
        let region = try #require(SharedRegion(byteCount: 5_000, isWritable: true))
        #expect(region.size >= 5_000)
        #expect(SharedRegion(adopting: dup(region.sendable), size: region.size + 1, isWritable: false) == nil)
        #expect(ftruncate(region.sendable, 10) != 0)
        #expect(region.copy(offset: UInt64.max, count: 2) == nil)
        #expect(region.copy(offset: UInt64(region.size), count: 1) == nil)
        #expect(region.copy(offset: 1, count: UInt64(region.size)) == nil)
        #expect(region.copy(offset: 0, count: 3) == [0, 0, 0])
        #expect(SharedRegion(byteCount: -1, isWritable: true) == nil)
        #expect(SharedRegion(byteCount: .max, isWritable: true) == nil)
    }
}
