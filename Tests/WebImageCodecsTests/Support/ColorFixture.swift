// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestSupport

/// One line of `Tests/Fixtures/colors/manifest.json`, as `Scripts/fixtures.d/colors.py` writes it.
struct ColorFixture: Decodable, Sendable, CustomTestStringConvertible {
    var file: String
    var format: ImageFormat
    var width: Int
    var height: Int
    var reference: String
    /// Mean absolute difference of the samples that is allowed.
    var tolerance: Double
    /// Name of the embedded profile.
    var profile: String?
    /// Primaries and transfer function.
    var cicp: [Int]?

    var testDescription: String { file }

    static let folder = Fixtures.folder.appending(path: "colors")
    /// Those whose traits are on.
    static let all = ((try? JSONDecoder().decode([ColorFixture].self, from: read("manifest.json"))) ?? [])
        .filter { CoderRegistry.standard.canDecode($0.format) }

    static func read(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }

    static func named(_ file: String) throws -> ColorFixture { try #require(all.first { $0.file == file }) }

    static func profile(_ name: String) throws -> [UInt8] { [UInt8](try read(name + ".icc")) }

    func data() throws -> Data { try Self.read(file) }

    /// Premultiplied.
    func expected() throws -> [UInt8] { premultiplied([UInt8](try Self.read(reference))) }

    func decode(_ options: DecodeOptions = DecodeOptions()) throws -> Image {
        try CoderRegistry.standard.decode(data(), options: options, context: CodingContext())
    }
}
