// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

extension PixelSize: WireValue {
    package init(from reader: inout WireReader) throws(WireViolation) {
        self.init(width: try reader.int(1...Int(Int32.max)), height: try reader.int(1...Int(Int32.max)))
    }

    package func write(to writer: inout WireWriter) {
        writer.put(width)
        writer.put(height)
    }
}

extension PixelFormat: WireValue {
    package init(from reader: inout WireReader) throws(WireViolation) {
        let number = Int(try reader.number(UInt8.self))
        guard Self.all.indices.contains(number) else { throw WireViolation("the pixel format is unknown") }
        self = Self.all[number]
    }

    package func write(to writer: inout WireWriter) { writer.put(UInt8(Self.all.firstIndex(of: self) ?? 0)) }
}

extension ImageFormat: WireValue {
    package init(from reader: inout WireReader) throws(WireViolation) { self.init(rawValue: try reader.text(256)) }

    package func write(to writer: inout WireWriter) { writer.put(rawValue) }
}

extension ImageOrientation: WireValue {
    package init(from reader: inout WireReader) throws(WireViolation) {
        guard let value = ImageOrientation(rawValue: try reader.int()) else {
            throw WireViolation("the orientation is invalid")
        }
        self = value
    }

    package func write(to writer: inout WireWriter) { writer.put(rawValue) }
}

extension Duration: WireValue {
    package init(from reader: inout WireReader) throws(WireViolation) {
        let seconds = try reader.number(Int64.self)
        let attoseconds = try reader.number(Int64.self)
        guard attoseconds.magnitude < 1_000_000_000_000_000_000 else { throw WireViolation("the duration is invalid") }
        self.init(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }

    package func write(to writer: inout WireWriter) {
        writer.put(components.seconds)
        writer.put(components.attoseconds)
    }
}

extension ImageLimits: WireValue {
    package init(from reader: inout WireReader) throws(WireViolation) {
        self.init()
        maxEncodedBytes = try reader.int()
        maxPixels = try reader.int()
        maxSourcePixels = try reader.int()
        maxDimension = try reader.int()
        maxFrames = try reader.int()
        maxAnimationPixels = try reader.int()
        maxAnimationDecoders = try reader.int()
        maxDecodedBytes = try reader.int()
        maxDecodingTime = try reader.value()
        maxEncodingTime = try reader.value()
        rejectsImplausibleFiles = try reader.flag()
    }

    package func write(to writer: inout WireWriter) {
        for number in [
            maxEncodedBytes, maxPixels, maxSourcePixels, maxDimension, maxFrames, maxAnimationPixels,
            maxAnimationDecoders, maxDecodedBytes,
        ] { writer.put(number) }
        writer.put(maxDecodingTime)
        writer.put(maxEncodingTime)
        writer.put(rejectsImplausibleFiles)
    }
}

extension ColorCodePoints: WireValue {
    package init(from reader: inout WireReader) throws(WireViolation) {
        self.init(primaries: try reader.int(0...65_535), transfer: try reader.int(0...65_535))
    }

    package func write(to writer: inout WireWriter) {
        writer.put(primaries)
        writer.put(transfer)
    }
}

extension ImageInfo: WireValue {
    package init(from reader: inout WireReader) throws(WireViolation) {
        self.init(format: try reader.value(), storedSize: try reader.value(), orientation: try reader.value())
        bitDepth = try reader.int()
        hasAlpha = try reader.flag()
        frameCount = try reader.int()
        frameCountIsExact = try reader.flag()
        loopCount = try reader.int()
        hasICCProfile = try reader.flag()
        isProgressive = try reader.flag()
        smallestFile = try reader.int()
        cleanAperture = try reader.optional { (reader) throws(WireViolation) in try reader.value() }
        codePoints = try reader.optional { (reader) throws(WireViolation) in try reader.value() }
        isLosslessWebP = try reader.flag()
        rowsPerUnit = try reader.optional { (reader) throws(WireViolation) in try reader.int() }
        codedPixelCount = try reader.int()
        isTruncated = try reader.flag()
        guard let detail = StoredDetail(rawValue: UInt8(try reader.int(0...255))) else {
            throw WireViolation("invalid detail")
        }
        self.detail = detail
        decoderBytes = try reader.int()
    }

