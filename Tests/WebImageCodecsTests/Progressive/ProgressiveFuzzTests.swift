// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore

/// The fixtures that support previews.
private let streamed = (Fixture.all + Fixture.optional).filter { fixture in
    (try? Feeding(fixture.data())) != nil && fixture.page ?? 0 == 0
}

@Suite("Progressive decoding of corrupt data")
struct ProgressiveFuzzTests {
    /// Appends the data in chunks and requests previews at random. Every preview must have the size of the first one.
    ///
    /// - Returns: The last preview or the typed error.
    private func attempt(
        _ data: Data, _ options: ImageDecodingOptions, _ generator: inout SeededGenerator
    ) -> Result<ImagePreview?, ImageError> {
        do throws(ImageError) {
            guard var feeding = try Feeding(data, options: options, limits: .icon) else { return .success(nil) }
            let largest = max(1, data.count / Int.random(in: 1...24, using: &generator))
            var size: PixelSize?
            var fraction = 0.0
            while !feeding.isFinished {
                try feeding.append(to: feeding.appendedCount + Int.random(in: 1...largest, using: &generator))
                guard Bool.random(using: &generator), let preview = try feeding.preview() else { continue }
                let area = preview.image.size.width * preview.image.size.height
                #expect(area <= ImageLimits.icon.maxPixels && preview.image.size == size ?? preview.image.size)
                #expect(preview.fractionCompleted >= fraction && preview.fractionCompleted <= 1)
                #expect(preview.completedRows >= 0 && preview.completedRows <= feeding.probe.storedSize.height)
                #expect(preview.completedPasses <= preview.passCount ?? .max)
                size = preview.image.size
                fraction = preview.fractionCompleted
            }
            return .success(try feeding.preview())
        } catch {
            return .failure(error)
        }
    }

    @Test("Flipped bits in chunks of any size never crash a decoder", arguments: streamed)
    func bitFlips(_ fixture: Fixture) throws {
        let data = try fixture.data()
        var generator = SeededGenerator(UInt64(data.count) &* 31)
        for round in 0..<24 {
            var broken = data
            // Every other round changes the header, which contains sizes and counts.
            let end = round % 2 == 0 ? broken.count : min(broken.count, 96)
            for _ in 0...(round % 4) {
                let place = Int.random(in: 0..<end, using: &generator)
                broken[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
            let size: TargetSize? = round % 3 == 0 ? .fit(width: 7) : nil
            if case .failure(let error) = attempt(broken, ImageDecodingOptions(size: size), &generator) {
                #expect((4000..<5000).contains(error.code) || (6000..<7000).contains(error.code), "\(error)")
            }
        }
    }

    @Test("Missing, repeated, and foreign bytes in chunks of any size never crash a decoder", arguments: streamed)
    func splices(_ fixture: Fixture) throws {
        let data = try fixture.data()
        var generator = SeededGenerator(UInt64(data.count) &* 37)
        for round in 0..<16 {
            let cut = Int.random(in: 0..<data.count, using: &generator)
            let length = Int.random(in: 1...max(1, data.count / 8), using: &generator)
            var broken = Data(data.prefix(cut))
            switch round % 4 {
            case 0: break
            case 1: broken += data.dropFirst(cut + length)
            case 2: broken += data.dropFirst(max(0, cut - length))
            default:
                broken += Data((0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) })
                broken += data.dropFirst(cut)
            }
            guard !broken.isEmpty else { continue }
            if case .failure(let error) = attempt(broken, ImageDecodingOptions(), &generator) {
                #expect((4000..<5000).contains(error.code) || (6000..<7000).contains(error.code), "\(error)")
            }
        }
    }

    @Test(
        "Bytes after the end of the image change nothing",
        arguments: streamed.filter { $0.format != .jxl && !$0.file.contains("arithmetic") })
    func surplus(_ fixture: Fixture) throws {
        let data = try fixture.data()
        var whole = try #require(try Feeding(data))
        let expected = try #require(try whole.finish())
        var feeding = try #require(try Feeding(data + Data(repeating: 0, count: 300)))
        let preview = try #require(try feeding.finish { 100 })
        #expect(preview.isComplete && preview.image.pixels.hasSamePixels(as: expected.image.pixels))
    }

    @Test("Data or pixels beyond the limits are rejected", arguments: streamed)
    func limits(_ fixture: Fixture) throws {
        let data = try fixture.data()
        var few = ImageLimits.desktop
        few.maxEncodedBytes = data.count - 1
        let context = ImageProcessingContext(limits: few)
        #expect {
            // The total size is unknown here, so the decoder counts the bytes.
            let start = try ImageCoderRegistry.standard.progressiveStart(data.prefix(data.count - 1), context: context)
            guard case .decoder(let decoder, _) = start else { return }
            try decoder.append(data, isLast: true, context: context)
        } throws: {
            (6000..<7000).contains(($0 as? ImageError)?.code ?? 0)
        }
        var small = ImageLimits.desktop
        small.maxPixels = fixture.storedSize.width * fixture.storedSize.height - 1
        #expect { try Feeding(data, limits: small) } throws: {
            (6000..<7000).contains(($0 as? ImageError)?.code ?? 0)
        }
    }
}
