// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

/// The pixels that libultrahdr renders, which `Scripts/fixtures.d/ultrahdr.py` writes. They need no installed library.
@Suite("Gain maps of libultrahdr")
struct GainMapOracleTests {
    /// An entry of `Tests/Fixtures/hdr/manifest.json`.
    struct Rendering: Decodable, Sendable, CustomTestStringConvertible {
        var file: String
        /// The primaries of the base image and of the light, as a code point.
        var primaries: Int
        var headroom: Double
        /// The first row and column of the light, and the distance of the others.
        var offset: Int
        var step: Int
        /// The linear light of red, green, and blue, where 1 is white.
        var light: [Double]

        var testDescription: String { "\(file) at \(headroom)" }
    }

    static let directory = Fixtures.directory.appending(path: "hdr")
    static let renderings: [Rendering] = {
        let data = try? Data(contentsOf: directory.appending(path: "manifest.json"))
        return data.flatMap { try? JSONDecoder().decode([Rendering].self, from: $0) } ?? []
    }()

    @Test("The manifest contains two files at four headrooms")
    func manifestIsThere() {
        #expect(Self.renderings.count == 8)
        #expect(Self.renderings.contains { ($0.light.max() ?? 0) > 4 })
    }

    @Test("Files of libultrahdr are rendered as that library renders them", arguments: renderings)
    func agrees(_ rendering: Rendering) throws {
        let data = try Data(contentsOf: Self.directory.appending(path: rendering.file))
        let image = try DecodedImage(
            data: data, options: ImageDecodingOptions(color: .source, dynamicRange: .high))
        #expect(image.gainMap != nil)
        let primaries = try #require(HDRPixels.Primaries(rawValue: rendering.primaries))
        let pixels = try image.rendered(headroom: rendering.headroom, primaries: primaries)
        let all = HDRMath.light(pixels)
        var own: [Double] = []
        for y in stride(from: rendering.offset, to: image.size.height, by: rendering.step) {
            for x in stride(from: rendering.offset, to: image.size.width, by: rendering.step) {
                let place = (y * image.size.width + x) * 3
                own += all[place..<place + 3]
            }
        }
        let psnr = HDRMath.psnr(own, rendering.light)
        #expect(psnr >= 50, "\(psnr) dB")
    }
}
