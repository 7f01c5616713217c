// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCodecs
import WebImageCore
import WebImageTestBasics

/// Independent programs that share no code with WebImage, and their output for a file.
enum Tools {
    static let hasExiftool = has("/usr/bin/exiftool")
    static let hasPngcheck = has("/usr/bin/pngcheck")
    static let hasDjpeg = has("/usr/bin/djpeg")
    static let hasDjxl = has("/usr/bin/djxl") && ImageCoderRegistry.standard.canEncode(.jxl)
    static let hasPillow = (try? isSuccessful(["/usr/bin/python3", "-c", "import PIL"])) ?? false

    private static func has(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// Runs a program in an empty directory, and returns whether its exit status is 0. A failure isn't an issue of the test
    /// that happens to be the first to ask.
    private static func isSuccessful(_ words: [String]) throws -> Bool {
        let folder = try TemporaryDirectory()
        let directory = URL(filePath: folder.path)
        return try ChildProcess(words[0], Array(words.dropFirst()), in: directory, output: "said").wait() == 0
    }

    /// Runs a program in a temporary directory that contains `data` as the file `name`.
    ///
    /// - Returns: The standard output of the program.
    @discardableResult
    static func run(_ words: [String], _ data: Data = Data(), as name: String = "picture") throws -> Data {
        try output("said", words, data, as: name)
    }

    /// Runs a program like ``run(_:_:as:)``.
    ///
    /// - Returns: The contents of the file `result` after the program ends.
    static func output(_ result: String, _ words: [String], _ data: Data, as name: String) throws -> Data {
        let folder = try TemporaryDirectory()
        try data.write(to: URL(filePath: folder.file(name)))
        let process = try ChildProcess(
            words[0], Array(words.dropFirst()), in: URL(filePath: folder.path), output: "said")
        let status = process.wait()
        try #require(status == 0, "\(words)")
        return try Data(contentsOf: URL(filePath: folder.file(result)))
    }

    /// Returns all metadata tags of a file by group and name, as numbers if possible.
    static func tags(_ data: Data, _ fileExtension: String) throws -> [String: String] {
        let name = "picture.\(fileExtension)"
        let json = try run(["/usr/bin/exiftool", "-j", "-G1", "-n", name], data, as: name)
        let list = try JSONSerialization.jsonObject(with: json) as? [[String: Any]]
        return (list?.first ?? [:]).mapValues { "\($0)" }
    }

    /// Returns the unpremultiplied 8-bit RGBA samples that Pillow reads.
    static func pillow(_ data: Data) throws -> [UInt8] {
        let script = "import PIL.Image; open('out','wb').write(PIL.Image.open('picture').convert('RGBA').tobytes())"
        return [UInt8](try output("out", ["/usr/bin/python3", "-c", script], data, as: "picture"))
    }
}

extension PixelPatterns {
    /// Returns an image of random colors.
    static func noise(width: Int, height: Int, seed: UInt64 = 1) throws -> PixelBuffer {
        let pattern = Pattern(name: "noise", width: width, height: height, variant: seed)
        return try patterns.value(for: pattern) {
            var numbers = SeededGenerator(seed)
            return try make(width: width, height: height, isOpaque: true) { _, _ in
                let number = numbers.next()
                return SIMD4(
                    UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number &>> 8),
                    UInt8(truncatingIfNeeded: number &>> 16), 255)
            }
        }
    }

    /// Returns a texture whose detail decreases with its frequency, as in most photographs (value noise in six octaves).
    static func texture(width: Int, height: Int, isGray: Bool = false) throws -> PixelBuffer {
        let pattern = Pattern(name: "texture", width: width, height: height, variant: isGray ? 1 : 0)
        return try patterns.value(for: pattern) {
            // The first channel is the light. The others are the colors, which a gray texture doesn't have.
            let channels = (0..<(isGray ? 1 : 4)).map { channel in
                ValueNoise(width: width, height: height, seed: UInt64(channel)).values
            }
            return try make(width: width, height: height, isOpaque: true) { x, y in
                let place = y * width + x
                let light = channels[0][place]
                func sample(_ channel: Int) -> UInt8 {
                    UInt8(255 * (isGray ? light : 0.7 * light + 0.3 * channels[channel][place]))
                }
                return SIMD4(sample(1), sample(2), sample(3), 255)
            }
        }
    }

    static func flat(width: Int, height: Int) throws -> PixelBuffer {
        try make(width: width, height: height, isOpaque: true) { _, _ in SIMD4(30, 90, 200, 255) }
    }

    /// Returns an image with 16 bits per sample.
    static func wide(
        width: Int, height: Int, isOpaque: Bool, _ pixel: (Int, Int) -> SIMD4<UInt16>
    ) throws -> PixelBuffer {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height), format: .rgba16)
        canvas.withUnsafeMutableBytes { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    bytes.storeBytes(
                        of: pixel(x, y), toByteOffset: y * canvas.bytesPerRow + x * 8, as: SIMD4<UInt16>.self)
                }
            }
        }
        return canvas.finish(isOpaque: isOpaque)
    }

    /// Returns a gradient that needs 16 bits.
    static func wideGradient(hasAlpha: Bool = false) throws -> PixelBuffer {
        try wide(width: 50, height: 40, isOpaque: !hasAlpha) { x, y in
            let alpha = hasAlpha ? UInt16(20_000 + x * 900) : 65_535
            let (red, green, blue) = (UInt16(x * 1_311 + y), UInt16(y * 1_600 + x), UInt16(x * y * 30))
            // Divide the colors so that they don't exceed the smallest alpha.
            return hasAlpha ? SIMD4(red / 4, green / 4, blue / 4, alpha) : SIMD4(red, green, blue, alpha)
        }
    }
}

