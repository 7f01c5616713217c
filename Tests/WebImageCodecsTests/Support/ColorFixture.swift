// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

/// An entry of `Tests/Fixtures/colors/manifest.json`, which `Scripts/fixtures.d/colors.py` writes.
struct ColorFixture: Decodable, Sendable, CustomTestStringConvertible {
    var file: String
    var format: ImageFormat
    var width: Int
    var height: Int
    var reference: String
    /// The allowed mean absolute difference of the samples.
    var tolerance: Double
    /// The name of the embedded profile.
    var profile: String?
    /// The primaries and the transfer function.
    var cicp: [Int]?

    var testDescription: String { file }

    static let directory = Fixtures.directory.appending(path: "colors")
    /// The fixtures whose formats are enabled.
    static let all = ((try? JSONDecoder().decode([ColorFixture].self, from: read("manifest.json"))) ?? [])
        .filter { ImageCoderRegistry.standard.canDecode($0.format) }

    static func read(_ name: String) throws -> Data { try Data(contentsOf: directory.appending(path: name)) }

    static func named(_ file: String) throws -> ColorFixture { try #require(all.first { $0.file == file }) }

    static func profile(_ name: String) throws -> [UInt8] { [UInt8](try read(name + ".icc")) }

    func data() throws -> Data { try Self.read(file) }

    /// Returns the premultiplied reference pixels.
    func expected() throws -> [UInt8] { premultiplied([UInt8](try Self.read(reference))) }

    func decode(_ options: ImageDecodingOptions = ImageDecodingOptions()) throws -> DecodedImage {
        try ImageCoderRegistry.standard.decode(data(), options: options, context: ImageProcessingContext())
    }
}
