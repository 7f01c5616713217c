// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The limits and the kind of the work of a request.
struct WorkRules: BinaryFields {
    var limits: ImageLimits
    var scale: Double
    /// The number of threads for the work. The filter of a helper allows threads.
    var threadCount: Int
    var isEncoding: Bool

    /// Creates rules with the time that remains for the operation.
    init(_ context: ImageProcessingContext) {
        limits = context.limits
        scale = context.scale
        threadCount = min(context.threadCount, Self.maxThreads)
        isEncoding = context.isEncoding
        // Several requests can belong to one operation, and they share its timeout.
        let remaining = context.remainingTime
        if isEncoding { limits.maxEncodingTime = remaining } else { limits.maxDecodingTime = remaining }
    }

    /// The maximum number of threads, whose stacks fit into the address space of a helper.
    private static let maxThreads = 16

    static let blank = WorkRules(ImageProcessingContext(limits: .server))

    mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&limits)
        try coder.code(&scale)
        try coder.code(&threadCount, in: 1...Self.maxThreads)
        try coder.code(&isEncoding)
    }

    func context(isCancelled: @escaping @Sendable () -> Bool) -> ImageProcessingContext {
        let context = ImageProcessingContext(
            limits: limits, scale: scale, threadCount: threadCount, isCancelled: isCancelled)
        return isEncoding ? context.forEncoding() : context
    }
}

/// The range of sizes and indices.
private let countRange = 0...Int.max

/// A request to decode a file, of which the input memory contains `dataCount` bytes.
struct DecodeBody: BinaryFields {
    var rules: WorkRules
    var coder: String
    var dataCount: Int
    var info: ImageInfo?
    var options: ImageDecodingOptions
    /// The number under which the helper keeps the animation, or 0.
    var session: UInt64
    /// The frame to return instead of the poster frame.
    var frame: Int?

    static let blank = DecodeBody(rules: .blank, coder: "", dataCount: 0, options: .blank, session: 0)

    mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&rules)
        try coder.code(&self.coder)
        try coder.code(&dataCount, in: countRange)
        try coder.code(&info)
        try coder.code(&options)
        try coder.code(&session)
        try coder.code(&frame, in: countRange)
    }
}

/// A request that concerns a session: a frame of an animation, or a step of a progressive decoder.
struct SessionBody: BinaryFields {
    var rules: WorkRules
    var session: UInt64
    /// The index of the frame, or the size of the appended data.
    var number = 0
    var isLast = false
    /// The number under which the helper keeps the animation of a preview, or 0.
    var previewSession: UInt64 = 0

    static let blank = SessionBody(rules: .blank, session: 0)

    mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&rules)
        try coder.code(&session)
        try coder.code(&number, in: countRange)
        try coder.code(&isLast)
        try coder.code(&previewSession)
    }
}

/// A request to create a progressive decoder.
struct OpenBody: BinaryFields {
    var decode: DecodeBody
    /// Whether previews have all frames that were received until then.
    var grows: Bool

    static let blank = OpenBody(decode: .blank, grows: false)

    mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&decode)
        try coder.code(&grows)
    }
}

/// The layout of pixels in shared memory.
struct PixelBody: BinaryFields {
    var size = PixelSize.blank
    var format = PixelFormat.rgba8
    var bytesPerRow = 0
    var isOpaque = false
    /// The position of the first row.
    var offset = 0

    static let blank = PixelBody()

    mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&size)
        try coder.code(&format)
        try coder.code(&bytesPerRow)
        try coder.code(&isOpaque)
        try coder.code(&offset, in: countRange)
    }

    func check() throws(MalformedData) {
        // Both processes compute the layout in the same way, and the copy relies on it.
        guard let stride = format.bytesPerRow(width: size.width), stride == bytesPerRow else {
            throw MalformedData("the rows have \(bytesPerRow) bytes")
        }
        let (bytes, overflow) = stride.multipliedReportingOverflow(by: size.height)
        guard !overflow, !bytes.addingReportingOverflow(offset).overflow else {
            throw MalformedData("the pixels are too large")
        }
    }

}

extension PixelBody {
    init(_ pixels: PixelBuffer, offset: Int) {
        self.init(
            size: pixels.size, format: pixels.format, bytesPerRow: pixels.bytesPerRow, isOpaque: pixels.isOpaque,
            offset: offset)
    }

    /// The size of the pixels, which was checked for overflow.
    var byteCount: Int { bytesPerRow * size.height }

    /// Returns a copy of the pixels. Throws a violation if the memory doesn't contain them.
    func copy(from memory: UnsafeRawBufferPointer) throws(MalformedData) -> Result<PixelBuffer, ImageError> {
        guard offset % 8 == 0, offset <= memory.count, byteCount <= memory.count - offset,
            let address = memory.baseAddress
        else { throw MalformedData("the pixels are outside the memory") }
        do throws(ImageError) {
            let canvas = try PixelCanvas(size: size, format: format, cleared: false)
            canvas.baseAddress.copyMemory(from: address + offset, byteCount: byteCount)
            return .success(canvas.finish(isOpaque: isOpaque))
        } catch {
            return .failure(error)
        }
    }
}

