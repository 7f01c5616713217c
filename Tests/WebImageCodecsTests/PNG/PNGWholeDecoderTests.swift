// SPDX-License-Identifier: MIT

import CPNG
import Foundation
import Testing
import WebImageCore

@testable import WebImageCodecs

/// A PNG written by hand: every row with the filter wanted, stored without compression, in chunks of the size wanted.
private struct HandmadePNG {
    let width: Int
    let height: Int
    let channels: Int
    var samples: [UInt8]
    var filters: [UInt8]
    var chunkSize = 1 << 16

    init(width: Int, height: Int, channels: Int, using random: inout SeededGenerator) {
        (self.width, self.height, self.channels) = (width, height, channels)
        samples = (0..<(width * height * channels)).map { _ in UInt8.random(in: 0...255, using: &random) }
        filters = (0..<height).map { _ in UInt8.random(in: 0...4, using: &random) }
    }

    /// PNG third edition, 9.2 and 9.4.
    private func filtered(_ row: Int) -> [UInt8] {
        let bytes = width * channels
        func sample(_ row: Int, _ at: Int) -> Int { row < 0 || at < 0 ? 0 : Int(samples[row * bytes + at]) }
        return [filters[row]]
            + (0..<bytes).map { at in
                let (left, up, corner) = (
                    sample(row, at - channels), sample(row - 1, at), sample(row - 1, at - channels)
                )
                let near = [(abs(up - corner), left), (abs(left - corner), up), (abs(left + up - 2 * corner), corner)]
                let predicted =
                    switch filters[row] {
                    case 1: left
                    case 2: up
                    case 3: (left + up) / 2
                    case 4: near.min { $0.0 < $1.0 }?.1 ?? 0
                    default: 0
                    }
                return UInt8(truncatingIfNeeded: sample(row, at) - predicted)
            }
    }

    private func big(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

    private func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + body
        return big(UInt32(body.count)) + named + big(wi_png_check(named, named.count))
    }

    /// RFC 1950 and 1951, with stored blocks alone.
    func stream() -> [UInt8] {
        let raw = (0..<height).flatMap(filtered)
        var stream: [UInt8] = [0x78, 0x01]
        var (low, high) = (1, 0)
        for byte in raw { (low, high) = ((low + Int(byte)) % 65_521, (high + low + Int(byte)) % 65_521) }
        for start in stride(from: 0, to: raw.count, by: 65_535) {
            let part = raw[start..<min(start + 65_535, raw.count)]
            let count = UInt16(part.count)
            stream.append(part.endIndex == raw.count ? 1 : 0)
            for number in [count, ~count] { stream += [UInt8(number & 255), UInt8(number >> 8)] }
            stream += part
        }
        return stream + big(UInt32(high << 16 | low))
    }

    func bytes(_ stream: [UInt8]? = nil) -> Data {
        let stream = stream ?? self.stream()
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        file += chunk("IHDR", big(UInt32(width)) + big(UInt32(height)) + [8, channels == 3 ? 2 : 6, 0, 0, 0])
        for start in stride(from: 0, to: stream.count, by: chunkSize) {
            file += chunk("IDAT", Array(stream[start..<min(start + chunkSize, stream.count)]))
        }
        return Data(file + chunk("IEND", []))
    }

    /// What must come out, alpha multiplied in.
    var expected: [UInt8] {
        (0..<(width * height)).flatMap { at -> [UInt8] in
            let pixel = samples[(at * channels)..<((at + 1) * channels)]
            let alpha = channels == 4 ? Int(pixel.last ?? 0) : 255
            return pixel.prefix(3).map { UInt8((Int($0) * alpha * 2 + 255) / 510) } + [UInt8(alpha)]
        }
    }
}

@Suite("PNGs unpacked at once")
struct PNGWholeDecoderTests {
    private func rows(_ image: Image) -> [UInt8] {
        image.pixels.withUnsafeBytes { bytes in
            (0..<image.pixels.size.height).flatMap { row in
                let start = row * image.pixels.bytesPerRow
                return Array(bytes[start..<(start + image.pixels.size.width * 4)])
            }
        }
    }

    private func decode(_ data: Data, partial: Bool = false) throws -> Image {
        var options = DecodeOptions()
        options.allowsPartial = partial
        return try CoderRegistry.standard.decode(data, options: options, context: CodingContext())
    }

    @Test("Every filter over every other gives the samples, whatever the width and the chunks", arguments: [3, 4])
    func filters(_ channels: Int) throws {
        var random = SeededGenerator(UInt64(channels))
        for width in Array(1...40) + [255, 256, 257] {
            var picture = HandmadePNG(width: width, height: 13, channels: channels, using: &random)
            picture.chunkSize = [11, 50, 700, 1 << 16][width % 4]
            #expect(try rows(decode(picture.bytes())) == picture.expected, "width \(width)")
        }
    }

    @Test("Samples at both ends of their range meet every filter")
    func extremes() throws {
        var random = SeededGenerator(9)
        for channels in [3, 4] {
            for filter in 0...4 {
                var picture = HandmadePNG(width: 33, height: 8, channels: channels, using: &random)
                for index in picture.samples.indices { picture.samples[index] = Bool.random(using: &random) ? 0 : 255 }
                picture.filters = [UInt8](repeating: UInt8(filter), count: 8)
                #expect(try rows(decode(picture.bytes())) == picture.expected, "filter \(filter)")
            }
        }
    }

    @Test("What is wrong with the data is told, and what can be shown of it is shown, as without the short way")
    func damage() throws {
        var random = SeededGenerator(4)
        var picture = HandmadePNG(width: 20, height: 30, channels: 3, using: &random)
        let whole = picture.bytes()
        // A check value, the end of the data, a filter that is none, the checksum of the stream, too few rows.
        var wrongCheck = whole
        wrongCheck[wrongCheck.count - 14] ^= 1
        #expect(throws: ImageError.self) { try decode(wrongCheck) }
        let cut = Data(whole.prefix(whole.count / 2))
        #expect(throws: ImageError.self) { try decode(cut) }
        let part = try decode(cut, partial: true)
        #expect(part.metadata.isPartial == true && rows(part).prefix(20 * 4 * 8) == picture.expected.prefix(20 * 4 * 8))
        picture.filters[11] = 5
        #expect(throws: ImageError.self) { try decode(picture.bytes()) }
        picture.filters[11] = 0
        let short = Array(picture.stream().prefix(500))
        #expect(throws: ImageError.self) { try decode(picture.bytes(short)) }
    }

    @Test("Damaged bytes anywhere give the picture or an error, and never another size")
    func fuzz() throws {
        var random = SeededGenerator(77)
        var picture = HandmadePNG(width: 9, height: 12, channels: 4, using: &random)
        picture.chunkSize = 50
        let whole = picture.bytes()
        for _ in 0..<3_000 {
            var damaged = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                damaged[Int.random(in: 33..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) {
                damaged = damaged.prefix(Int.random(in: 40...damaged.count, using: &random))
            }
            guard let image = try? decode(Data(damaged), partial: Bool.random(using: &random)) else { continue }
            #expect(image.pixels.size == PixelSize(width: 9, height: 12))
        }
    }
}
