// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@testable import WebImageCodecs

@Suite("Malicious profiles")
struct HostileProfileTests {
    static let names = ["srgb", "srgb-v4", "p3", "adobe", "prophoto", "linear", "gray", "scanner", "cmyk"]
    /// The profiles with tables. For each of their conversions, Little CMS calculates all nodes of a grid.
    private static let namesWithTables: Set<String> = ["scanner", "cmyk"]

    /// Creates the conversion and applies it to pixels of both depths. Returns `false` if the profile results in no
    /// conversion.
    private func attempt(_ profile: [UInt8]) -> Bool {
        guard let conversion = ColorConversion(profile: profile) else { return false }
        expectColorsAloneChange(conversion)
        return true
    }

    /// Checks that alpha is unchanged, or opaque if the source is CMYK, and that no memory outside the row is changed,
    /// regardless of the profile.
    private func expectColorsAloneChange(_ conversion: ColorConversion) {
        let narrow = (0..<64 * 4 + 8).map { UInt8(truncatingIfNeeded: $0 * 37) }
        var result = narrow
        result.withUnsafeMutableBufferPointer { pixels in
            if let start = pixels.baseAddress { conversion.convert(start + 4, count: 64) }
        }
        expectColorsAloneChanged(from: narrow, to: result, opaque: conversion.source == .cmyk)
        guard conversion.source != .cmyk else { return }
        let wide = (0..<64 * 4 + 8).map { UInt16(truncatingIfNeeded: $0 * 9_371) }
        var wideResult = wide
        wideResult.withUnsafeMutableBufferPointer { pixels in
            if let start = pixels.baseAddress { conversion.convert(start + 4, count: 64) }
        }
        expectColorsAloneChanged(from: wide, to: wideResult, opaque: false)
    }

    private func expectColorsAloneChanged<Sample: FixedWidthInteger>(
        from before: [Sample], to after: [Sample], opaque: Bool
    ) {
        let isRight = before.indices.allSatisfy { index in
            guard 4..<before.count - 4 ~= index else { return after[index] == before[index] }
            return index % 4 != 3 || after[index] == (opaque ? .max : before[index])
        }
        #expect(isRight, "\(after)")
    }

    @Test("A mutated profile results in a conversion that preserves alpha, or in none", arguments: names)
    func mutations(_ name: String) throws {
        let profile = try ColorFixture.profile(name)
        var generator = SeededGenerator(UInt64(profile.count))
        var conversions = 0
        for round in 0..<LongTests.rounds(Self.namesWithTables.contains(name) ? 30 : 250, long: 250) {
            var changed = profile
            for _ in 0...Int.random(in: 0..<6, using: &generator) {
                // The first bytes are numbers, names, and offsets. The rest is mostly samples.
                let end = Bool.random(using: &generator) ? min(260, changed.count) : changed.count
                let place = Int.random(in: 0..<end, using: &generator)
                changed[place] =
                    [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &generator)]
                    .randomElement(using: &generator) ?? 0
            }
            if round % 5 == 0 { changed = Array(changed.prefix(Int.random(in: 0..<changed.count, using: &generator))) }
            if attempt(changed) { conversions += 1 }
        }
        // Without any conversion, the test would check nothing.
        #expect(conversions > 0)
    }

    @Test("Random bytes after a valid header result in no conversion")
    func random() throws {
        let head = try ColorFixture.profile("p3").prefix(132)
        var generator = SeededGenerator(3)
        for count in 0..<300 {
            let bytes = (0..<count * 7).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(!attempt(head + bytes), "\(bytes.count) bytes")
        }
    }

    @Test("Tables that declare more data than exists are rejected without an allocation")
    func declaredTables() throws {
        let profile = try ColorFixture.profile("cmyk")
        let tag = try #require(offset(of: Array("mft2".utf8), in: profile))
        for (inputs, steps) in [(4, 255), (15, 2), (15, 255), (8, 16), (4, 40), (255, 255), (4, 0), (4, 1)] {
            var changed = profile
            changed[tag + 8] = UInt8(inputs)
            changed[tag + 10] = UInt8(steps)
            #expect(ColorConversion(profile: changed) == nil, "\(inputs) inputs, \(steps) steps")
        }
    }

    @Test("Floating-point tables are ignored")
    func floatTables() throws {
        var profile = try ColorFixture.profile("scanner")
        let name = try #require(offset(of: Array("A2B0".utf8), in: profile))
        profile.replaceSubrange(name..<name + 4, with: Array("D2B0".utf8))
        #expect(ColorConversion(profile: profile) == nil)
    }

    @Test(
        "Colorants that don't span a color space don't crash the conversion", arguments: [0, 0x7FFF_FFFF, 0x8000_0000])
    func colorants(_ value: UInt32) throws {
        var profile = try ColorFixture.profile("p3")
        var start = 0
        var replaced = 0
        while let found = offset(of: Array("XYZ \0\0\0\0".utf8), in: Array(profile[start...])) {
            start += found + 8
            replaced += 1
            for index in 0..<12 {
                profile[start + index] = UInt8(truncatingIfNeeded: value >> UInt32(24 - index % 4 * 8))
            }
        }
        #expect(replaced >= 3)
        // The conversion is allowed to fail. If it exists, it must not change alpha.
        _ = attempt(profile)
    }

    @Test("Any chromaticities and white points result in a conversion that preserves alpha, or in none")
    func chromaticities() throws {
        var generator = SeededGenerator(8)
        var conversions = 0
        for _ in 0..<400 {
            let values = (0..<8).map { _ -> Double in
                let some: [Double] = [0, 0.00001, 0.0002, 1, Double.random(in: 0...1, using: &generator)]
                return some.randomElement(using: &generator) ?? 0
            }
            guard let corners = Chromaticities(whiteFirst: values) else { continue }
            let gamma: Double = [0.1, 1, 100].randomElement(using: &generator) ?? 1
            guard let conversion = ColorConversion(corners, .gamma(gamma)) else { continue }
            expectColorsAloneChange(conversion)
            conversions += 1
        }
        #expect(conversions > 0)
    }

    private func offset(of needle: [UInt8], in bytes: [UInt8]) -> Int? {
        (0..<max(0, bytes.count - needle.count)).first { bytes[$0..<$0 + needle.count].elementsEqual(needle) }
    }
}
