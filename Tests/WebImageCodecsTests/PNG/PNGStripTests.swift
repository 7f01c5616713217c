// SPDX-License-Identifier: MIT

import CPNG
import Foundation
import Testing
import WebImageCore

@testable import WebImageCodecs

@Suite("PNG files on two threads")
struct PNGStripTests {
    private enum Outcome: Equatable {
        case pixels(Data, isPartial: Bool)
        case failure(String)
    }

    private func outcome(_ data: Data, threads: Int) -> Outcome {
        do {
            let context = ImageProcessingContext(threadCount: threads)
            let image = try ImageCoderRegistry.standard.decode(data, context: context)
            return .pixels(Data(image.pixels.packedBytes()), isPartial: image.metadata.isPartial)
        } catch {
            return .failure("\(error)")
        }
    }

    /// Checks that the number of threads doesn't change the result, and returns it.
    private func decode(_ data: Data) -> Outcome {
        let plain = outcome(data, threads: 1)
        let isSame = outcome(data, threads: 2) == plain
        #expect(isSame)
        return plain
    }

    /// The results of the strips and of the whole data.
    private struct Unpacked {
        var firstRows = 0
        /// The rows that the strips contain, or `nil` if a strip is rejected.
        var strips: [UInt8]?
        /// The first rows of the whole data, without the bytes that may be missing, or `nil` if it's invalid.
        var beginning: [UInt8]?
    }

    private func unpack(_ file: StripPNG) -> Unpacked {
        let data = Array(file.bytes())
        var pixels = wi_png_pixels()
        defer { wi_png_pixels_free(&pixels) }
        guard wi_png_pixels_find(data, data.count, UInt32(file.picture.height), &pixels) else { return Unpacked() }
        var result = Unpacked(firstRows: Int(pixels.first_rows))
        let (upper, all) = (file.rows * file.rowBytes, file.picture.height * file.rowBytes)
        var first = [UInt8](repeating: 0, count: upper + Int(WI_PNG_STRIP_ROOM))
        var second = [UInt8](repeating: 0, count: all - upper)
        var (check, below, expected): (UInt32, UInt32, UInt32) = (0, 0, 0)
        if result.firstRows > 0, wi_png_unpack_first_strip(&pixels, &first, upper, &check),
            wi_png_unpack_second_strip(&pixels, &second, second.count, &below, &expected)
        {
            result.strips = first.prefix(upper) + second
        }
        var whole = [UInt8](repeating: 0, count: all - 1)
        if wi_png_unpack_beginning(&pixels, &whole, whole.count) {
            result.beginning = Array(whole.prefix(max(0, whole.count - Int(WI_PNG_LONGEST_COPY))))
        }
        return result
    }

    @Test("Strips contain the rows of the whole data, regardless of the filters", arguments: 1...4)
    func strips(_ channels: Int) throws {
        var random = SeededGenerator(UInt64(channels))
        for filter in 0...4 as ClosedRange<UInt8> {
            for rows in [1, 40, 79] {
                var picture = HandmadePNG(width: 37, height: 80, channels: channels, using: &random)
                picture.chunkSize = [100, 1_000, 1 << 16].randomElement(using: &random) ?? 100
                picture.filters[rows] = filter
                let file = StripPNG(picture, rows: rows)
                let unpacked = unpack(file)
                #expect(unpacked.firstRows == rows && unpacked.strips == file.raw)
                guard channels > 2 else {
                    guard case .pixels(_, isPartial: false) = decode(file.bytes()) else {
                        Issue.record("filter \(filter)")
                        continue
                    }
                    continue
                }
                #expect(decode(file.bytes()) == .pixels(Data(picture.expected), isPartial: false), "filter \(filter)")
            }
        }
    }

