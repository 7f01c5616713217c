// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestBasics

@testable import WebImageCodecs

@Suite(
    "Profiles for gray and ink",
    .enabled(if: LabConverter.isAvailable, "requires liblcms2-utils"))
struct ProfileEngineTests {
    private static let grays = [UInt8](stride(from: 0, through: 255, by: 5))

    /// Returns a gray profile of version 2 with a lookup table from gray to L*a*b*, a slight tint, and a dark gray as
    /// its darkest color (ICC.1:2001-04, section 6.5.7).
    static func grayTable() -> [UInt8] {
        func big(_ value: Int, _ count: Int = 4) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
        }
        func text(_ text: String) -> [UInt8] {
            Array("desc".utf8) + big(0) + big(text.utf8.count + 1) + Array(text.utf8)
                + [UInt8](repeating: 0, count: 1 + 78)
        }
        let identity = (0...255).map { UInt8($0) }
        // One input channel, three output channels, and a grid of 16 points.
        var table = Array("mft1".utf8) + big(0) + [1, 3, 16, 0]
        for index in 0..<9 { table += big(index % 4 == 0 ? 65_536 : 0) }
        table += identity
        for point in 0..<16 {
            let share = Double(point) / 15
            table += [UInt8(25 + 225 * pow(share, 0.8)), UInt8(128 + 4 * share), UInt8(128 + 12 * share * (1 - share))]
        }
        table += identity + identity + identity
        let white = Array("XYZ ".utf8) + big(0) + big(0xF6D6) + big(0x1_0000) + big(0xD32D)
        let copyright = Array("text".utf8) + big(0) + Array("CC0\0".utf8)
        let tags: [(String, [UInt8])] = [
            ("desc", text("Gray table")), ("cprt", copyright), ("wtpt", white), ("A2B0", table),
        ]
        var directory = big(tags.count)
        var body: [UInt8] = []
        for (name, content) in tags {
            directory += Array(name.utf8) + big(132 + tags.count * 12 + body.count) + big(content.count)
            body += content + [UInt8](repeating: 0, count: -content.count & 3)
        }
        let size = 128 + directory.count + body.count
        var header = big(size) + big(0) + big(0x0210_0000) + Array("scnrGRAYLab ".utf8)
        header += [7, 0xE8, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0] + Array("acsp".utf8) + [UInt8](repeating: 0, count: 28)
        header += big(0xF6D6) + big(0x1_0000) + big(0xD32D)
        return header + [UInt8](repeating: 0, count: 128 - header.count) + directory + body
    }

    private func converted(_ pixels: [UInt8], _ conversion: ColorConversion) -> [UInt8] {
        var pixels = pixels
        pixels.withUnsafeMutableBufferPointer { buffer in
            if let start = buffer.baseAddress { conversion.convert(start, count: buffer.count / 4) }
        }
        return pixels.indices.filter { $0 % 4 != 3 }.map { pixels[$0] }
    }

    @Test("Gray with curves and gray with a table agree with transicc", arguments: ["gray", "table"])
    func gray(_ name: String) throws {
        let profile = name == "gray" ? try GamutPatches.icc("gray") : Self.grayTable()
        let conversion = try #require(ColorConversion.from(profile: profile, model: .gray))
        #expect(conversion.source == .gray)
        let own = converted(Self.grays.flatMap { [$0, $0, $0, 77] }, conversion)
        let expected = try LabConverter.sRGB(of: Self.grays, channels: 1, profile: profile)
        let worst = zip(own, expected).map { abs(Double($0) - $1) }.max() ?? 255
        #expect(own.count == expected.count && worst <= 1.5, "\(worst)")
        // The darkest gray of the table isn't black, which compensation of the black point makes it.
        #expect(own[0] <= 2)
        // 16-bit samples have the same colors, and alpha remains.
        var words = Self.grays.flatMap { gray in [gray, gray, gray, 77].map { UInt16($0) * 257 } }
        words.withUnsafeMutableBufferPointer { buffer in
            if let start = buffer.baseAddress { conversion.convert(start, count: buffer.count / 4) }
        }
        for index in Self.grays.indices {
            #expect(words[index * 4 + 3] == 77 * 257)
            for channel in 0..<3 {
                let difference = Double(words[index * 4 + channel]) / 257 - Double(own[index * 3 + channel])
                #expect(abs(difference) <= 1.5)
            }
        }
    }

    @Test("Ink agrees with the perceptual intent and the compensation of the black point of transicc")
    func ink() throws {
        let profile = try GamutPatches.icc("cmyk")
        let conversion = try #require(ColorConversion.from(profile: profile, model: .cmyk))
        var inks: [UInt8] = []
        for cyan in stride(from: 0, through: 255, by: 85) {
            for magenta in stride(from: 0, through: 255, by: 85) {
                for yellow in stride(from: 0, through: 255, by: 85) {
                    for black in [0, 100, 255] { inks += [cyan, magenta, yellow, black].map { UInt8($0) } }
                }
            }
        }
        let own = converted(inks, conversion)
        let expected = try LabConverter.sRGB(of: inks, channels: 4, profile: profile)
        let worst = zip(own, expected).map { abs(Double($0) - $1) }.max() ?? 255
        #expect(own.count == expected.count && worst <= 2, "\(worst)")
    }
}