/// The values of a preview besides its image.
struct PreviewBody: BinaryFields {
    var completedRows = 0
    var completedPasses = 0
    var passCount: Int?
    var fraction = 0.0
    var isComplete = false
    var detail: Double?

    static let blank = PreviewBody()

    mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        let range = 0...Int(Int32.max)
        try coder.code(&completedRows, in: range)
        try coder.code(&completedPasses, in: range)
        try coder.code(&passCount, in: range)
        try coder.code(&fraction)
        try coder.code(&isComplete)
        try coder.code(&detail)
    }

    func check() throws(MalformedData) {
        for value in [fraction, detail ?? 0] where !(0...1).contains(value) {
            throw MalformedData("\(value) isn't a fraction")
        }
    }
}

extension PreviewBody {
    init(_ preview: ImagePreview) {
        completedRows = preview.completedRows
        completedPasses = preview.completedPasses
        passCount = preview.passCount
        fraction = min(max(preview.fractionCompleted, 0), 1)
        isComplete = preview.isComplete
        detail = preview.detail.map { min(max($0, 0), 1) }
    }
}

/// A gain map, whose samples follow the pixels of its image in shared memory.
struct GainMapBody: BinaryFields {
    var pixels: PixelBody
    var metadata: GainMapMetadata

    static let blank = GainMapBody(pixels: .blank, metadata: .blank)

    mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&pixels)
        try coder.code(&metadata)
    }
}

extension GainMapBody {
    init(_ gainMap: GainMap, offset: Int) {
        self.init(pixels: PixelBody(gainMap.pixels, offset: offset), metadata: gainMap.metadata)
    }
}

/// An image: the result of a decode, a frame, a preview, or the input of an encoder.
struct ImageBody: BinaryFields {
    var pixels: PixelBody
    var format: ImageFormat?
    var scale: Double
    var metadata: ImageMetadata
    var timeline: AnimationTimeline?
    /// Whether the animation has all frames of its file.
    var isComplete = true
    var preview: PreviewBody?
    var gainMapBody: GainMapBody?
    /// The gain map that was copied from shared memory, which isn't a part of the message.
    var gainMap: GainMap?

    static let blank = ImageBody(pixels: .blank, scale: 1, metadata: .blank)

    mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&pixels)
        try coder.code(&format)
        try coder.code(&scale)
        try coder.code(&metadata)
        try coder.code(&timeline)
        try coder.code(&isComplete)
        try coder.code(&preview)
        try coder.code(&gainMapBody)
    }

    func check() throws(MalformedData) {
        guard scale.isFinite, scale > 0 else { throw MalformedData("the scale is \(scale)") }
    }
}

extension ImageBody {
    /// The size of the pixels and the gain map of an image in shared memory, in bytes.
    static func byteCount(_ image: DecodedImage) -> Int {
        gainMapOffset(image) + padded(image.gainMap?.pixels.byteCount ?? 0)
    }

    /// The distance from the pixels of an image to its gain map in shared memory, in bytes.
    static func gainMapOffset(_ image: DecodedImage) -> Int { padded(image.pixels.byteCount) }

    private static func padded(_ count: Int) -> Int { (count + 63) / 64 * 64 }

    init(_ image: DecodedImage, offset: Int, preview: PreviewBody? = nil) {
        pixels = PixelBody(image.pixels, offset: offset)
        format = image.format
        scale = image.scale
        metadata = image.metadata
        timeline = image.animation?.timeline
        isComplete = image.animation?.isComplete ?? true
        self.preview = preview
        gainMapBody = image.gainMap.map { GainMapBody($0, offset: offset + Self.gainMapOffset(image)) }
    }

}

/// A request to encode an image, or to convert a file.
struct EncodeBody: BinaryFields {
    var rules: WorkRules
    var coder: String
    var encoding: ImageEncoding
    /// The image in the input memory, or `nil` to convert a file.
    var image: ImageBody?
    /// The format and the size of the file to convert.
    var format: ImageFormat?
    var dataCount = 0

    static let blank = EncodeBody(rules: .blank, coder: "", encoding: .blank)

    mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&rules)
        try coder.code(&self.coder)
        try coder.code(&encoding)
        try coder.code(&image)
        try coder.code(&format)
        try coder.code(&dataCount, in: countRange)
    }
}

/// A number: a size in bytes, or the index of a frame.
package struct NumberBody: BinaryFields {
    /// The number, which is at least zero.
    package var number: Int

    /// Creates a body.
    package init(_ number: Int) { self.number = number }

    package static let blank = NumberBody(0)

    package mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&number, in: countRange)
    }
}

/// A part of the output memory.
struct RangeBody: BinaryFields {
    var offset = 0
    var count = 0

    static let blank = RangeBody()

    mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&offset, in: countRange)
        try coder.code(&count, in: countRange)
    }
}

extension BinaryCodable {
    /// Reads a value that's a whole body.
    package init(body: [UInt8]) throws(MalformedData) {
        self = try body.withUnsafeBufferPointer { (bytes) throws(MalformedData) in
            var reader = BinaryReader(UnsafeRawBufferPointer(bytes))
            let value = try Self(from: &reader)
            try reader.finish()
            return value
        }
    }

    /// The bytes of the value as a body.
    package var body: [UInt8] {
        var writer = BinaryWriter()
        writer.put(self)
        return writer.bytes
    }
}