    @Test("Files without strips have the same pixels on one and two threads", arguments: 1...4)
    func ahead(_ channels: Int) throws {
        var random = SeededGenerator(UInt64(channels))
        for (width, height) in [(1, 1), (3, 2), (200, 3), (90, 100), (7, 300)] {
            let picture = HandmadePNG(width: width, height: height, channels: channels, using: &random)
            let result = decode(picture.bytes())
            if channels > 2 { #expect(result == .pixels(Data(picture.expected), isPartial: false)) }
            var invalid = picture
            invalid.filters[height - 1] = 5
            _ = decode(invalid.bytes())
        }
    }

    @Test("Strips of a stream that continues differently are rejected")
    func ambiguous() throws {
        var random = SeededGenerator(3)
        let picture = HandmadePNG(width: 20, height: 40, channels: 3, using: &random)
        let (upper, lower) = ((0..<20).flatMap(picture.filtered), (20..<40).flatMap(picture.filtered))
        for (name, first, second) in Self.continuations(upper, lower) {
            var file = StripPNG(picture, rows: 20)
            (file.first, file.second) = ([0x78, 0x01] + first, second)
            #expect(unpack(file).strips == nil, "\(name)")
            _ = decode(file.bytes())
        }
        // The strips would have the correct checksum if the second one didn't depend on the first one.
        let wrong = StripPNG(picture, rows: 20).bytes(check: 1)
        #expect(decode(wrong) != .pixels(Data(picture.expected), isPartial: false))
    }

    /// Returns streams whose parts can't be decompressed independently with the same result.
    private static func continuations(
        _ upper: [UInt8], _ lower: [UInt8]
    ) -> [(name: String, first: [UInt8], second: [UInt8])] {
        func part(_ write: (inout DeflateWriter) -> Void) -> [UInt8] {
            var writer = DeflateWriter()
            write(&writer)
            return writer.bytes
        }
        func block(_ bytes: [UInt8], isLast: Bool = false, isOpen: Bool = false) -> [UInt8] {
            part { writer in
                writer.beginBlock(isLast: isLast)
                writer.literals(bytes)
                if !isOpen { writer.endBlock() }
            }
        }
        /// Returns a complete block and the first bits of another one.
        func header(_ bits: Int) -> [UInt8] {
            part { writer in
                writer.beginBlock()
                writer.literals(upper)
                writer.endBlock()
                writer.bits(bits, 3)
            }
        }
        func stored(_ bytes: [UInt8], count: Int, isLast: Bool = false) -> [UInt8] {
            part { $0.stored(bytes, count: count, isLast: isLast) }
        }
        let flush = part { $0.stored() }
        let copy = part { writer in
            writer.beginBlock(isLast: true)
            writer.copy()
            writer.literals(lower.dropFirst(3))
            writer.endBlock()
        }
        let second = block(lower, isLast: true)
        let firsts = [
            ("an open block", block(upper, isOpen: true)),
            ("an open final block", block(upper, isLast: true, isOpen: true)),
            ("the end of the stream", block(upper, isLast: true)),
            ("a header of a stored block", header(0)),
            ("a header of a compressed block", header(4)),
            ("a stored block", stored(upper, count: upper.count + 3)),
            ("a stored block of the maximum size", stored(upper, count: 65_535)),
            ("a final stored block", stored(upper, count: upper.count + 10, isLast: true)),
            ("a final stored block of the maximum size", stored(upper, count: 65_535, isLast: true)),
            ("too few rows", stored(Array(upper.dropLast()), count: upper.count - 1) + flush),
            ("too many rows", stored(upper + [0], count: upper.count + 1) + flush),
            ("nothing", []),
        ]
        return firsts.map { ($0.0, $0.1, second) }
            + [("a copy of the first strip", stored(upper, count: upper.count) + flush, copy)]
    }

    @Test("Wrong numbers in the chunk disable the strips")
    func wrongNumbers() throws {
        var random = SeededGenerator(5)
        let picture = HandmadePNG(width: 20, height: 40, channels: 3, using: &random)
        var file = StripPNG(picture, rows: 20)
        let valid: [UInt32] = [2, 0, 20, 40, 20, 20, UInt32(40 + file.first.count + 12)]
        file.numbers = valid
        #expect(unpack(file).strips == file.raw)
        for place in valid.indices {
            for value in [valid[place] &+ 1, valid[place] &- 1, 0x8000_0000 | valid[place], .max] {
                var numbers = valid
                numbers[place] = value
                file.numbers = numbers
                #expect(unpack(file).strips == nil, "\(numbers)")
                #expect(decode(file.bytes()) == .pixels(Data(picture.expected), isPartial: false), "\(numbers)")
            }
        }
        file.numbers = [2, 0, 40, 40, 40, 0, valid[6]]
        #expect(unpack(file).firstRows == 0)
    }

    @Test("If both strips of changed data are accepted, they contain the rows of the whole data")
    func fuzz() throws {
        var random = SeededGenerator(11)
        var accepted = 0
        for _ in 0..<2_000 {
            let picture = HandmadePNG(width: 30, height: 20, channels: 3, using: &random)
            var file = StripPNG(picture, rows: 10)
            let place = file.first.count - Int.random(in: 1...12, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: file.first[place] ^= UInt8.random(in: 1...255, using: &random)
            case 1: file.first.insert(UInt8.random(in: 0...255, using: &random), at: place)
            default: file.second[Int.random(in: 0..<8, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            }
            let unpacked = unpack(file)
            guard let strips = unpacked.strips else { continue }
            accepted += 1
            let beginning = unpacked.beginning ?? []
            let isSame = !beginning.isEmpty && areEqual(Array(strips.prefix(beginning.count)), beginning)
            #expect(isSame)
        }
        // A changed literal keeps the strips valid.
        #expect(accepted > 20)
    }

    @Test("The checksum of two strips is that of their concatenation")
    func checks() {
        var random = SeededGenerator(1)
        for count in [0, 1, 5_552, 65_520, 65_521, 65_522, 200_000] {
            let bytes = (0..<count + 7).map { _ in UInt8.random(in: 200...255, using: &random) }
            func check(_ bytes: ArraySlice<UInt8>) -> UInt32 {
                var (low, high): (UInt32, UInt32) = (1, 0)
                for byte in bytes {
                    low = (low + UInt32(byte)) % 65_521
                    high = (high + low) % 65_521
                }
                return high << 16 | low
            }
            #expect(wi_png_combine_checks(check(bytes[..<7]), check(bytes[7...]), count) == check(bytes[...]))
        }
    }
}
