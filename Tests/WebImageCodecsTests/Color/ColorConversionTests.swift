// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@testable import WebImageCodecs

@Suite("Color conversions")
struct ColorConversionTests {
    private func converted(_ pixel: [UInt8], by conversion: ColorConversion) -> [UInt8] {
        var pixel = pixel
        pixel.withUnsafeMutableBufferPointer { buffer in
            if let start = buffer.baseAddress { conversion.convert(start, count: buffer.count / 4) }
        }
        return pixel
    }

    @Test("sRGB needs no conversion, regardless of how the file specifies it", arguments: ["srgb", "srgb-v4"])
    func identity(_ name: String) throws {
        #expect(ColorConversion.from(profile: try ColorFixture.profile(name)) == nil)
        #expect(ColorConversion.from(.sRGB) == nil)
        #expect(ColorConversion.from(ColorCodePoints(primaries: 2, transfer: 2)) == nil)
        #expect(ColorConversion.from(ColorCodePoints(primaries: 250, transfer: 13)) == nil)
    }

    @Test(
        "In all spaces except HDR, grays stay gray, black stays black, and white stays white",
        arguments: [1, 4, 5, 6, 8, 9, 11, 12, 22], [1, 4, 5, 7, 8, 13, 17])
    func greys(_ primaries: Int, _ transfer: Int) throws {
        guard let conversion = ColorConversion.from(ColorCodePoints(primaries: primaries, transfer: transfer)) else {
            #expect(transfer == 13)
            return
        }
        var last: UInt8 = 0
        for value in UInt8.min...UInt8.max {
            let pixel = converted([value, value, value, 7], by: conversion)
            #expect(abs(Int(pixel[0]) - Int(pixel[1])) <= 1 && abs(Int(pixel[2]) - Int(pixel[1])) <= 1)
            #expect(pixel[1] >= last && pixel[3] == 7)
            last = pixel[1]
        }
        #expect(converted([0, 0, 0, 255], by: conversion) == [0, 0, 0, 255])
        #expect(converted([255, 255, 255, 255], by: conversion) == [255, 255, 255, 255])
    }

    @Test("HDR grays rise monotonically from black to white", arguments: [16, 18])
    func tones(_ transfer: Int) throws {
        let conversion = try #require(ColorConversion.from(ColorCodePoints(primaries: 9, transfer: transfer)))
        var last: UInt8 = 0
        for value in UInt8.min...UInt8.max {
            let pixel = converted([value, value, value, 255], by: conversion)
            #expect(pixel[1] >= last)
            last = pixel[1]
        }
        #expect(converted([0, 0, 0, 255], by: conversion)[1] == 0)
        #expect(last >= 254)
        // Reference white (203 cd/m², BT.2408) is bright, but isn't the maximum.
        let white: UInt8 = transfer == 16 ? 148 : 191
        #expect((215...245).contains(Int(converted([white, white, white, 255], by: conversion)[1])))
    }

    @Test(
        "16-bit samples are converted like 8-bit samples", arguments: ["p3", "adobe", "prophoto", "linear", "scanner"])
    func depths(_ name: String) throws {
        let conversion = try #require(ColorConversion.from(profile: try ColorFixture.profile(name)))
        var generator = SeededGenerator(1)
        let narrow = (0..<4_096).map { _ in UInt8.random(in: 0...255, using: &generator) }
        var wide = narrow.map { UInt16($0) * 257 }
        wide.withUnsafeMutableBufferPointer { buffer in
            if let start = buffer.baseAddress { conversion.convert(start, count: buffer.count / 4) }
        }
        let expected = converted(narrow, by: conversion)
        let differences = zip(expected, wide).map { abs(Double($0) - Double($1) / 257) }
        #expect((differences.max() ?? 0) < (name == "scanner" ? 12 : 1.1))
        #expect(differences.reduce(0, +) / Double(differences.count) < 0.6)
    }

    @Test("Linear light is converted before scaling, and spaces similar to sRGB afterward")
    func order() throws {
        for (name, isPerceptual) in [("p3", true), ("adobe", true), ("prophoto", true), ("linear", false)] {
            let conversion = try #require(ColorConversion.from(profile: try ColorFixture.profile(name)))
            #expect(conversion.isPerceptual == isPerceptual, "\(name)")
        }
        #expect(ColorConversion.from(ColorCodePoints(primaries: 9, transfer: 16))?.isPerceptual == false)
    }

    @Test("The cache obeys its limits on entries and bytes and evicts the least recently used conversion")
    func cache() throws {
        let cache = ColorCache(maxEntries: 3, maxBytes: 1_000)
        let conversion = try #require(ColorConversion(.displayP3, .sRGB))
        var made: [UInt8] = []
        func ask(_ name: UInt8, bytes: Int = 100) {
            _ = cache.conversion(.profile([UInt8](repeating: name, count: bytes))) {
                made.append(name)
                return conversion
            }
        }
        for name: UInt8 in [1, 2, 3, 1, 4, 1, 3] { ask(name) }
        #expect(made == [1, 2, 3, 4])
        ask(2)
        #expect(made.last == 2 && cache.count == 3)
        ask(9, bytes: 950)
        #expect(cache.count == 1)
        ask(10, bytes: 1_001)
        ask(10, bytes: 1_001)
        #expect(made.suffix(2) == [10, 10] && cache.count == 1)
    }

    @Test("Many threads can use one conversion at the same time")
    func threads() async throws {
        for name in ["p3", "scanner"] {
            let conversion = try #require(ColorConversion.from(profile: try ColorFixture.profile(name)))
            let pixels = (0..<8_000).map { UInt8(truncatingIfNeeded: $0 * 31) }
            let expected = converted(pixels, by: conversion)
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<16 { group.addTask { self.converted(pixels, by: conversion) == expected } }
                for await isEqual in group { #expect(isEqual) }
            }
        }
    }
}
