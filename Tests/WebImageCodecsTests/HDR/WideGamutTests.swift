// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

/// Colors of BT.2020 in PQ, HLG, and linear light, whose references `Scripts/fixtures.d/gamuts.py` computes.
@Suite("Wide gamuts in PQ, HLG, and linear light")
struct WideGamutTests {
    /// An entry of `Tests/Fixtures/hdr/gamuts.json`.
    struct Colors: Decodable, Sendable, CustomTestStringConvertible {
        /// The samples of a decoder for standard dynamic range, from 0 to 1.
        struct Standard: Decodable, Sendable {
            var primaries: Int
            var samples: [Double]
        }

        /// The linear light on a display.
        struct Display: Decodable, Sendable {
            var primaries: Int
            var headroom: Double
            var light: [Double]
        }

        var primaries: Int
        var transfer: Int
        /// The 16-bit samples of red, green, and blue.
        var words: [UInt16]
        var standard: [Standard]
        var displays: [Display]

        var testDescription: String { "transfer \(transfer)" }

        /// An image with one row, which contains the colors.
        func image() throws -> DecodedImage {
            let size = PixelSize(width: words.count / 3, height: 1)
            let canvas = try PixelCanvas(size: size, format: .rgba16)
            canvas.withUnsafeMutableBytes { bytes in
                for x in 0..<size.width {
                    for channel in 0..<4 {
                        let word = channel < 3 ? words[x * 3 + channel] : .max
                        bytes.storeBytes(of: word, toByteOffset: (x * 4 + channel) * 2, as: UInt16.self)
                    }
                }
            }
            let metadata = ImageMetadata(
                storedSize: size, bitDepth: 16, codePoints: ColorCodePoints(primaries: primaries, transfer: transfer),
                color: .source)
            return DecodedImage(pixels: canvas.finish(isOpaque: true), metadata: metadata)
        }
    }

    static let all: [Colors] = {
        let data = try? Data(contentsOf: GainMapOracleTests.directory.appending(path: "gamuts.json"))
        return data.flatMap { try? JSONDecoder().decode([Colors].self, from: $0) } ?? []
    }()

    private func words(_ image: DecodedImage) -> [UInt16] {
        image.pixels.withUnsafeBytes { bytes in
            (0..<image.size.width * 4).filter { $0 % 4 != 3 }.map {
                bytes.load(fromByteOffset: $0 * 2, as: UInt16.self)
            }
        }
    }

    @Test("The references contain colors outside of every smaller gamut")
    func referencesAreThere() {
        #expect(Self.all.map(\.transfer) == [16, 18, 8])
    }

    @Test("A file is decoded into the requested gamut, and its own samples remain unchanged", arguments: all)
    func decodes(_ colors: Colors) throws {
        let file = try colors.image().encoded(as: .png)
        var options = ImageDecodingOptions(preservesBitDepth: true, color: .source)
        #expect(words(try DecodedImage(data: file, options: options)) == colors.words)
        options.dynamicRange = .high
        #expect(words(try DecodedImage(data: file, options: options)) == colors.words)
        for standard in colors.standard {
            let color: ImageColorSpace = standard.primaries == 1 ? .sRGB : .displayP3
            for dynamicRange in [ImageDecodingOptions.DynamicRange.standard, .high] {
                // With a high dynamic range, PQ and HLG remain.
                if dynamicRange == .high, colors.transfer != 8 { continue }
                options = ImageDecodingOptions(
                    preservesBitDepth: true, color: color, dynamicRange: dynamicRange)
                let image = try DecodedImage(data: file, options: options)
                #expect(image.metadata.color == color)
                let errors = zip(words(image), standard.samples).map { abs(Double($0) / 65_535 - $1) }
                let worst = errors.max() ?? 1
                #expect(errors.count == colors.words.count && worst < 0.004, "\(color): \(worst)")
            }
        }
    }

    @Test("A rendering has the requested gamut, and PQ and HLG keep hues at every headroom", arguments: all)
    func renders(_ colors: Colors) throws {
        let image = try colors.image()
        for display in colors.displays {
            let primaries = try #require(HDRPixels.Primaries(rawValue: display.primaries))
            for encoding in HDRPixels.Encoding.allCases {
                let light = HDRMath.light(
                    try image.rendered(headroom: display.headroom, as: encoding, primaries: primaries))
                // The references have five decimals, which aren't exact near black.
                let errors = zip(light, display.light).map { abs(HDRMath.pq($0 + 0.001) - HDRMath.pq($1 + 0.001)) }
                let worst = errors.max() ?? 1
                #expect(
                    errors.count == colors.words.count && worst < 0.004,
                    "\(primaries) at \(display.headroom), \(encoding): \(worst)")
            }
        }
    }
}
