// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// An image with flat patches of saturated colors, as a PNG file of an independent writer.
public struct GamutPatches: Sendable {
    /// R, G, B of each patch.
    public let colors: [UInt8]
    /// The size of the image.
    public let size: PixelSize
    /// The PNG file with the profile.
    public let file: Data
    /// The name of the profile.
    public let profile: String

    private static let side = 64
    private static let columns = 8
    /// The patches by profile. Many tests use the same ones.
    private static let created = Lock<[String: GamutPatches]>([:])

    /// Creates patches in the color space with the name of a fixture, such as `p3`.
    public init(profile: String) throws {
        if let patches = Self.created.withLock({ $0[profile] }) {
            self = patches
        } else {
            try self.init(creating: profile)
            let patches = self
            Self.created.withLock { $0[profile] = patches }
        }
    }

    private init(creating profile: String) throws {
        self.profile = profile
        let levels: [[UInt8]] = [
            [255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0], [0, 255, 255], [255, 0, 255], [255, 255, 255],
            [128, 128, 128], [230, 60, 40], [50, 210, 70], [40, 70, 220], [240, 160, 30], [180, 60, 200],
            [90, 200, 200], [200, 140, 120], [70, 90, 60],
        ]
        colors = levels.flatMap { $0 }
        let (side, columns) = (Self.side, Self.columns)
        size = PixelSize(width: side * columns, height: side * levels.count / columns)
        var rows: [UInt8] = []
        for y in 0..<size.height {
            rows.append(0)
            for x in 0..<size.width { rows += levels[y / side * columns + x / side] }
        }
        let header = Self.big(UInt32(size.width)) + Self.big(UInt32(size.height)) + [8, 2, 0, 0, 0]
        let chunks: [(String, [UInt8])] = [
            ("IHDR", header), ("iCCP", Array("test\0\0".utf8) + Self.stored(try Self.icc(profile))),
            ("IDAT", Self.stored(rows)), ("IEND", []),
        ]
        var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        for (name, content) in chunks {
            let named = Array(name.utf8) + content
            bytes += Self.big(UInt32(content.count)) + named + Self.big(Self.check(named))
        }
        file = Data(bytes)
    }

    /// Returns the profile of a color space, which `Scripts/fixtures.d/colors.py` writes.
    public static func icc(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: Fixtures.directory.appending(path: "colors/\(name).icc")))
    }

    private static func big(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }

    /// Returns the CRC-32 of a chunk (PNG, annex D).
    private static func check(_ bytes: [UInt8]) -> UInt32 {
        var crc = UInt32.max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = (crc >> 1) ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        return ~crc
    }

    /// Returns R, G, B of the center of each patch.
    public func centers(of image: DecodedImage) -> [UInt8] {
        let side = image.size.width / Self.columns
        return (0..<colors.count / 3).flatMap { index -> [UInt8] in
            let (column, row) = (index % Self.columns, index / Self.columns)
            let color = image.pixels.color(x: column * side + side / 2, y: row * side + side / 2)
            return color.map { [$0.red, $0.green, $0.blue] } ?? []
        }
    }

    /// Returns a zlib stream without compression (RFC 1950, RFC 1951).
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: bytes.count, by: 65_535) {
            let part = bytes[start..<min(bytes.count, start + 65_535)]
            let count = UInt16(part.count)
            out += [start + part.count == bytes.count ? 1 : 0, UInt8(count & 255), UInt8(count >> 8)]
            out += [UInt8(~count & 255), UInt8(~count >> 8)] + part
        }
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return out + Self.big(high << 16 | low)
    }
}

extension DecodedImage {
    /// Returns the profile that describes pixels in the color space of the source.
    public func profileOfPixels() throws -> [UInt8] {
        if let profile = metadata.iccProfile { return [UInt8](profile) }
        let isP3 = metadata.colorPrimaries == 12 && metadata.transferCharacteristics == 13
        return try GamutPatches.icc(isP3 ? "p3" : "srgb")
    }
}

/// A color of CIE L*a*b*.
public struct LabColor {
    /// L* from 0 to 100.
    public var lightness: Double
    /// The coordinate a*, from green to red.
    public var a: Double
    /// The coordinate b*, from blue to yellow.
    public var b: Double

    /// Creates a color.
    public init(lightness: Double, a: Double, b: Double) {
        self.lightness = lightness
        self.a = a
        self.b = b
    }