    package func write(to writer: inout WireWriter) {
        writer.put(format)
        writer.put(storedSize)
        writer.put(orientation)
        writer.put(bitDepth)
        writer.put(hasAlpha)
        writer.put(frameCount)
        writer.put(frameCountIsExact)
        writer.put(loopCount)
        writer.put(hasICCProfile)
        writer.put(isProgressive)
        writer.put(smallestFile)
        writer.put(cleanAperture) { $0.put($1) }
        writer.put(codePoints) { $0.put($1) }
        writer.put(isLosslessWebP)
        writer.put(rowsPerUnit) { $0.put($1) }
        writer.put(codedPixelCount)
        writer.put(isTruncated)
        writer.put(Int(detail.rawValue))
        writer.put(decoderBytes)
    }
}

extension TargetSize: WireValue {
    package init(from reader: inout WireReader) throws(WireViolation) {
        let modes: [TargetSize.Mode] = [.fit, .fill, .stretch, .exactly, .bytes, .scaled]
        self = .fit()
        mode = modes[try reader.int(0...modes.count - 1)]
        width = try reader.optional { (reader) throws(WireViolation) in try reader.double() }
        height = try reader.optional { (reader) throws(WireViolation) in try reader.double() }
        byteLimit = try reader.optional { (reader) throws(WireViolation) in try reader.int() }
        unit = try reader.flag() ? .points : .pixels
    }

    package func write(to writer: inout WireWriter) {
        let number =
            switch mode {
            case .fit: 0
            case .fill: 1
            case .stretch: 2
            case .exactly: 3
            case .bytes: 4
            case .scaled: 5
            }
        writer.put(number)
        writer.put(width) { $0.put($1) }
        writer.put(height) { $0.put($1) }
        writer.put(byteLimit) { $0.put($1) }
        writer.put(unit == .points)
    }
}

extension FrameSelection: WireValue {
    package init(from reader: inout WireReader) throws(WireViolation) {
        switch try reader.number(UInt8.self) {
        case 0: self = .all
        case 1: self = .first
        case 2: self = .index(try reader.int())
        default: throw WireViolation("the selection of frames is unknown")
        }
    }

    /// Writes the selection that coders receive.
    package func write(to writer: inout WireWriter) {
        switch coderSelection {
        case .all, .range, .indices: writer.put(UInt8(0))
        case .first: writer.put(UInt8(1))
        case .index(let index):
            writer.put(UInt8(2))
            writer.put(index)
        }
    }
}

extension ResamplingFilter: WireValue {
    package init(from reader: inout WireReader) throws(WireViolation) {
        let kernel = Kernel.allCases[try reader.int(0...Kernel.allCases.count - 1)]
        let light = Light.allCases[try reader.int(0...Light.allCases.count - 1)]
        self.init(kernel, light: light)
    }

    package func write(to writer: inout WireWriter) {
        writer.put(Kernel.allCases.firstIndex(of: kernel) ?? 0)
        writer.put(Light.allCases.firstIndex(of: light) ?? 0)
    }
}

extension ImageDecodingOptions: WireValue {
    package init(from reader: inout WireReader) throws(WireViolation) {
        self.init()
        size = try reader.optional { (reader) throws(WireViolation) in try reader.value() }
        scale = try reader.double()
        frames = try reader.value()
        preservesBitDepth = try reader.flag()
        color = try reader.value()
        keepsGamut = try reader.flag()
        dynamicRange = try reader.flag() ? .high : .standard
        resampling = try reader.value()
        allowsPartialData = try reader.flag()
        formatHint = try reader.optional { (reader) throws(WireViolation) in try reader.value() }
        for _ in 0..<(try reader.int(0...1_000)) {
            let name = try reader.text()
            coderOptions[name] = try reader.text()
        }
    }

