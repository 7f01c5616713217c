// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

// The binary forms of the values in messages between a program and its helper process. They have no versions of their own:
// `MessageHead.version` changes with each of them.

extension PixelSize: BinaryFields {
    package static var blank: PixelSize { PixelSize(width: 1, height: 1) }

    package mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&width, in: 1...Int(Int32.max))
        try coder.code(&height, in: 1...Int(Int32.max))
    }
}

extension PixelFormat: BinaryCodable {
    package init(from reader: inout BinaryReader) throws(MalformedData) {
        let number = Int(try reader.number(UInt8.self))
        guard Self.all.indices.contains(number) else { throw MalformedData("the pixel format is unknown") }
        self = Self.all[number]
    }

    package func write(to writer: inout BinaryWriter) { writer.put(UInt8(Self.all.firstIndex(of: self) ?? 0)) }
}

extension ImageFormat: BinaryCodable {
    package init(from reader: inout BinaryReader) throws(MalformedData) {
        self.init(rawValue: try reader.text(limit: 256))
    }
}

extension ImageOrientation: BinaryCodable {}
extension ImageColorSpace: BinaryCodable {}
extension StoredDetail: BinaryCodable {}
extension LightCurve: BinaryCodable {}
extension TargetSize.Mode: BinaryCodable {}
extension ResamplingFilter.Kernel: BinaryCodable {}
extension ResamplingFilter.Light: BinaryCodable {}
extension ImageDecodingOptions.DynamicRange: BinaryCodable {}
extension ImageEncoding.ChromaSubsampling: BinaryCodable {}
extension ImageEncoding.MetadataPolicy: BinaryCodable {}
extension ImageEncoding.Preset: BinaryCodable {}

extension ImageLimits: BinaryFields {
    package static var blank: ImageLimits { ImageLimits() }

    package mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&maxEncodedBytes)
        try coder.code(&maxPixels)
        try coder.code(&maxSourcePixels)
        try coder.code(&maxDimension)
        try coder.code(&maxFrames)
        try coder.code(&maxAnimationPixels)
        try coder.code(&maxAnimationDecoders)
        try coder.code(&maxDecodedBytes)
        try coder.code(&maxDecodingTime)
        try coder.code(&maxEncodingTime)
        try coder.code(&rejectsImplausibleFiles)
    }
}

extension ColorCodePoints: BinaryFields {
    package static var blank: ColorCodePoints { .sRGB }

    package mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&primaries, in: ColorCodePoints.range)
        try coder.code(&transfer, in: ColorCodePoints.range)
    }
}

extension ImageInfo: BinaryFields {
    package static var blank: ImageInfo { ImageInfo(format: .png, storedSize: .blank) }

    package mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&format)
        try coder.code(&storedSize)
        try coder.code(&orientation)
        try coder.code(&bitDepth)
        try coder.code(&hasAlpha)
        try coder.code(&frameCount)
        try coder.code(&frameCountIsExact)
        try coder.code(&loopCount)
        try coder.code(&hasICCProfile)
        try coder.code(&isProgressive)
        try coder.code(&smallestFile)
        try coder.code(&cleanAperture)
        try coder.code(&codePoints)
        try coder.code(&isLosslessWebP)
        try coder.code(&rowsPerUnit)
        try coder.code(&codedPixelCount)
        try coder.code(&isTruncated)
        try coder.code(&detail)
        try coder.code(&decoderBytes)
    }
}

extension TargetSize: BinaryFields {
    package static var blank: TargetSize { .fit() }

    package mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        var isInPoints = unit == .points
        try coder.code(&mode)
        try coder.code(&width)
        try coder.code(&height)
        try coder.code(&byteLimit)
        try coder.code(&isInPoints)
        unit = isInPoints ? .points : .pixels
    }
}

extension FrameSelection: BinaryCodable {
    package init(from reader: inout BinaryReader) throws(MalformedData) {
        switch try reader.number(UInt8.self) {
        case 0: self = .all
        case 1: self = .first
        case 2: self = .index(try reader.value())
        default: throw MalformedData("the selection of frames is unknown")
        }
    }