    /// Returns the difference ΔE2000 (CIE 142-2001; the formulas are numbered as in Sharma, Wu, and Dalal, 2005).
    public func difference(from other: LabColor) -> Double {
        let radians = Double.pi / 180
        func chroma(_ a: Double, _ b: Double) -> Double { (a * a + b * b).squareRoot() }
        let mean7 = pow((chroma(a, b) + chroma(other.a, other.b)) / 2, 7)
        let g = 0.5 * (1 - (mean7 / (mean7 + pow(25, 7))).squareRoot())
        let (a1, a2) = ((1 + g) * a, (1 + g) * other.a)
        let (c1, c2) = (chroma(a1, b), chroma(a2, other.b))
        func hue(_ a: Double, _ b: Double) -> Double {
            let angle = atan2(b, a) / radians
            return a == 0 && b == 0 ? 0 : angle < 0 ? angle + 360 : angle
        }
        let (h1, h2) = (hue(a1, b), hue(a2, other.b))
        var turn = h2 - h1
        if c1 * c2 == 0 { turn = 0 } else if turn > 180 { turn -= 360 } else if turn < -180 { turn += 360 }
        let deltaL = other.lightness - lightness
        let deltaC = c2 - c1
        let deltaH = 2 * (c1 * c2).squareRoot() * sin(turn / 2 * radians)
        let (meanL, meanC) = ((lightness + other.lightness) / 2, (c1 + c2) / 2)
        var meanH = (h1 + h2) / (c1 * c2 == 0 ? 1 : 2)
        if c1 * c2 != 0, abs(h1 - h2) > 180 { meanH += h1 + h2 < 360 ? 180 : -180 }
        let t =
            1 - 0.17 * cos((meanH - 30) * radians) + 0.24 * cos(2 * meanH * radians)
            + 0.32 * cos((3 * meanH + 6) * radians) - 0.20 * cos((4 * meanH - 63) * radians)
        let turning = 30 * exp(-pow((meanH - 275) / 25, 2))
        let rc = 2 * (pow(meanC, 7) / (pow(meanC, 7) + pow(25, 7))).squareRoot()
        let offset = (meanL - 50) * (meanL - 50)
        let sl = 1 + 0.015 * offset / (20 + offset).squareRoot()
        let (sc, sh) = (1 + 0.045 * meanC, 1 + 0.015 * meanC * t)
        let rt = -sin(2 * turning * radians) * rc
        let (l, c, h) = (deltaL / sl, deltaC / sc, deltaH / sh)
        return (l * l + c * c + h * h + rt * c * h).squareRoot()
    }
}

/// The color engine of the program `transicc`.
public enum LabConverter {
    private static let path = "/usr/bin/transicc"
    /// A Boolean value that indicates whether the program is installed.
    public static let isAvailable = FileManager.default.isExecutableFile(atPath: path)

    /// Returns R, G, B in sRGB from 0 to 255, converted with the perceptual intent and compensation of the black point.
    ///
    /// - Parameters:
    ///   - samples: The samples of all colors, from 0 to 255.
    ///   - channels: The number of samples per color, 1 for gray or 4 for ink, where 255 is the largest amount of ink.
    ///   - profile: The profile of the samples.
    public static func sRGB(of samples: [UInt8], channels: Int, profile: [UInt8]) throws -> [Double] {
        // The program expects ink in percent.
        let numbers = samples.map { channels == 4 ? "\(Double($0) / 2.55)" : "\($0)" }.joined(separator: "\\n")
        // The option -s limits the results to the range of samples, as in an image.
        let script = "printf '\(numbers)\\n' | \(path) -n -v0 -s -t0 -b -i profile.icc -o '*sRGB' 2>/dev/null"
        let output = try output(of: script, profile)
        let values = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap {
            Double($0)
        }
        guard values.count == samples.count / channels * 3 else { throw CocoaError(.fileReadCorruptFile) }
        return values
    }

    private static func output(of script: String, _ profile: [UInt8]) throws -> Data {
        let directory = FileManager.default.temporaryDirectory.appending(path: "transicc-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try Data(profile).write(to: directory.appending(path: "profile.icc"))
        let process = try ChildProcess("/bin/sh", ["-c", script], in: directory, output: "said")
        guard process.wait() == 0 else { throw CocoaError(.executableLoad) }
        return try Data(contentsOf: directory.appending(path: "said"))
    }

    /// Returns the colors (R, G, B) of a profile relative to its white.
    public static func lab(of colors: [UInt8], profile: [UInt8]) throws -> [LabColor] {
        // The program reads one number per line from the standard input.
        let numbers = colors.map { "\($0)" }.joined(separator: "\\n")
        let script = "printf '\(numbers)\\n' | \(path) -n -v0 -t1 -i profile.icc -o '*Lab' 2>/dev/null"
        let output = try output(of: script, profile)
        let values = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap {
            Double($0)
        }
        guard values.count == colors.count else { throw CocoaError(.fileReadCorruptFile) }
        return stride(from: 0, to: values.count, by: 3).map {
            LabColor(lightness: values[$0], a: values[$0 + 1], b: values[$0 + 2])
        }
    }
}
