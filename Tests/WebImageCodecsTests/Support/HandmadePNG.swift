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
        let byteCount = (width * channels * bits + 7) / 8 * height
        samples = [UInt8](unsafeUninitializedCapacity: byteCount) { target, count in
            while count < byteCount {
                target[count] = UInt8(truncatingIfNeeded: random.next())
                count += 1
            }
        }
        filters = (0..<height).map { _ in UInt8.random(in: 0...4, using: &random) }
    }

    /// Returns a filtered row (PNG Third Edition, sections 9.2 and 9.4).
    func filtered(_ row: Int) -> [UInt8] {
        let bytes = samples.count / height
        let step = max(1, channels * bits / 8)
        let filter = filters[row]
        return samples.withUnsafeBufferPointer { samples in
            [UInt8](unsafeUninitializedCapacity: bytes + 1) { target, count in
                target[0] = filter
                count = 1
                guard let start = samples.baseAddress else { return }
                let line = start + row * bytes
                while count <= bytes {
                    let at = count - 1
                    let left = at < step ? 0 : line[at - step]
                    let up = row == 0 ? 0 : line[at - bytes]
                    let corner = at < step || row == 0 ? 0 : line[at - bytes - step]
                    let predicted: UInt8 =
                        switch filter {
                        case 1: left
                        case 2: up
                        // This is the mean without an overflow.
                        case 3: (left & up) + (left ^ up) / 2
                        case 4: Self.nearest(left, up, corner)
                        default: 0
                        }
                    target[count] = line[at] &- predicted
                    count += 1
                }
            }
        }
    }

    /// Returns the neighbor that is nearest to `left + up - corner`, or the first of them.
    private static func nearest(_ left: UInt8, _ up: UInt8, _ corner: UInt8) -> UInt8 {
        let (a, b, c) = (Int(left), Int(up), Int(corner))
        let (toLeft, toUp, toCorner) = (abs(b - c), abs(a - c), abs(a + b - 2 * c))
        if toLeft <= toUp && toLeft <= toCorner { return left }
        return toUp <= toCorner ? up : corner
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
        for start in stride(from: 0, to: raw.count, by: 65_535) {
            let part = raw[start..<min(start + 65_535, raw.count)]
            let count = UInt16(part.count)
            stream.append(part.endIndex == raw.count ? 1 : 0)
            for number in [count, ~count] { stream += [UInt8(number & 255), UInt8(number >> 8)] }
            stream += part
        }
        return stream + big(Self.checksum(raw))
    }

    /// Returns the checksum Adler-32 (RFC 1950, section 8.2).
    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var (low, high): (UInt32, UInt32) = (1, 0)
        bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            var place = 0
            while place < bytes.count {
                // The sums of up to 5,552 bytes don't overflow.
                let end = min(bytes.count, place + 5_552)
                while place < end {
                    low &+= UInt32(start[place])
                    high &+= low
                    place += 1
                }
                low %= 65_521
                high %= 65_521
            }
        }
        return high << 16 | low
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
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height * 4)
        for start in stride(from: 0, to: width * height * channels, by: channels) {
            let alpha = channels == 4 ? Int(samples[start + 3]) : 255
            for place in start..<start + min(3, channels) {
                pixels.append(UInt8((Int(samples[place]) * alpha * 2 + 255) / 510))
            }
            pixels.append(UInt8(alpha))
        }
        return pixels
    }
}