    /// Writes the selection that coders receive.
    package func write(to writer: inout BinaryWriter) {
        switch coderSelection {
        case .all, .range, .indices: writer.put(UInt8(0))
        case .first: writer.put(UInt8(1))
        case .index(let index):
            writer.put(UInt8(2))
            writer.put(index)
        }
    }
}

extension ResamplingFilter: BinaryCodable {
    package init(from reader: inout BinaryReader) throws(MalformedData) {
        self.init(try reader.value(), light: try reader.value())
    }

    package func write(to writer: inout BinaryWriter) {
        writer.put(kernel)
        writer.put(light)
    }
}

/// An option of a coder: its name and its value.
private struct CoderOption: BinaryFields {
    static let blank = CoderOption()
    var name = ""
    var value = ""

    mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&name)
        try coder.code(&value)
    }
}

extension ImageDecodingOptions: BinaryFields {
    package static var blank: ImageDecodingOptions { ImageDecodingOptions() }

    package mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&size)
        try coder.code(&scale)
        try coder.code(&frames)
        try coder.code(&preservesBitDepth)
        try coder.code(&color)
        try coder.code(&keepsGamut)
        try coder.code(&dynamicRange)
        try coder.code(&resampling)
        try coder.code(&allowsPartialData)
        try coder.code(&formatHint)
        var options = coderOptions.sorted { $0.key < $1.key }.map { CoderOption(name: $0.key, value: $0.value) }
        try coder.code(&options, limit: 1_000)
        coderOptions = Dictionary(options.map { ($0.name, $0.value) }) { $1 }
    }
}

extension AnimationTimeline: BinaryCodable {
    private static let maxFrames = 10_000_000

    package init(from reader: inout BinaryReader) throws(MalformedData) {
        let loops = try reader.int(0...Int(UInt32.max))
        let count = try reader.int(1...Self.maxFrames)
        var durations: [Int] = []
        for _ in 0..<count {
            let duration = Int(try reader.number(UInt32.self))
            guard duration >= 1 else { throw MalformedData("a frame lasts \(duration) ms") }
            durations.append(duration)
        }
        self.init(loopCount: loops, durations: durations)
    }

    package func write(to writer: inout BinaryWriter) {
        writer.put(min(max(0, loopCount), Int(UInt32.max)))
        writer.put(durations.count)
        for duration in durations { writer.put(UInt32(clamping: duration)) }
    }
}

extension ImageMetadata: BinaryFields {
    package static var blank: ImageMetadata { ImageMetadata(storedSize: .blank) }

    package mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&storedSize)
        try coder.code(&orientation)
        try coder.code(&bitDepth, in: 1...64)
        try coder.code(&hasAlpha)
        try coder.code(&isPartial)
        try coder.code(&color)
        try coder.code(&colorPrimaries, in: ColorCodePoints.range)
        try coder.code(&transferCharacteristics, in: ColorCodePoints.range)
        try coder.code(&fileCodePoints)
        try coder.code(&sourceCurve)
        try coder.code(&iccProfile)
        try coder.code(&exif)
        try coder.code(&xmp)
    }
}

extension PixelColor: BinaryFields {
    package static var blank: PixelColor { .clear }

    package mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&red)
        try coder.code(&green)
        try coder.code(&blue)
        try coder.code(&alpha)
    }
}

/// The program selects the frames and the format before it sends an encoding.
extension ImageEncoding: BinaryFields {
    package static var blank: ImageEncoding { ImageEncoding(format: nil) }

    package mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&format)
        try coder.code(&quality)
        try coder.code(&isLossless)
        try coder.code(&isProgressive)
        try coder.code(&effort)
        try coder.code(&background)
        try coder.code(&loopCount)
        try coder.code(&usesDithering)
        try coder.code(&chromaSubsampling)
        try coder.code(&optimizesHuffmanTables)
        try coder.code(&isExact)
        try coder.code(&thumbnailDimension)
        try coder.code(&iconDimensions, limit: 100_000)
        try coder.code(&maxByteCount)
        try coder.code(&maxDimension)
        try coder.code(&metadata)
        try coder.code(&visualScore)
        try coder.code(&preservesDynamicRange)
        try coder.code(&preset)
        try coder.code(&color)
    }
}
