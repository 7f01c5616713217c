// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

/// An entry of `Tests/Fixtures/depth/manifest.json`, which `Scripts/fixtures.d/depth.py` writes.
struct DepthFixture: Decodable, Sendable, CustomTestStringConvertible {
    var file: String
    var format: ImageFormat
    var depth: Int
    var width: Int
    var height: Int
    var reference: String
    /// The allowed mean absolute difference of 16-bit samples.
    var tolerance: Double
    var orientation: ImageOrientation?

    var testDescription: String { file }

    private static let directory = Fixtures.directory.appending(path: "depth")
    /// The fixtures whose formats are enabled.
    static let all = ((try? JSONDecoder().decode([DepthFixture].self, from: read("manifest.json"))) ?? [])
        .filter { ImageCoderRegistry.standard.canDecode($0.format) }

    private static func read(_ name: String) throws -> Data { try Data(contentsOf: directory.appending(path: name)) }

    static func named(_ file: String) throws -> DepthFixture { try #require(all.first { $0.file == file }) }

    func data() throws -> Data { try Self.read(file) }

    /// Returns the premultiplied reference samples.
    func expected() throws -> [UInt16] {
        var samples = words([UInt8](try Self.read(reference)))
        for start in stride(from: 0, to: samples.count, by: 4) {
            let alpha = UInt64(samples[start + 3])
            for channel in start..<start + 3 {
                samples[channel] = UInt16((UInt64(samples[channel]) * alpha + 32_767) / 65_535)
            }
        }
        return samples
    }

    func decode(
        _ options: ImageDecodingOptions = ImageDecodingOptions(preservesBitDepth: true), limits: ImageLimits = .desktop
    ) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(
            data(), options: options,
            context: ImageProcessingContext(limits: limits))
    }
}

/// Returns the samples of little-endian bytes.
func words(_ bytes: [UInt8]) -> [UInt16] {
    stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8 }
}

/// Returns the samples of a 16-bit image.
func words(_ pixels: PixelBuffer) -> [UInt16] {
    pixels.packedBytes().withUnsafeBytes { bytes in
        stride(from: 0, to: bytes.count, by: 2).map { bytes.loadUnaligned(fromByteOffset: $0, as: UInt16.self) }
    }
}

/// Returns the mean and the largest absolute difference of the samples.
func difference(_ first: [UInt16], _ second: [UInt16]) -> (mean: Double, largest: Int) {
    guard let differences = SampleDifferences(first, second) else { return (.infinity, .max) }
    return (differences.mean, differences.largest)
}