/// Metadata with all relevant fields: a camera name, an orientation, dimensions, a location, and a maker note.
enum SampleMetadata {
    static let exif: [UInt8] = block(isBigEndian: false).serialized()

    static func block(isBigEndian: Bool) -> ExifBlock {
        var block = ExifBlock(isBigEndian: isBigEndian)
        block.main = [
            text(0x010F, "Maker"), text(0x0110, "Camera 1"), short(block, 0x0112, 6), long(block, 0x0100, 4_000),
        ]
        block.photo = [
            long(block, 0xA002, 4_000), long(block, 0xA003, 3_000), text(0x9003, "2020:01:02 03:04:05"),
            ExifBlock.Entry(tag: 0x927C, kind: 7, count: 9, bytes: Array("MAKERNOTE".utf8)),
            short(block, 0xA001, 65_535),
        ]
        let degrees = [47, 1, 22, 1, 0, 1].flatMap { number(block, $0, 4) }
        block.position = [
            ExifBlock.Entry(tag: 0, kind: 1, count: 4, bytes: [2, 3, 0, 0]), text(1, "N"),
            ExifBlock.Entry(tag: 2, kind: 5, count: 3, bytes: degrees), text(3, "E"),
            ExifBlock.Entry(tag: 4, kind: 5, count: 3, bytes: degrees),
        ]
        block.rules = [text(1, "R03")]
        return block
    }

    /// Returns the EXIF block that was written.
    static func block(in found: EmbeddedMetadata) throws -> ExifBlock {
        let exif = try #require(found.exif)
        return try #require(ExifBlock(exif))
    }

    static func block(in data: Data) throws -> ExifBlock { try block(in: EmbeddedMetadata(reading: data)) }

    static func xmp(_ extra: String = "") -> [UInt8] {
        Array(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" xmlns:exif="http://ns.adobe.com/exif/1.0/" \
            xmlns:dc="http://purl.org/dc/elements/1.1/" dc:format="words" tiff:Orientation="6"\(extra)/>\
            </rdf:RDF></x:xmpmeta>
            """.utf8)
    }

    private static func number(_ block: ExifBlock, _ value: Int, _ width: Int) -> [UInt8] {
        let little = (0..<width).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        return block.isBigEndian ? little.reversed() : little
    }

    private static func text(_ tag: Int, _ text: String) -> ExifBlock.Entry {
        ExifBlock.Entry(tag: tag, kind: 2, count: text.utf8.count + 1, bytes: Array(text.utf8) + [0])
    }

    private static func short(_ block: ExifBlock, _ tag: Int, _ value: Int) -> ExifBlock.Entry {
        ExifBlock.Entry(tag: tag, kind: 3, count: 1, bytes: number(block, value, 2))
    }

    private static func long(_ block: ExifBlock, _ tag: Int, _ value: Int) -> ExifBlock.Entry {
        ExifBlock.Entry(tag: tag, kind: 4, count: 1, bytes: number(block, value, 4))
    }
}

/// Smooth random values from 0 to 1, as a sum of interpolated lattices.
private struct ValueNoise {
    /// The values of all pixels, row by row.
    private(set) var values: [Double]
    private let width: Int
    private let height: Int

    init(width: Int, height: Int, seed: UInt64) {
        (self.width, self.height) = (width, height)
        values = [Double](repeating: 0, count: width * height)
        var numbers = SeededGenerator(seed)
        let steps = [64, 32, 16, 8, 4, 2]
        let weight = Double(steps.reduce(0, +))
        for step in steps {
            let columns = width / step + 2
            let count = columns * (height / step + 2)
            let lattice = (0..<count).map { _ in Double.random(in: 0...1, using: &numbers) }
            add(lattice, columns: columns, step: step)
        }
        for place in values.indices { values[place] /= weight }
    }

    /// Adds the interpolated values of a lattice, which has a value at each multiple of the step.
    private mutating func add(_ lattice: [Double], columns: Int, step: Int) {
        let (width, height, scale) = (self.width, self.height, Double(step))
        values.withUnsafeMutableBufferPointer { values in
            lattice.withUnsafeBufferPointer { lattice in
                guard let values = values.baseAddress, let lattice = lattice.baseAddress else { return }
                for y in 0..<height {
                    let upper = lattice + y / step * columns
                    let lower = upper + columns
                    let down = Double(y % step) / scale
                    let row = values + y * width
                    var x = 0
                    while x < width {
                        let column = x / step
                        let across = Double(x % step) / scale
                        let top = upper[column] * (1 - across) + upper[column + 1] * across
                        let bottom = lower[column] * (1 - across) + lower[column + 1] * across
                        row[x] += scale * (top * (1 - down) + bottom * down)
                        x += 1
                    }
                }
            }
        }
    }
}
