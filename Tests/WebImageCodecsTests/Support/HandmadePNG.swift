// SPDX-License-Identifier: MIT

import CPNG
import Foundation
import WebImageTestBasics

/// A writer of uncompressed PNG files with a given filter for each row and a given chunk size.
struct HandmadePNG {
    let width: Int
    let height: Int
    /// The number of samples per pixel.
    let channels: Int
    var bits = 8
    /// The PNG color type, or `nil` for the usual type for the number of channels.
    var colorType: UInt8?
    /// The chunks before the pixels.
    var extras: [(name: String, body: [UInt8])] = []
    var samples: [UInt8]
    var filters: [UInt8]
    var chunkSize = 1 << 16

    init(width: Int, height: Int, channels: Int, bits: Int = 8, using random: inout SeededGenerator) {
        (self.width, self.height, self.channels) = (width, height, channels)
        self.bits = bits
        samples = (0..<((width * channels * bits + 7) / 8 * height)).map { _ in
            UInt8.random(in: 0...255, using: &random)
        }
        filters = (0..<height).map { _ in UInt8.random(in: 0...4, using: &random) }
    }

    /// Returns a filtered row (PNG Third Edition, sections 9.2 and 9.4).
    func filtered(_ row: Int) -> [UInt8] {
        let bytes = samples.count / height
        let step = max(1, channels * bits / 8)
        func sample(_ row: Int, _ at: Int) -> Int { row < 0 || at < 0 ? 0 : Int(samples[row * bytes + at]) }
        return [filters[row]]
            + (0..<bytes).map { at in
                let (left, up, corner) = (
                    sample(row, at - step), sample(row - 1, at), sample(row - 1, at - step)
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

    func big(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

    func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + body
        return big(UInt32(body.count)) + named + big(wi_png_check(named, named.count))
    }

    /// Returns the zlib stream (RFC 1950 and 1951) with stored blocks only.
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
        let type = colorType ?? [0, 4, 2, 6][channels - 1]
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        file += chunk("IHDR", big(UInt32(width)) + big(UInt32(height)) + [UInt8(bits), type, 0, 0, 0])
        for extra in extras { file += chunk(extra.name, extra.body) }
        for start in stride(from: 0, to: stream.count, by: chunkSize) {
            file += chunk("IDAT", Array(stream[start..<min(start + chunkSize, stream.count)]))
        }
        return Data(file + chunk("IEND", []))
    }

    /// The expected premultiplied pixels.
    var expected: [UInt8] {
        (0..<(width * height)).flatMap { at -> [UInt8] in
            let pixel = samples[(at * channels)..<((at + 1) * channels)]
            let alpha = channels == 4 ? Int(pixel.last ?? 0) : 255
            return pixel.prefix(3).map { UInt8((Int($0) * alpha * 2 + 255) / 510) } + [UInt8(alpha)]
        }
    }
}
