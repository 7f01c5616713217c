// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("Transformers: scenarios of other libraries")
struct TransformFaultTests {
    @Test(
        "N-20: One instance of a transformer on several threads has the results of one thread", arguments: Samples.all)
    func sharedInstances(sample: Samples.Named) async throws {
        let inputs = try (0..<6).map {
            try PixelMaking.noise(23 + $0, 17, opaque: $0.isMultiple(of: 2), seed: UInt64($0))
        }
        let context = ImageProcessingContext()
        let transformer = sample.transformer
        let expected = inputs.map { try? transformer.transform($0, context: context).packedBytes() }
        let results = await withTaskGroup(of: (Int, [UInt8]?).self) { group in
            for (index, input) in inputs.enumerated() {
                for _ in 0..<2 {
                    group.addTask {
                        (index, try? transformer.transform(input, context: ImageProcessingContext()).packedBytes())
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for (index, result) in results { #expect(result == expected[index], "\(index)") }
        #expect(expected.contains { $0 != nil })
    }

    @Test("N-18: Equal identities imply equal results, also for slightly different parameters")
    func identities() throws {
        let red = PixelColor(red: 255, green: 0, blue: 0)
        let nearly = PixelColor(red: 254, green: 0, blue: 0)
        let pairs: [[any ImageTransformer]] = [
            [.resize(width: 9), .resize(width: 9.5)], [.blur(radius: 3), .blur(radius: 3.0000001)],
            [.border(width: 2, color: red), .border(width: 2, color: nearly)],
            [.roundedCorners(radius: 4), .roundedCorners(radius: 4.001)],
            [.rotate(degrees: 15), .rotate(degrees: 15.01)], [.pad(3), .pad(3, color: nearly)],
            [.crop(width: 5, height: 4), .crop(width: 4, height: 5)], [.sharpen(), .sharpen(amount: 1.001)],
            [.tint(red), .tint(nearly)], [.saturation(0.5), .saturation(0.5000001)],
        ]
        let image = try PixelMaking.noise(40, 30, opaque: false, seed: 5)
        let others =
            pairs.flatMap { $0 } + pairs.map { .combined($0[0], $0[1]) } + pairs.map { .combined($0[1], $0[0]) }
        var results: [String: [UInt8]] = [:]
        for transformer in others + Samples.all.map(\.transformer) {
            let result = try transformer.transform(image, context: ImageProcessingContext()).packedBytes()
            if let other = results[transformer.identifier] { #expect(other == result, "\(transformer.identifier)") }
            results[transformer.identifier] = result
        }
        for pair in pairs { #expect(pair[0].identifier != pair[1].identifier, "\(pair[0].identifier)") }
    }
}