    package func write(to writer: inout WireWriter) {
        writer.put(size) { $0.put($1) }
        writer.put(scale)
        writer.put(frames)
        writer.put(preservesBitDepth)
        writer.put(color)
        writer.put(keepsGamut)
        writer.put(dynamicRange == .high)
        writer.put(resampling)
        writer.put(allowsPartialData)
        writer.put(formatHint) { $0.put($1) }
        writer.put(coderOptions.count)
        for (name, value) in coderOptions.sorted(by: { $0.key < $1.key }) {
            writer.put(name)
            writer.put(value)
        }
    }
}

extension ImageColorSpace: WireValue {
    package init(from reader: inout WireReader) throws(WireViolation) {
        guard let value = ImageColorSpace(rawValue: try reader.text()) else {
            throw WireViolation("the color space is unknown")
        }
        self = value
    }

    package func write(to writer: inout WireWriter) { writer.put(rawValue) }
}

extension AnimationTimeline: WireValue {
    private static let maxFrames = 10_000_000

    package init(from reader: inout WireReader) throws(WireViolation) {
        let loops = try reader.int(0...Int(UInt32.max))
        let count = try reader.int(1...Self.maxFrames)
        var durations: [Int] = []
        for _ in 0..<count {
            let duration = Int(try reader.number(UInt32.self))
            guard duration >= 1 else { throw WireViolation("a frame lasts \(duration) ms") }
            durations.append(duration)
        }
        self.init(loopCount: loops, durations: durations)
    }

    package func write(to writer: inout WireWriter) {
        writer.put(min(max(0, loopCount), Int(UInt32.max)))
        writer.put(durations.count)
        for duration in durations { writer.put(UInt32(clamping: duration)) }
    }
}

extension ImageMetadata: WireValue {
    /// The maximum size of a color profile and of the other blocks, in bytes.
    private static let maxBlock = 32 << 20

    package init(from reader: inout WireReader) throws(WireViolation) {
        self.init(storedSize: try reader.value(), orientation: try reader.value())
        bitDepth = try reader.int(1...64)
        hasAlpha = try reader.flag()
        isPartial = try reader.flag()
        color = try reader.value()
        colorPrimaries = try reader.optional { (reader) throws(WireViolation) in try reader.int(0...65_535) }
        transferCharacteristics = try reader.optional { (reader) throws(WireViolation) in try reader.int(0...65_535) }
        fileCodePoints = try reader.optional { (reader) throws(WireViolation) in
            ColorCodePoints(primaries: try reader.int(0...65_535), transfer: try reader.int(0...65_535))
        }
        guard let curve = LightCurve(rawValue: UInt8(try reader.int(0...255))) else {
            throw WireViolation("the curve is unknown")
        }
        sourceCurve = curve
        iccProfile = try reader.optional { (reader) throws(WireViolation) in try reader.data(Self.maxBlock) }
        exif = try reader.optional { (reader) throws(WireViolation) in try reader.data(Self.maxBlock) }
        xmp = try reader.optional { (reader) throws(WireViolation) in try reader.data(Self.maxBlock) }
    }

