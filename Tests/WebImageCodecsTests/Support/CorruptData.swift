// SPDX-License-Identifier: MIT

import Foundation
import WebImageCodecs
import WebImageCore

/// Functions that decode corrupt data. A crash ends the test process.
enum CorruptData {
    /// Decodes the data and up to 8 frames. Returns the image or the typed error.
    static func attempt(_ data: Data, _ format: ImageFormat, partial: Bool) throws -> Result<DecodedImage, ImageError> {
        let coder = try coder(for: format)
        do throws(ImageError) {
            let options = ImageDecodingOptions(allowsPartialData: partial)
            let image = try coder.decode(
                data, info: nil, options: options,
                context: ImageProcessingContext(limits: .icon))
            for place in 0..<min(8, image.frameCount) { _ = try image.animation?.frame(at: place) }
            return .success(image)
        } catch {
            return .failure(error)
        }
    }

    /// Decodes copies of a fixture with one to four flipped bits: 20, or 40 in the long variant.
    static func flipBits(of fixture: Fixture) throws {
        let data = try fixture.data()
        var generator = SeededGenerator(UInt64(data.count))
        for round in 0..<LongTests.rounds(20, long: 40) {
            var broken = data
            for _ in 0...(round % 4) {
                let place = Int.random(in: 0..<broken.count, using: &generator)
                broken[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
            _ = try attempt(broken, fixture.format, partial: round % 2 == 0)
        }
    }

    /// Decodes copies of a fixture in which one of the first `count` bytes has one of the values.
    ///
    /// The long variant uses all values for each byte. The short one uses the values in turn, and begins with a value
    /// that depends on the size of the file, so that files with the same structure have different values.
    static func replaceBytes(of fixture: Fixture, first count: Int, with values: [UInt8]) throws {
        let data = try fixture.data()
        for place in 0..<min(count, data.count) {
            let chosen = LongTests.areEnabled ? values : [values[(place + data.count) % values.count]]
            for value in chosen {
                var broken = data
                broken[place] = value
                _ = try attempt(broken, fixture.format, partial: place % 2 == 0)
            }
        }
    }

    /// Decodes random bytes `rounds` times.
    static func decodeNoise(as format: ImageFormat, rounds: Int) throws {
        var generator = SeededGenerator(3)
        for _ in 0..<rounds {
            let count = Int.random(in: 1..<200, using: &generator)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            _ = try attempt(Data(bytes), format, partial: true)
        }
    }
}