    package func write(to writer: inout WireWriter) {
        writer.put(storedSize)
        writer.put(orientation)
        writer.put(bitDepth)
        writer.put(hasAlpha)
        writer.put(isPartial)
        writer.put(color)
        writer.put(colorPrimaries) { $0.put($1) }
        writer.put(transferCharacteristics) { $0.put($1) }
        writer.put(fileCodePoints) { (writer, points) in
            writer.put(points.primaries)
            writer.put(points.transfer)
        }
        writer.put(Int(sourceCurve.rawValue))
        writer.put(iccProfile) { $0.put($1) }
        writer.put(exif) { $0.put($1) }
        writer.put(xmp) { $0.put($1) }
    }
}

extension ImageEncoding: WireValue {
    package init(from reader: inout WireReader) throws(WireViolation) {
        func number(_ reader: inout WireReader) throws(WireViolation) -> Int { try reader.int() }
        self.init(format: try reader.optional { (reader) throws(WireViolation) in try reader.value() })
        quality = try reader.optional(number)
        isLossless = try reader.flag()
        isProgressive = try reader.flag()
        effort = try reader.optional(number)
        background = PixelColor(
            red: try reader.number(), green: try reader.number(), blue: try reader.number(), alpha: try reader.number())
        loopCount = try reader.optional(number)
        usesDithering = try reader.flag()
        chromaSubsampling = try reader.optional { (reader) throws(WireViolation) in
            guard let value = ChromaSubsampling(rawValue: try reader.text()) else {
                throw WireViolation("the subsampling is unknown")
            }
            return value
        }
        optimizesHuffmanTables = try reader.flag()
        isExact = try reader.flag()
        thumbnailDimension = try reader.optional(number)
        for _ in 0..<(try reader.int(0...100_000)) { iconDimensions.append(try reader.int()) }
        maxByteCount = try reader.optional(number)
        maxDimension = try reader.optional(number)
        guard let policy = MetadataPolicy(rawValue: try reader.text()) else {
            throw WireViolation("the policy for metadata is unknown")
        }
        metadata = policy
        visualScore = try reader.optional(number)
        preservesDynamicRange = try reader.flag()
        preset = try reader.optional { (reader) throws(WireViolation) in
            guard let value = Preset(rawValue: try reader.text()) else { throw WireViolation("the preset is unknown") }
            return value
        }
        color = try reader.value()
    }

    /// Writes the encoding without its selection of frames, which the program applies.
    package func write(to writer: inout WireWriter) {
        writer.put(format) { $0.put($1) }
        writer.put(quality) { $0.put($1) }
        writer.put(isLossless)
        writer.put(isProgressive)
        writer.put(effort) { $0.put($1) }
        for part in [background.red, background.green, background.blue, background.alpha] { writer.put(part) }
        writer.put(loopCount) { $0.put($1) }
        writer.put(usesDithering)
        writer.put(chromaSubsampling) { $0.put($1.rawValue) }
        writer.put(optimizesHuffmanTables)
        writer.put(isExact)
        writer.put(thumbnailDimension) { $0.put($1) }
        writer.put(iconDimensions.count)
        for side in iconDimensions { writer.put(side) }
        writer.put(maxByteCount) { $0.put($1) }
        writer.put(maxDimension) { $0.put($1) }
        writer.put(metadata.rawValue)
        writer.put(visualScore) { $0.put($1) }
        writer.put(preservesDynamicRange)
        writer.put(preset) { $0.put($1.rawValue) }
        writer.put(color)
    }
}

extension GainMapMetadata: WireValue {
    package init(from reader: inout WireReader) throws(WireViolation) {
        func channels(_ reader: inout WireReader) throws(WireViolation) -> SIMD3<Double> {
            SIMD3(try reader.double(), try reader.double(), try reader.double())
        }
        guard let kind = Kind(rawValue: try reader.text()) else {
            throw WireViolation("the kind of the gain map is unknown")
        }
        self.init(kind: kind, gainMax: 0, alternateHeadroom: 0)
        baseHeadroom = try reader.double()
        alternateHeadroom = try reader.double()
        gainMin = try channels(&reader)
        gainMax = try channels(&reader)
        gamma = try channels(&reader)
        baseOffset = try channels(&reader)
        alternateOffset = try channels(&reader)
        usesBaseColorSpace = try reader.flag()
        alternatePrimaries = try reader.optional { (reader) throws(WireViolation) in try reader.int(0...65_535) }
        guard isValid else { throw WireViolation("the numbers of the gain map are invalid") }
    }

    package func write(to writer: inout WireWriter) {
        writer.put(kind.rawValue)
        writer.put(baseHeadroom)
        writer.put(alternateHeadroom)
        for value in [gainMin, gainMax, gamma, baseOffset, alternateOffset] {
            for channel in 0..<3 { writer.put(value[channel]) }
        }
        writer.put(usesBaseColorSpace)
        writer.put(alternatePrimaries) { $0.put($1) }
    }
}
